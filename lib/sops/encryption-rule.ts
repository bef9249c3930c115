import { RE2JS } from "re2js";
import { SopsFault } from "./sops-fault.ts";

/** Which values of a file are encrypted. A file names at most one rule. Without one, only keys that end in `_unencrypted` are left out. */
export type EncryptionRule = { readonly kind: RuleKind; readonly text: string };

export const ruleKinds = [
  "unencrypted_suffix",
  "encrypted_suffix",
  "unencrypted_regex",
  "encrypted_regex",
  "unencrypted_comment_regex",
  "encrypted_comment_regex",
] as const;
export type RuleKind = (typeof ruleKinds)[number];

export const defaultRule: EncryptionRule = { kind: "unencrypted_suffix", text: "_unencrypted" };

/** Whether the rule looks at comments, which are lost once the file has become objects. */
export function isCommentRule({ kind }: EncryptionRule): boolean {
  return kind === "unencrypted_comment_regex" || kind === "encrypted_comment_regex";
}

/** For one value or comment: whether it is encrypted. Made once for a file, since it remembers what it has matched. */
export type IsEncrypted = (
  path: readonly string[],
  comments: readonly (readonly string[])[],
  isComment: boolean,
) => boolean;

/** `shouldBeEncrypted` of sops. */
export function encryptionTest({ kind, text }: EncryptionRule): IsEncrypted {
  switch (kind) {
    case "unencrypted_suffix":
      return (path) => !path.some((key) => key.endsWith(text));
    case "encrypted_suffix":
      return (path) => path.some((key) => key.endsWith(text));
    case "unencrypted_regex": {
      const matches = matching(text);
      return (path) => !path.some(matches);
    }
    case "encrypted_regex": {
      const matches = matching(text);
      return (path) => path.some(matches);
    }
    case "unencrypted_comment_regex": {
      const matched = firstMatch(matching(text));
      return (_, comments) => !comments.some((lines) => matched(lines) < lines.length);
    }
    case "encrypted_comment_regex": {
      const matched = firstMatch(matching(text));
      return (_, comments, isComment) =>
        comments.some((lines, level) => {
          // The comment that says "encrypt" is not encrypted itself.
          const others = isComment && level === comments.length - 1 ? lines.length - 1 : lines.length;
          return matched(lines) < others;
        });
    }
  }
}

/** The index of the first line that matches, or how many lines there are. If lines were added, only the new ones are checked. */
function firstMatch(matches: (line: string) => boolean): (lines: readonly string[]) => number {
  const seen = new WeakMap<readonly string[], number>();
  return (lines) => {
    const from = seen.get(lines) ?? 0;
    const length = lines.length;
    let at = from;
    while (at < length && !matches(lines[at] ?? "")) at++;
    seen.set(lines, at);
    return at;
  };
}

/**
 * Characters of different keys and comments that one expression is tried on. RE2 is linear in them, yet with an expression that
 * is made for it a character takes 40 µs.
 */
export const maxMatchedChars = 256 * 1024;
/** The instructions of an expression times the characters that it is matched with, 10 ns each. */
export const maxMatchSteps = 8_000_000;

/** What nearly every file has, such as `^(data|stringData)$`: whole names. */
const names = /^\^(?:([A-Za-z0-9_-]+)|\(([A-Za-z0-9_-]+(?:\|[A-Za-z0-9_-]+)*)\))\$$/;

/**
 * RE2 as in sops: unanchored, linear in time. As there, an expression that does not compile matches nothing. Whole names are compared,
 * which takes a hundredth of the time.
 */
function matching(pattern: string): (text: string) => boolean {
  const [, one, several = one] = names.exec(pattern) ?? [];
  if (several !== undefined) {
    const wanted = new Set(several.split("|"));
    return (text) => wanted.has(text);
  }
  const expression = compile(pattern);
  if (expression === undefined) return () => false;
  const known = new Map<string, boolean>();
  const instructions = expression.programSize();
  let chars = 0;
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    chars += text.length;
    if (chars > maxMatchedChars) {
      throw new SopsFault(
        `its expression would have to be matched with more than ${maxMatchedChars} characters of keys`,
      );
    }
    if (chars * instructions > maxMatchSteps) {
      throw new SopsFault(`its expression would take more than ${maxMatchSteps} steps`);
    }
    const matched = expression.matcher(text).find();
    known.set(text, matched);
    return matched;
  };
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}
