import { posix } from "node:path";
import type { Budget } from "./generator-limits.ts";
import { compileGlob, isGlob, maxGlobChars } from "./glob.ts";

/** Whether an operation leaves a path of its source out; `base` is the folder that the operation takes its files from. */
export type IsExcluded = (path: string, base: string) => Promise<boolean>;

/**
 * The excludes of an operation. Each is matched with the path in the source, with the path below `base` and, if it has no slash, with
 * the name alone. Throws an `Error` for an invalid one, in Flux's words.
 */
export function excludesOf(patterns: readonly string[], budget: Budget): IsExcluded {
  const globs = patterns.map((pattern) => {
    if (pattern.length > maxGlobChars) {
      throw new RangeError(`exclude pattern '${pattern.slice(0, 100)}...' has more than ${maxGlobChars} characters`);
    }
    const glob = compileGlob(pattern, "recursive");
    if (glob === undefined) throw new Error(`invalid exclude pattern '${pattern}'`);
    return { glob, isOfName: !pattern.includes("/") };
  });
  return async (path, base) => {
    if (globs.length === 0) return false;
    const below = base === "." || !path.startsWith(`${base}/`) ? path : path.slice(base.length + 1);
    for (const { glob, isOfName } of globs) {
      for (const text of new Set([path, below, ...(isOfName ? [posix.basename(path)] : [])])) {
        const { isMatch, steps } = glob.match(text);
        await budget.spend(steps);
        if (isMatch) return true;
      }
    }
    return false;
  };
}

/** The folder before the first part of a glob that is one. */
export function literalFolder(pattern: string): string {
  const parts = posix.normalize(pattern).split("/");
  const first = parts.findIndex(isGlob);
  const literal = first === -1 ? parts : parts.slice(0, first);
  return literal.length === 0 ? "." : literal.join("/");
}
