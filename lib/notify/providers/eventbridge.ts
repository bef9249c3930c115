import type { NotificationTargets } from "../../core/ports/notification-targets.ts";
import type { MakeProvider } from "../provider.ts";

const busArn = /^arn:aws[\w-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus\/[\w./-]{1,256}$/;

/** A bus of EventBridge, `address` its ARN. An event has the source `sluice`, its reason as `detail-type`, and as `detail` what `generic` posts. */
export function eventbridge(targets: Pick<NotificationTargets, "putEvent">): MakeProvider {
  return ({ address, namespace }) => {
    if (!busArn.test(address)) {
      throw new Error("address must be the ARN of an event bus, arn:aws:events:<region>:<account>:event-bus/<name>");
    }
    return {
      post: (event, signal) =>
        targets.putEvent(
          {
            namespace,
            busArn: address,
            // EventBridge takes no event without one.
            detailType: event.reason === "" ? "Event" : event.reason,
            detail: JSON.stringify(event),
            time: event.timestamp,
          },
          signal,
        ),
    };
  };
}
