/**
 * Which globs are meant. `file`: Go's `path.Match`, whose `*` and `?` stay within a name. `recursive`: doublestar, where `**` as a
 * whole part of a path is any number of folders, and `{a,b}` is a choice.
 */
export type GlobDialect = "file" | "recursive";

/** Of one glob. The definition allows as many in `from`, and any number in an exclude. */
export const maxGlobChars = 1_024;

/** Braces in braces. */
const maxNestedChoices = 50;

/** A glob that is ready to be matched with whole paths. */
export interface Glob {
  /** Whether the path matches, and how many steps that took, for the budget of a run. */
  match(path: string): { readonly isMatch: boolean; readonly steps: number };
}

/** A character, by its code, or those of a class. */
type Reads = number | ((code: number) => boolean);

/** One state of the automaton: it reads a character, or moves on without one. */
type State = { readonly type: "read"; readonly reads: Reads } | Jump;

interface Jump {
  readonly type: "jump";
  /** Its place. */
  readonly at: number;
  to: readonly number[];
}

/**
 * Compiles a glob into an automaton that needs time in proportion to the lengths of glob and path, whatever they hold. Undefined
 * for an invalid glob.
 */
export function compileGlob(pattern: string, dialect: GlobDialect): Glob | undefined {
  try {
    const states = new GlobParser(Array.from(pattern), dialect).states();
    return { match: (path) => run(states, path) };
  } catch (error) {
    if (error instanceof BadPattern) return undefined;
    throw error;
  }
}

class BadPattern extends Error {}

/** The states of an automaton that are active, each once. */
class ActiveStates {
  readonly #list: Uint32Array;
  /** In which step a state was added last. */
  readonly #added: Uint32Array;
  readonly #waiting: number[] = [];
  #step = 0;
  length = 0;

  constructor(states: number) {
    this.#list = new Uint32Array(states + 1);
    this.#added = new Uint32Array(states + 1);
  }

  at(index: number): number {
    return this.#list[index] ?? 0;
  }

  has(state: number): boolean {
    return this.#added[state] === this.#step;
  }

  clear(): void {
    this.#step++;
    this.length = 0;
  }

  /** Adds a state, and those that follow it without a character. */
  add(first: number, states: readonly State[]): void {
    this.#waiting.push(first);
    for (let at = this.#waiting.pop(); at !== undefined; at = this.#waiting.pop()) {
      if (this.has(at)) continue;
      this.#added[at] = this.#step;
      this.#list[this.length++] = at;
      const state = states[at];
      if (state?.type === "jump") for (const to of state.to) this.#waiting.push(to);
    }
  }
}

function run(states: readonly State[], path: string) {
  let steps = path.length;
  let active = new ActiveStates(states.length);
  let next = new ActiveStates(states.length);
  active.clear();
  active.add(0, states);
  for (let at = 0; at < path.length; at++) {
    const code = path.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    next.clear();
    steps += active.length;
    for (let index = 0; index < active.length; index++) {
      const number = active.at(index);
      const state = states[number];
      if (state?.type !== "read") continue;
      const { reads } = state;
      if (typeof reads === "number" ? reads === code : reads(code)) next.add(number + 1, states);
    }
    [active, next] = [next, active];
    if (active.length === 0) break;
  }
  return { isMatch: active.has(states.length), steps };
}

const slash = 0x2f;
const inName = (code: number): boolean => code !== slash;

/** Reads a glob and writes its states, in order: what follows a state is the next one, unless it jumps. */
class GlobParser {
  readonly #characters: readonly string[];
  readonly #isRecursive: boolean;
  readonly #states: State[] = [];
  #at = 0;

  constructor(characters: readonly string[], dialect: GlobDialect) {
    this.#characters = characters;
    this.#isRecursive = dialect === "recursive";
  }

  states(): readonly State[] {
    this.#sequence(true, 0);
    if (this.#at < this.#characters.length) throw new BadPattern();
    return this.#states;
  }

  /** @param atStart whether a part of the path begins here @param depth of braces around it */
  #sequence(atStart: boolean, depth: number): void {
    let isStart = atStart;
    while (this.#at < this.#characters.length) {
      const character = this.#characters[this.#at] ?? "";
      if (this.#isRecursive && depth > 0 && (character === "," || character === "}")) return;
      if (this.#isRecursive && character === "}") throw new BadPattern();
      this.#at++;
      const wasStart = isStart;
      isStart = false;
      if (character === "*") isStart = this.#star(wasStart);
      else if (character === "?") this.#read(inName);
      else if (character === "[") this.#class();
      else if (character === "{" && this.#isRecursive) this.#choice(wasStart, depth);
      else if (character === "/" && this.#isRecursive && this.#endsInAnything()) {
        // `a/**` is also `a` itself.
        this.#at += 2;
        const skip = this.#jump();
        this.#read(slash);
        this.#loop(() => true);
        skip.to = [...skip.to, this.#states.length];
        return;
      } else {
        this.#literal(character === "\\" ? this.#escaped() : character);
        isStart = character === "/";
      }
    }
    if (depth > 0) throw new BadPattern();
  }

  /** Whether what is left is `**`. */
  #endsInAnything(): boolean {
    return this.#at + 2 === this.#characters.length && this.#peek() === "*" && this.#peek(1) === "*";
  }

  #peek(ahead = 0): string | undefined {
    return this.#characters[this.#at + ahead];
  }

  /** Answers whether a part of the path begins behind it. */
  #star(isStart: boolean): boolean {
    let stars = 1;
    for (; this.#peek() === "*"; this.#at++) stars++;
    if (this.#isRecursive && isStart && stars === 2) {
      if (this.#peek() === undefined) {
        this.#loop(() => true);
        return false;
      }
      if (this.#peek() === "/") {
        this.#at++;
        this.#folders();
        return true;
      }
    }
    this.#loop(inName);
    return false;
  }

  /** Any number of names, each with its slash. */
  #folders(): void {
    const begin = this.#jump();
    this.#read(inName);
    this.#loop(inName);
    this.#read(slash);
    const back = this.#jump();
    back.to = [begin.at];
    begin.to = [begin.at + 1, this.#states.length];
  }

  #loop(reads: Reads): void {
    const begin = this.#jump();
    this.#read(reads);
    const back = this.#jump();
    back.to = [begin.at];
    begin.to = [begin.at + 1, this.#states.length];
  }

  #choice(isStart: boolean, depth: number): void {
    if (depth >= maxNestedChoices) throw new BadPattern();
    const begin = this.#jump();
    const starts: number[] = [];
    const ends: Jump[] = [];
    for (;;) {
      starts.push(this.#states.length);
      this.#sequence(isStart, depth + 1);
      ends.push(this.#jump());
      if (this.#characters[this.#at++] === "}") break;
    }
    begin.to = starts;
    for (const end of ends) end.to = [this.#states.length];
  }

  #class(): void {
    const negations = this.#isRecursive ? ["^", "!"] : ["^"];
    const isNegated = negations.includes(this.#peek() ?? "");
    if (isNegated) this.#at++;
    const ranges: { readonly low: number; readonly high: number }[] = [];
    while (this.#peek() !== "]" || ranges.length === 0) {
      const low = this.#inClass();
      if (this.#peek() === "-") {
        this.#at++;
        ranges.push({ low, high: this.#inClass() });
      } else ranges.push({ low, high: low });
    }
    this.#at++;
    this.#read((code) => inName(code) && ranges.some(({ low, high }) => low <= code && code <= high) !== isNegated);
  }

  /** A character of a class; `-` and `]` have to be escaped, as in Go. */
  #inClass(): number {
    const character = this.#characters[this.#at++];
    if (character === undefined || character === "-" || character === "]") throw new BadPattern();
    return codeOf(character === "\\" ? this.#escaped() : character);
  }

  #escaped(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new BadPattern();
    return character;
  }

  #literal(character: string): void {
    this.#read(codeOf(character));
  }

  #read(reads: Reads): void {
    this.#states.push({ type: "read", reads });
  }

  /** A state that leads to the next one, until its `to` is set. */
  #jump(): Jump {
    const at = this.#states.length;
    const state: Jump = { type: "jump", at, to: [at + 1] };
    this.#states.push(state);
    return state;
  }
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Whether a path is a glob in the sense of `from`. */
export function isGlob(path: string): boolean {
  return /[*?[\]]/.test(path);
}
