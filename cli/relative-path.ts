import { posix } from "node:path";

/** A folder in a source as flux takes it: `./clusters/prod`. What would lead out of the source ends at its root. */
export function relativePath(text: string): string {
  const [, ...parts] = posix.normalize(`/${text.trim()}`).split("/");
  return `./${parts.filter((part) => part !== "").join("/")}`;
}
