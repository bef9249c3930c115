/** One line of an ignore file, in the dialect of Flux (a subset of gitignore's). */
export interface IgnorePattern {
  /** The effect of a match: `!` at the start of a line includes a path again. */
  readonly verdict: "exclude" | "include";
  /** The folder that the pattern applies to, as a list of names. */
  readonly scope: readonly string[];
  readonly directoriesOnly: boolean;
  readonly characters: number;
  /** The pattern split at its slashes. A single name is matched against every name of a path. */
  readonly names: readonly Glob[];
}

/** A pattern for one name. */
export interface Glob {
  readonly text: string;
  /** Whether Go can read it. A rule that it cannot read matches nothing. */
  readonly isValid: boolean;
  readonly matches: (name: string) => boolean;
}

/** Reads an ignore file, without its comments and blank lines. */
export function parseIgnoreFile(text: string, scope: readonly string[] = []): IgnorePattern[] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => !line.startsWith("#") && line.trim() !== "")
    .map((line) => parsePattern(line, scope));
}

function parsePattern(line: string, scope: readonly string[]): IgnorePattern {
  const included = line.startsWith("!");
  let pattern = included ? line.slice(1) : line;
  if (!pattern.endsWith("\\ ")) pattern = pattern.replace(/ +$/, "");
  const directoriesOnly = pattern.endsWith("/");
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  const names = pattern.split("/").map(globOf);
  return { verdict: included ? "include" : "exclude", scope, directoriesOnly, characters: pattern.length, names };
}

/** Whether the pattern matches this path, given as names from the root down. The result does not depend on other paths. */
function matches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean): boolean {
  const { scope, names } = pattern;
  if (path.length <= scope.length || scope.some((name, index) => path[index] !== name)) return false;
  const rest = path.slice(scope.length);
  return names.length === 1 ? matchesName(pattern, rest, isDirectory) : matchesPath(pattern, rest, isDirectory);
}

function matchesName(
  { names, directoriesOnly }: IgnorePattern,
  path: readonly string[],
  isDirectory: boolean,
): boolean {
  const index = path.findIndex((name) => names[0]?.matches(name));
  if (index === -1) return false;
  return !directoriesOnly || isDirectory || index < path.length - 1;
}

/** Anchored: the names must match one after the other from the scope down; everything below the last one matches too. */
function matchesPath(
  { names, directoriesOnly }: IgnorePattern,
  path: readonly string[],
  isDirectory: boolean,
): boolean {
  let at = 0;
  let matched = false;
  let skips = false;
  for (const [index, { text: glob, matches: matchesGlob }] of names.entries()) {
    if (glob === "") {
      skips = false;
      continue;
    }
    if (glob === "**") {
      if (index === names.length - 1) break;
      skips = true;
      continue;
    }
    if (glob.includes("**") || at >= path.length) return false;
    if (skips) {
      skips = false;
      const found = path.findIndex((name, position) => position >= at && matchesGlob(name));
      matched = found !== -1;
      at = matched ? found + 1 : path.length;
    } else {
      if (!matchesGlob(path[at] ?? "")) return false;
      at++;
      matched = true;
    }
  }
  return matched && !(directoriesOnly && !isDirectory && at === path.length);
}

/** Go's `path.Match` for one name: `*`, `?`, `[a-z]`, `[^a]` and `\`. A malformed pattern matches nothing. Linear in time, except for `*`. */
export function globOf(text: string): Glob {
  const tokens = parseGlob(text);
  return { text, isValid: tokens !== undefined, matches: (name) => tokens !== undefined && matchTokens(tokens, name) };
}

function matchTokens(tokens: readonly GlobToken[], name: string): boolean {
  const letters = Array.from(name);
  let token = 0;
  let letter = 0;
  let star = -1;
  let starLetter = 0;
  while (letter < letters.length) {
    const wanted = tokens[token];
    if (wanted === "*") {
      star = token++;
      starLetter = letter;
    } else if (wanted?.(letters[letter] ?? "")) {
      token++;
      letter++;
    } else if (star >= 0) {
      // Let the last star match one letter more; earlier stars never need to change.
      token = star + 1;
      letter = ++starLetter;
    } else {
      return false;
    }
  }
  return tokens.slice(token).every((left) => left === "*");
}

type GlobToken = "*" | ((letter: string) => boolean);

function parseGlob(glob: string): GlobToken[] | undefined {
  const tokens: GlobToken[] = [];
  const letters = Array.from(glob);
  for (let index = 0; index < letters.length; index++) {
    const letter = letters[index] ?? "";
    if (letter === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (letter === "?") {
      tokens.push(() => true);
    } else if (letter === "[") {
      const set = parseClass(letters, index + 1);
      if (set === undefined) return undefined;
      tokens.push(set.matches);
      index = set.end;
    } else {
      const plain = letter === "\\" ? letters[++index] : letter;
      if (plain === undefined) return undefined;
      tokens.push((other) => other === plain);
    }
  }
  return tokens;
}

function parseClass(
  letters: readonly string[],
  start: number,
): { readonly matches: (letter: string) => boolean; readonly end: number } | undefined {
  const negated = letters[start] === "^";
  const ranges: { readonly from: string; readonly to: string }[] = [];
  let index = negated ? start + 1 : start;
  const next = (): string | undefined => {
    const letter = letters[index++];
    if (letter === "-" || letter === "]") return undefined;
    return letter === "\\" ? letters[index++] : letter;
  };
  while (letters[index] !== "]" || ranges.length === 0) {
    const from = next();
    if (from === undefined) return undefined;
    let to: string | undefined = from;
    if (letters[index] === "-") {
      index++;
      to = next();
    }
    if (to === undefined) return undefined;
    ranges.push({ from, to });
  }
  return { matches: (letter) => ranges.some(({ from, to }) => from <= letter && letter <= to) !== negated, end: index };
}

/** Files of the version control, which are never part of an artifact. */
export const vcsPatterns = parseIgnoreFile(".git/\n.gitignore\n.gitmodules\n.gitattributes");

/** Pictures, videos and archives, which are not manifests. */
export const mediaPatterns = parseIgnoreFile("*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip");

const toolPatterns = parseIgnoreFile(
  [
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
    "**/.goreleaser.yml",
    "**/.sops.yaml",
    "**/.flux.yaml",
  ].join("\n"),
);

/** Whether a path is left out: the last pattern that matches it decides. */
export type Ignore = (path: string, isDirectory: boolean) => boolean;

export function ignoreBy(patterns: readonly IgnorePattern[]): Ignore {
  const ignore = ignoreInSteps(patterns);
  return (path, isDirectory) => {
    const steps = ignore(path, isDirectory);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  };
}

/** The limit for a pattern with a path: the product of their characters. They take some 10 ms. */
const charactersOfStep = 1_000_000;

/** {@link Ignore}, which yields now and then where the path is long. */
export function ignoreInSteps(
  patterns: readonly IgnorePattern[],
): (path: string, isDirectory: boolean) => Generator<undefined, boolean, undefined> {
  const lastFirst = patterns.toReversed();
  return function* (path, isDirectory) {
    const names = path.split("/");
    let characters = 0;
    for (const pattern of lastFirst) {
      if (matches(pattern, names, isDirectory)) return pattern.verdict === "exclude";
      characters += pattern.characters * path.length;
      if (characters < charactersOfStep) continue;
      characters = 0;
      yield;
    }
    return false;
  };
}

/**
 * The patterns of a source: those of the version control, then the `.sourceignore` files (root first, each for its own folder),
 * then `spec.ignore`. The defaults apply only if neither the files nor the field have a pattern.
 */
export function sourcePatterns(
  ignoreFiles: readonly { readonly path: string; readonly text: string }[],
  specIgnore: string | undefined,
): IgnorePattern[] {
  const users = [
    ...ignoreFiles.flatMap(({ path, text }) => parseIgnoreFile(text, path.split("/").slice(0, -1))),
    ...parseIgnoreFile(specIgnore ?? ""),
  ];
  const defaults = users.length === 0 ? [...mediaPatterns, ...toolPatterns] : [];
  return [...vcsPatterns, ...defaults, ...users];
}
