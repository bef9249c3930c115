import type { NotificationTargets } from "../../core/ports/notification-targets.ts";
import type { MakeProvider } from "../provider.ts";
import { eventbridge } from "./eventbridge.ts";
import { sns } from "./sns.ts";
import { sqs } from "./sqs.ts";

/** The types that Flux does not have: services of AWS that are told with our own identity. */
export function awsProviders(targets: NotificationTargets): Readonly<Record<AwsProviderType, MakeProvider>> {
  return { eventbridge: eventbridge(targets), sns: sns(targets), sqs: sqs(targets) };
}

export type AwsProviderType = "eventbridge" | "sns" | "sqs";
