import { CheckoutFault } from "./checkout-fault.ts";

/** A variable: `path` of the section `submodule.lib`, which is the same text for all variables of a section. */
export interface ConfigVariable {
  /** Empty before the first section. */
  readonly section: string;
  readonly name: string;
  /** Absent without `=`. */
  readonly value: string | undefined;
}

const [blank, keyLetter, lineEnd] = [/[ \t\n\r]/, /[A-Za-z0-9-]/, "\n"];

/**
 * The variables of a configuration file of git, one by one in their order, by the rules of git's `config.c`. Throws a
 * {@link CheckoutFault} with the number of the first line that git refuses.
 */
export function* parseGitConfig(text: string, name: string): Generator<ConfigVariable, void, undefined> {
  const file = lettersOf(text.replace(/^\ufeff/, ""));
  const refuse = (): CheckoutFault =>
    new CheckoutFault(`${name} has a line that is not git's notation, before or at line ${file.line()}: correct it`);
  let section = "";
  while (!file.isOver()) {
    const letter = file.next();
    if (letter === "#" || letter === ";") file.skipLine();
    else if (letter === "[") {
      const read = readSection(file);
      if (read === undefined) throw refuse();
      section = read;
    } else if (!blank.test(letter)) {
      const variable = /[A-Za-z]/.test(letter) ? readVariable(file, letter) : undefined;
      if (variable === undefined) throw refuse();
      yield { section, ...variable };
    }
  }
}

interface Letters {
  /** The next one; a line end at the end, and for `\r\n`. */
  next(): string;
  skipLine(): void;
  isOver(): boolean;
  line(): number;
}

function lettersOf(text: string): Letters {
  let at = 0;
  return {
    next() {
      if (text.startsWith("\r\n", at)) at++;
      return text[at++] ?? lineEnd;
    },
    skipLine() {
      const end = text.indexOf(lineEnd, at);
      at = end === -1 ? text.length : end + 1;
    },
    isOver: () => at >= text.length,
    line: () => text.slice(0, Math.max(at - 1, 0)).split(lineEnd).length,
  };
}

/** What stands in the brackets: `submodule.lib`. The part in quotes keeps its case. */
function readSection(file: Letters): string | undefined {
  let name = "";
  let letter = file.next();
  for (; keyLetter.test(letter) || letter === "."; letter = file.next()) name += letter.toLowerCase();
  if (letter === "]") return name === "" ? undefined : name;
  if (!blank.test(letter)) return undefined;
  while (blank.test(letter)) {
    if (letter === lineEnd) return undefined;
    letter = file.next();
  }
  if (letter !== '"') return undefined;
  name += ".";
  for (letter = file.next(); letter !== '"'; letter = file.next()) {
    if (letter === "\\") letter = file.next();
    if (letter === lineEnd) return undefined;
    name += letter;
  }
  return file.next() === "]" ? name : undefined;
}

function readVariable(file: Letters, first: string): Omit<ConfigVariable, "section"> | undefined {
  let name = first.toLowerCase();
  let letter = file.next();
  for (; keyLetter.test(letter); letter = file.next()) name += letter.toLowerCase();
  while (letter === " " || letter === "\t") letter = file.next();
  if (letter === lineEnd) return { name, value: undefined };
  if (letter !== "=") return undefined;
  const value = readValue(file);
  return value === undefined ? undefined : { name, value };
}

const escaped: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"', "\n": "" };

/** Without quotes, escapes, a comment at the end, and blanks at either end; it goes on after a backslash at the end of a line. */
function readValue(file: Letters): string | undefined {
  let value = "";
  let blanks = "";
  let isQuoted = false;
  for (let letter = file.next(); ; letter = file.next()) {
    if (letter === lineEnd) return isQuoted ? undefined : value;
    if (!isQuoted && blank.test(letter)) {
      if (value !== "") blanks += letter;
      continue;
    }
    if (!isQuoted && (letter === "#" || letter === ";")) {
      file.skipLine();
      return value;
    }
    value += blanks;
    blanks = "";
    if (letter === '"') {
      isQuoted = !isQuoted;
    } else if (letter === "\\") {
      const plain = escaped[file.next()];
      if (plain === undefined) return undefined;
      value += plain;
    } else {
      value += letter;
    }
  }
}
