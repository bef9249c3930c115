import { type Glob, globOf } from "../archive/ignore-rules.ts";

/** The limit for a `.helmignore` file. */
export const maxHelmIgnoreBytes = 64 * 1024;
/** Each rule is matched with every path. */
export const maxHelmIgnoreRules = 200;

interface Rule {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  /** One for each part of a path; one for the last part alone if the rule has no slash. */
  readonly parts: readonly Glob[];
  readonly isWhole: boolean;
}

/** Whether a path in a chart is left out. */
export type HelmIgnore = (path: string, isFolder: boolean) => boolean;

/**
 * The rules of a `.helmignore` file and Helm's own, which leaves out files of `templates/` whose name begins with a dot. The first rule
 * that matches decides; a rule with `!` leaves out all that it does not match. Throws a `RangeError` with Helm's text.
 */
export function helmIgnore(file: Uint8Array | undefined): HelmIgnore {
  if (file !== undefined && file.length > maxHelmIgnoreBytes) {
    throw new RangeError(`.helmignore has more than ${maxHelmIgnoreBytes} bytes`);
  }
  const text = new TextDecoder().decode(file ?? new Uint8Array());
  const lines = [...text.split("\n"), "templates/.?*"].map((line) => line.trim());
  const rules = lines.filter((line) => line !== "" && !line.startsWith("#")).map(ruleOf);
  if (rules.length > maxHelmIgnoreRules) throw new RangeError(`.helmignore has more than ${maxHelmIgnoreRules} rules`);
  return (path, isFolder) => {
    const names = path.split("/");
    for (const rule of rules) {
      const isOne = !(rule.isForFolders && !isFolder) && matches(rule, names);
      if (rule.isNegated !== isOne) return true;
    }
    return false;
  };
}

function ruleOf(line: string): Rule {
  if (line.includes("**")) throw new RangeError("double-star (**) syntax is not supported");
  const isNegated = line.startsWith("!");
  const rule = isNegated ? line.slice(1) : line;
  const isForFolders = rule.endsWith("/");
  const pattern = isForFolders ? rule.slice(0, -1) : rule;
  const isRooted = pattern.startsWith("/");
  const parts = (isRooted ? pattern.slice(1) : pattern).split("/").map(globOf);
  if (parts.some(({ isValid }) => !isValid)) throw new RangeError("syntax error in pattern");
  return { isNegated, isForFolders, parts, isWhole: isRooted || parts.length > 1 };
}

function matches({ isWhole, parts }: Rule, names: readonly string[]): boolean {
  const [first] = parts;
  if (!isWhole) return first?.matches(names.at(-1) ?? "") ?? false;
  return parts.length === names.length && parts.every((part, index) => part.matches(names[index] ?? ""));
}
