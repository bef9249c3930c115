/** Only go-yaml itself should say what a text means: the engine decides. Says why, for the log. */
export class Undecided extends Error {
  override readonly name = "Undecided";
}

/** A text that no builder should touch: past a limit, or not to be kept exactly. `line` counts from one. */
export class Unacceptable extends Error {
  override readonly name = "Unacceptable";
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
