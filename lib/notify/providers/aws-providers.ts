import type { NotificationTargets } from "../../core/ports/notification-targets.ts";
import type { ProviderType } from "../admits.ts";
import { eventbridge } from "./eventbridge.ts";
import { sns } from "./sns.ts";
import { sqs } from "./sqs.ts";

/** The types that Flux does not have: services of AWS that are told with our own identity. */
export function awsProviders(targets: NotificationTargets): Readonly<Record<AwsProviderType, ProviderType>> {
  return {
    eventbridge: { make: eventbridge(targets), class: "other" },
    sns: { make: sns(targets), class: "other" },
    sqs: { make: sqs(targets), class: "other" },
  };
}

export type AwsProviderType = "eventbridge" | "sns" | "sqs";
