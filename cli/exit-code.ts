/** Ends the command with an exit code of its own. With a cause, that is the failure; without one everything is said. */
export class EndsWith extends Error {
  override readonly name = "EndsWith";
  readonly code: number;

  constructor(code: number, cause?: unknown) {
    super(`exit code ${code}`, { cause });
    this.code = code;
  }
}
