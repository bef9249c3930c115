const bestIndent = 4;

/** go-yaml v3's emitter, as far as sops uses it: what stands where on a line, and which quotes a text needs. */
export class YamlWriter {
  readonly #out: string[] = [];
  #column = 0;
  #indent = 0;
  #isRoot = true;
  /** The last character was a space, or the line is empty. */
  #whitespace = true;
  /** Only spaces and indicators stand on the line. */
  #indention = true;
  /** The indent of a comment behind an entry. A line that follows with the same indent is set apart. */
  #footIndent = -1;
  #head: readonly string[] = [];

  end(): string {
    this.#footIndent = -1;
    this.#indent = 0;
    this.newLine();
    return this.#out.join("");
  }

  /** Writes a block one level further in, with its comment above it. */
  indented(inSequence: boolean, write: () => void): void {
    const outer = this.#indent;
    if (this.#isRoot) this.#isRoot = false;
    else this.#indent = this.#inner(inSequence);
    this.comment(this.#head);
    this.#head = [];
    write();
    this.#indent = outer;
  }

  #inner(inSequence: boolean): number {
    return inSequence ? this.#indent + 2 : bestIndent * Math.floor((this.#indent + bestIndent) / bestIndent);
  }

  /** The comment of the block that is written next. */
  nextHead(lines: readonly string[]): void {
    this.#head = lines;
  }

  newLine(): void {
    const atMargin = this.#column === this.#indent && this.#whitespace;
    if (!this.#indention || this.#column > this.#indent || (this.#column === this.#indent && !atMargin)) this.#break();
    if (this.#footIndent === this.#indent) this.#break();
    if (this.#column < this.#indent) this.#put(" ".repeat(this.#indent - this.#column));
    this.#whitespace = true;
    this.#footIndent = -1;
  }

  /** Comments on lines of their own. */
  comment(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.newLine();
    this.#comment(lines);
  }

  /** Comments behind the last entry of a block. */
  foot(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.comment(lines);
    this.#footIndent = this.#indent;
  }

  #lineComment(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (!this.#whitespace) this.#put(" ");
    this.#comment(lines);
  }

  indicator(text: string, needsSpace: boolean, keepsIndention = false): void {
    if (needsSpace && !this.#whitespace) this.#put(" ");
    this.#put(text);
    this.#whitespace = false;
    this.#indention = this.#indention && keepsIndention;
  }

  text(text: string, place: TextPlace): void {
    const style = styleOf(text, place);
    if (style === "literal") this.#literal("|", text, place);
    else this.constant(text === "<<" ? "!!merge <<" : style === "plain" ? text : quoted(text, style), place.line);
  }

  /** A scalar on one line. */
  constant(text: string, line: readonly string[]): void {
    if (!this.#whitespace) this.#put(" ");
    this.#put(text);
    this.#whitespace = false;
    this.#indention = false;
    this.#lineComment(line);
  }

  /** Binary data: in base64, in lines if it is long. */
  binary(bytes: Uint8Array, place: Pick<TextPlace, "inSequence" | "line">): void {
    const lines =
      Buffer.from(bytes)
        .toString("base64")
        .match(/.{1,70}/g) ?? [];
    if (lines.length > 1) this.#literal("!!binary |", `${lines.join("\n")}\n`, place);
    else this.constant(`!!binary ${lines.join("")}`, place.line);
  }

  #literal(indicator: string, text: string, { inSequence, line }: Pick<TextPlace, "inSequence" | "line">): void {
    const outer = this.#indent;
    const hint = /^[ \n]/.test(text) ? String(bestIndent) : "";
    const chomp = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
    this.indicator(`${indicator}${hint}${chomp}`, true);
    if (line.length > 0) this.#lineComment(line);
    else this.#break();
    this.#indent = this.#inner(inSequence);
    this.#whitespace = true;
    for (const part of text.split(/(?<=\n)/)) {
      const content = part.replace(/\n$/, "");
      if (content !== "") {
        this.newLine();
        this.#put(content);
        this.#indention = false;
      }
      if (part.endsWith("\n")) this.#break();
    }
    this.#indent = outer;
  }

  #comment(lines: readonly string[]): void {
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.newLine();
      this.#put(`#${line}`);
      this.#break();
    }
    this.#whitespace = true;
  }

  #put(text: string): void {
    this.#out.push(text);
    this.#column += text.length;
  }

  #break(): void {
    this.#out.push("\n");
    this.#column = 0;
    this.#indention = true;
  }
}

interface TextPlace {
  readonly isKey: boolean;
  readonly inSequence: boolean;
  /** Whether it is read back as this text when it stands without quotes. */
  readonly staysText: boolean;
  /** A comment behind it, which a block of text has behind its indicator. */
  readonly line: readonly string[];
}

type Style = "plain" | "single" | "double" | "literal";

const unprintable = /[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/;

/** Which style go-yaml chooses, and libyaml's `analyze_scalar` allows. */
function styleOf(text: string, { isKey, staysText }: TextPlace): Style {
  const special = unprintable.test(text) || text.includes(" \n");
  if (text.includes("\n")) return special || text.endsWith(" ") || isKey ? "double" : "literal";
  if (!staysText) return "double";
  if (special || text.includes("\t")) return "double";
  return /^ | $/.test(text) || hasBlockIndicator(text) ? "single" : "plain";
}

function hasBlockIndicator(text: string): boolean {
  return (
    /^(---|\.\.\.)/.test(text) || /^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[-?]( |$)/.test(text) || /:( |$)| #/.test(text)
  );
}

function quoted(text: string, style: "single" | "double"): string {
  if (style === "single") return `'${text.replaceAll("'", "''")}'`;
  return `"${text.replaceAll(/["\\\n\t]|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/gu, escaped)}"`;
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\0", "0"],
  ["\x07", "a"],
  ["\b", "b"],
  ["\t", "t"],
  ["\n", "n"],
  ["\v", "v"],
  ["\f", "f"],
  ["\r", "r"],
  ["\x1b", "e"],
  ["\x85", "N"],
  ["\u2028", "L"],
  ["\u2029", "P"],
]);

function escaped(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  const short = shortEscapes.get(character);
  if (short !== undefined) return `\\${short}`;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
