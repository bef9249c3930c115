import type { Reason, Retry } from "../../core/failure.ts";
import type { EventToRecord } from "../record-event.ts";

/** The run ended before it could work on the revision: something that it needs is not there or not allowed. */
export interface Blocked {
  readonly kind: "blocked";
  readonly reason: Reason;
  readonly message: string;
  readonly retry: Retry;
  /** What to tell the users, where Flux tells them. */
  readonly event?: Pick<EventToRecord, "type" | "message">;
  /** Which revision the event is about, where that is known. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Only a change of the object helps: Stalled as well. */
  readonly stalled?: boolean;
}
