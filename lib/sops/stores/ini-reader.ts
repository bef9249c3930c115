import { SopsFault } from "../sops-fault.ts";
import { Branch, type Item, SopsComment } from "../tree.ts";
import { linesOf } from "./lines.ts";

interface Key {
  readonly name: string;
  value: string;
  comment: string;
}

/** The parser of ini.v1 with the options that sops gives it. */
export class IniReader {
  /** Each with its line break. */
  readonly #lines: readonly string[];
  #next = 0;
  /** Comments since the last key or section, as they stand. */
  #comment = "";

  constructor(text: string) {
    this.#lines = linesOf(text.replace(/^\ufeff/, ""), /(?<=\n)/);
  }

  /** All sections, `DEFAULT` first. */
  sections(): Item[] {
    const sections: Item[] = [];
    let name = "DEFAULT";
    let comment = "";
    let keys = new Map<string, Key>();
    const end = (): number => sections.push({ key: name, value: branchOf(comment, keys) });
    for (let line = this.#line(); line !== undefined; line = this.#line()) {
      const text = line.trimStart();
      if (/^[#;]/.test(text)) {
        this.#comment += text;
      } else if (text.startsWith("[")) {
        end();
        name = this.#sectionName(text);
        comment = this.#takeComment();
        keys = new Map();
      } else if (text !== "") {
        this.#key(text, keys);
      }
    }
    end();
    return sections;
  }

  #line(): string | undefined {
    return this.#lines[this.#next++];
  }

  #fault(why: string): SopsFault {
    return new SopsFault(`Could not unmarshal input data: ${why} in line ${this.#next}`);
  }

  #takeComment(): string {
    const comment = this.#comment.trim();
    this.#comment = "";
    return comment;
  }

  #sectionName(line: string): string {
    const close = line.lastIndexOf("]");
    if (close === -1) throw this.#fault("unclosed section");
    if (close === 1) throw this.#fault("empty section name");
    this.#comment += /[#;].*/s.exec(line.slice(close + 1))?.[0] ?? "";
    return line.slice(1, close);
  }

  #key(line: string, keys: Map<string, Key>): void {
    const { name, rest } = this.#name(line);
    if (name === "") throw this.#fault("empty key name");
    const value = this.#value(rest);
    const key = keys.get(name) ?? { name, value, comment: "" };
    key.value = value;
    key.comment = this.#takeComment();
    keys.set(name, key);
  }

  #name(line: string): { name: string; rest: string } {
    const quote = line.startsWith('"""') && line.length > 6 ? '"""' : (/^["`]/.exec(line)?.[0] ?? "");
    const close = quote === "" ? 0 : line.indexOf(quote, quote.length);
    if (close === -1) throw this.#fault("missing closing key quote");
    const offset = line.slice(close + quote.length).search(/[=:]/);
    if (offset === -1) throw this.#fault("key-value delimiter not found");
    const at = close + quote.length + offset;
    const name = quote === "" ? line.slice(0, at) : line.slice(quote.length, close);
    return { name: name.trim(), rest: line.slice(at + 1) };
  }

  #value(rest: string): string {
    const line = rest.trimStart();
    if (line === "") return "";
    const quote = line.startsWith('"""') && line.length > 3 ? '"""' : line.startsWith("`") ? "`" : "";
    if (quote !== "") {
      const close = line.lastIndexOf(quote);
      if (close >= quote.length) return line.slice(quote.length, close);
      return this.#quotedLines(quote, line.slice(quote.length));
    }
    const text = line.trim();
    if (text.endsWith("\\")) return this.#continued(text.slice(0, -1));
    const comment = text.search(/[#;]/);
    if (comment !== -1) this.#comment += text.slice(comment);
    return unquoted(comment === -1 ? text : text.slice(0, comment).trim());
  }

  #quotedLines(quote: string, first: string): string {
    let value = first;
    for (let line = this.#line(); line !== undefined; line = this.#line()) {
      const close = line.lastIndexOf(quote);
      const rest = line.slice(close + quote.length);
      if (close !== -1 && !rest.trim().endsWith("\\")) {
        this.#comment += (/[#;].*/s.exec(line.slice(close))?.[0] ?? "").trim();
        return value + line.slice(0, close);
      }
      value += line;
    }
    throw this.#fault("missing closing key quote");
  }

  #continued(first: string): string {
    const parts = [first];
    for (let line = this.#line(); line !== undefined; line = this.#line()) {
      const next = line.trim();
      const isContinued = next.endsWith("\\");
      parts.push(isContinued ? next.slice(0, -1) : next);
      if (!isContinued) break;
    }
    return parts.join("");
  }
}

function unquoted(text: string): string {
  const quote = text.charAt(0);
  const surrounded = text.length >= 2 && (quote === "'" || quote === '"') && text.indexOf(quote, 1) === text.length - 1;
  return surrounded ? text.slice(1, -1) : text;
}

/** sops takes the comment of a section as its first entry, and that of a key as the entry behind it. */
function branchOf(comment: string, keys: ReadonlyMap<string, Key>): Branch {
  const items = [...keys.values()].flatMap((key) => [{ key: key.name, value: key.value }, ...commentItem(key.comment)]);
  return new Branch([...commentItem(comment), ...items]);
}

function commentItem(comment: string): Item[] {
  if (comment === "") return [];
  return [{ key: new SopsComment(comment.replace(/^;[; ]*|^#[# ]*/, ""), false), value: null }];
}
