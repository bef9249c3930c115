import type { PartName } from "./part.ts";

/** A part that cannot be installed or started: names the part, the reason and the remedy. Any other error is a bug. */
export class PartFailure extends Error {
  override readonly name = "PartFailure";

  constructor(part: PartName, reason: string, options?: ErrorOptions) {
    super(`${part}: ${reason}`, options);
  }
}
