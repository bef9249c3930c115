import { Outage } from "./outage.ts";
import { PortError } from "./port-error.ts";

/**
 * Whether this installation may write to its cluster at all, for any object. It is asked before a run starts and again before each
 * write is sent. Its last look is at most 5 s old.
 */
export interface WriteGate {
  /** Looks if the last look is too old. Throws {@link GateClosed}, an {@link Outage} if the look fails, or the signal's reason. */
  enter(signal: AbortSignal): Promise<void>;
  /** Does not look. Called at the moment when a request is sent; throws {@link GateClosed} or {@link LookTooOld}. */
  assertOpen(): void;
}

/** `owner`: the cluster is not known to be this installation's; `paused`: a user paused it. */
export type ClosedReason = "owner" | "paused";

/** This installation may not write to the cluster; the message says why and how to fix it. No object is to blame. */
export class GateClosed extends PortError<ClosedReason> {
  override readonly name = "GateClosed";

  constructor(message: string, reason: ClosedReason = "owner") {
    super(reason, message);
  }
}

/** The last check of the gate is too old, since the request had to wait before it was sent. */
export class LookTooOld extends Outage {
  override readonly name = "LookTooOld";
  constructor() {
    super("ReconciliationFailed", "whether this cluster may be written to was looked at too long ago");
  }
}

/** Why a gate is known to be closed. Undefined if it is open, and if the look fails: each write then asks again. */
export async function closedReason(
  gate: Pick<WriteGate, "enter">,
  signal: AbortSignal,
): Promise<ClosedReason | undefined> {
  try {
    await gate.enter(signal);
    return undefined;
  } catch (error) {
    if (error instanceof GateClosed) return error.reason;
    if (error instanceof Outage) return undefined;
    throw error;
  }
}
