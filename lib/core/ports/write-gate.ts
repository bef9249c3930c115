import { Outage } from "../outage.ts";

/**
 * Whether this installation may write to its cluster at all, whatever the object: asked before a run begins and again
 * before each write is sent. What it goes by was looked at 5 s ago at most.
 */
export interface WriteGate {
  /** Looks, if the last look is too old. Throws {@link GateClosed}, an {@link Outage} where the look fails, or the signal's reason. */
  enter(signal: AbortSignal): Promise<void>;
  /** Looks at nothing: throws {@link GateClosed}, or {@link LookTooOld}, in the same moment in which a request is sent. */
  assertOpen(): void;
}

/** This installation may not write to the cluster; the message says why, and how to mend it. No fault of any object. */
export class GateClosed extends Error {
  override readonly name = "GateClosed";
}

/** The wait before a request took so long that the last look at the gate no longer counts. */
export class LookTooOld extends Outage {
  override readonly name = "LookTooOld";
  constructor() {
    super("ReconciliationFailed", "whether this cluster may be written to was looked at too long ago");
  }
}

/** Whether a gate is known to be closed. False where the look fails: then each write asks again. */
export async function isClosed(gate: Pick<WriteGate, "enter">, signal: AbortSignal): Promise<boolean> {
  try {
    await gate.enter(signal);
    return false;
  } catch (error) {
    if (error instanceof GateClosed) return true;
    if (error instanceof Outage) return false;
    throw error;
  }
}
