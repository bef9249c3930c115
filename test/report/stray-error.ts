import type { SerializedError } from "vitest/node";

/** An error that belongs to no test, on one line: its message and the first lines of its stack. */
export function strayError({ stack, message }: SerializedError): string {
  return (stack ?? message).split("\n").slice(0, 4).join(" ");
}
