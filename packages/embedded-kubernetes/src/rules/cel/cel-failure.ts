/** A rule that does not parse, or that fails while it runs: its text goes into the answer. */
export class CelFailure extends Error {
  override readonly name = "CelFailure";
}
