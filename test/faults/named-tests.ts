import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** A shorter part of a title beside a placeholder would be found by accident. */
const shortestPart = 8;

const texts = new Map<string, string>();

/**
 * Whether a test of this file, or of a file with stories that it imports, can have these words in its name. In a title with a
 * placeholder (`%s`, `$name`, `${name}`), the words may end or begin in the value: one part stands right beside the placeholder.
 *
 * @param root the folder of the project, to which `path` is relative
 */
export function mayHaveTestNamed(words: string, path: string, root: string): boolean {
  return [...withImports(path, root)].some((text) => isTitlePart(words, text));
}

/** @internal */
export function isTitlePart(words: string, text: string): boolean {
  if (text.includes(words)) return true;
  const before = /(?:%[a-z]|\$\w+|\$\{[^}]*\})$/;
  const after = /^(?:%[a-z]|\$\w|\$\{)/;
  const besides = (part: string, isBeside: (at: number) => boolean): boolean => {
    for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) if (isBeside(at)) return true;
    return false;
  };
  for (let cut = 1; cut < words.length; cut += 1) {
    const [left, right] = [words.slice(0, cut), words.slice(cut)];
    if (left.length >= shortestPart && besides(left, (at) => after.test(text.slice(at + cut, at + cut + 2))))
      return true;
    if (right.length >= shortestPart && besides(right, (at) => before.test(text.slice(Math.max(0, at - 40), at)))) {
      return true;
    }
  }
  return false;
}

/** The texts of a file and of what it imports below `test/`, directly or not. */
function withImports(path: string, root: string, seen = new Map<string, string>()): Iterable<string> {
  if (seen.has(path)) return seen.values();
  const text = texts.get(path) ?? readFileSync(join(root, path), "utf8");
  texts.set(path, text);
  seen.set(path, text);
  for (const [, imported = ""] of text.matchAll(/from "(\.[^"]+\.ts)"/g)) {
    const next = normalize(join(dirname(path), imported));
    if (/(^|\/)test\//.test(next)) withImports(next, root, seen);
  }
  return seen.values();
}
