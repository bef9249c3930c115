import { CelFailure } from "./cel-failure.ts";

export interface Token {
  readonly kind: "name" | "number" | "text" | "operator" | "end";
  readonly text: string;
}

const pattern =
  /(?:(?<number>0x[0-9a-fA-F]+u?|\d+\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+|[uU])?)|(?<raw>[rR])?(?<text>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<operator>&&|\|\||[=!<>]=|[-+*/%<>!?:.,()[\]{}]))/y;

const space = /(?:\s+|\/\/[^\n]*)*/y;

/** The tokens of a CEL expression, ended by one of kind `end`. */
export function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = endOfSpace(expression, 0);
  while (at < expression.length) {
    pattern.lastIndex = at;
    const groups = pattern.exec(expression)?.groups;
    if (groups === undefined)
      throw new CelFailure(`Syntax error: token recognition error at: '${expression.slice(at).trim()}'`);
    tokens.push(tokenOf(groups));
    at = endOfSpace(expression, pattern.lastIndex);
  }
  return [...tokens, { kind: "end", text: "" }];
}

/** Where the white space and comments from here on end. */
function endOfSpace(expression: string, from: number): number {
  space.lastIndex = from;
  space.exec(expression);
  return space.lastIndex;
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): Token {
  const { number, text, name, operator, raw } = groups;
  if (number !== undefined) return { kind: "number", text: number };
  if (text !== undefined) return { kind: "text", text: unquote(text, raw !== undefined) };
  if (name !== undefined) return { kind: "name", text: name };
  return { kind: "operator", text: operator ?? "" };
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

function unquote(literal: string, isRaw: boolean): string {
  const width = literal.startsWith('"""') || literal.startsWith("'''") ? 3 : 1;
  const content = literal.slice(width, -width);
  if (isRaw) return content;
  return content.replaceAll(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/g, (_, code: string) =>
    code.length > 1 ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );
}
