import type { NotificationTargets } from "../../core/ports/notification-targets.ts";
import type { MakeProvider } from "../provider.ts";
import { targetMessage } from "./target-message.ts";

const queueUrl = /^https:\/\/sqs\.[a-z0-9-]+\.[a-z.]+\/[0-9]{12}\/[\w-]{1,80}(\.fifo)?$/;

/** A queue of SQS, `address` its URL. The message is the event as `generic` posts it, its attributes are those of a topic. */
export function sqs(targets: Pick<NotificationTargets, "send">): MakeProvider {
  return (settings) => {
    const { address } = settings;
    if (!queueUrl.test(address)) {
      throw new Error("address must be the URL of a queue, https://sqs.<region>.amazonaws.com/<account>/<name>");
    }
    return {
      post: (event, signal) => targets.send({ ...targetMessage(event, settings), queueUrl: address }, signal),
    };
  };
}
