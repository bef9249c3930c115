import { inspect } from "node:util";

/** A value that is never printed: templates, `JSON.stringify`, `console.log` and stack traces show `[secret]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Answers the value. Call it where the value is used, not where it is passed on. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): string {
    return "[secret]";
  }

  toString(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}
