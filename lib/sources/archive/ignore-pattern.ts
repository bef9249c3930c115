/** One line of an ignore file, in the dialect of Flux (a subset of gitignore's). */
export interface IgnorePattern {
  /** What a match means: `!` at the line's start takes a path in again. */
  readonly verdict: "exclude" | "include";
  /** The folder, as names, under which the pattern holds. */
  readonly scope: readonly string[];
  readonly directoriesOnly: boolean;
  /** The pattern cut at its slashes. One name only: it is held against every name of a path. */
  readonly names: readonly Glob[];
}

interface Glob {
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

/** Reads an ignore file. Comments and blank lines are no patterns. */
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
  return { verdict: included ? "include" : "exclude", scope, directoriesOnly, names: pattern.split("/").map(globOf) };
}

/** Whether the pattern speaks of this path (its names from the root down). Every path is looked at on its own. */
export function matches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean): boolean {
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

/** Anchored: the names must match one after the other from the scope down, and what lies below the last is matched too. */
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

/** Go's `path.Match` for one name: `*`, `?`, `[a-z]`, `[^a]` and `\`. A malformed pattern matches nothing. Linear but for `*`. */
function globOf(text: string): Glob {
  const tokens = parseGlob(text);
  return { text, matches: (name) => tokens !== undefined && matchTokens(tokens, name) };
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
      // Let the last star take one letter more; earlier stars never need to give back.
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
