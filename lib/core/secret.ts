import { inspect } from "node:util";

/** A value that cannot be printed: not by a template, `JSON.stringify`, `console.log` or a stack trace. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Hands out the value. Call it where the value is used, never where it is passed on. */
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
