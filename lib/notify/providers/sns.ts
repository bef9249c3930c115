import type { NotificationTargets } from "../../core/ports/notification-targets.ts";
import type { NotificationEvent } from "../notification-event.ts";
import type { MakeProvider } from "../provider.ts";
import { targetMessage } from "./target-message.ts";

const topicArn = /^arn:aws[\w-]*:sns:[a-z0-9-]+:[0-9]{12}:[\w-]{1,256}(\.fifo)?$/;

/** A topic of SNS, `address` its ARN. The message is the event as `generic` posts it; its attributes are for filters of subscriptions. */
export function sns(targets: Pick<NotificationTargets, "publish">): MakeProvider {
  return (settings) => {
    const { address } = settings;
    if (!topicArn.test(address))
      throw new Error("address must be the ARN of a topic, arn:aws:sns:<region>:<account>:<name>");
    return {
      post: (event, signal) =>
        targets.publish({ ...targetMessage(event, settings), topicArn: address, subject: subjectOf(event) }, signal),
    };
  };
}

const maxSubjectChars = 100;

/** `[error] Kustomization/apps/web ReconciliationFailed`, as SNS takes it: ASCII in one line. */
function subjectOf({ involvedObject: { kind, namespace, name }, reason, severity }: NotificationEvent): string {
  return `[${severity}] ${kind}/${namespace}/${name} ${reason}`
    .replaceAll(/[^ -~]/g, "?")
    .slice(0, maxSubjectChars)
    .trim();
}
