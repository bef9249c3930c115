import { CelFailure } from "./cel-failure.ts";
import { type Token, tokenize } from "./tokenize.ts";

/** A CEL expression as a tree. */
export type Expression =
  | { readonly kind: "literal"; readonly value: null | boolean | number | string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "select"; readonly target: Expression; readonly field: string }
  | { readonly kind: "index"; readonly target: Expression; readonly index: Expression }
  | { readonly kind: "call"; readonly target?: Expression; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: "unary"; readonly operator: "!" | "-"; readonly operand: Expression }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "choice"; readonly test: Expression; readonly yes: Expression; readonly no: Expression };

interface Reader {
  readonly tokens: readonly Token[];
  at: number;
}

/** From what binds loosest to what binds tightest. */
const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!=", "<", "<=", ">", ">=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];

const maxDepth = 100;

/** @throws {CelFailure} if `expression` does not parse */
export function parse(expression: string): Expression {
  const reader = { tokens: tokenize(expression), at: 0 };
  const tree = choice(reader, 0);
  if (peek(reader).kind !== "end") throw unexpected(reader);
  return tree;
}

function choice(reader: Reader, depth: number): Expression {
  if (depth > maxDepth) throw new CelFailure("Syntax error: expression recursion limit exceeded");
  const test = binary(reader, 0, depth);
  if (!accept(reader, "?")) return test;
  const yes = choice(reader, depth + 1);
  expect(reader, ":");
  return { kind: "choice", test, yes, no: choice(reader, depth + 1) };
}

function binary(reader: Reader, level: number, depth: number): Expression {
  const operators = levels[level];
  if (operators === undefined) return unary(reader, depth);
  let left = binary(reader, level + 1, depth);
  for (;;) {
    const { text, kind } = peek(reader);
    if (kind === "text" || !operators.includes(text)) return left;
    reader.at += 1;
    left = { kind: "binary", operator: text, left, right: binary(reader, level + 1, depth) };
  }
}

function unary(reader: Reader, depth: number): Expression {
  if (accept(reader, "!")) return { kind: "unary", operator: "!", operand: unary(reader, depth) };
  if (accept(reader, "-")) return { kind: "unary", operator: "-", operand: unary(reader, depth) };
  return postfix(reader, primary(reader, depth), depth);
}

function postfix(reader: Reader, target: Expression, depth: number): Expression {
  if (accept(reader, ".")) {
    const field = next(reader);
    if (field.kind !== "name") throw unexpected(reader);
    const called: Expression = accept(reader, "(")
      ? { kind: "call", target, name: field.text, args: listUntil(reader, ")", depth) }
      : { kind: "select", target, field: unescapeName(field.text) };
    return postfix(reader, called, depth);
  }
  if (accept(reader, "[")) {
    const index = choice(reader, depth + 1);
    expect(reader, "]");
    return postfix(reader, { kind: "index", target, index }, depth);
  }
  return target;
}

function primary(reader: Reader, depth: number): Expression {
  const token = next(reader);
  switch (token.kind) {
    case "number":
      return { kind: "literal", value: Number(token.text.replace(/[uU]$/, "")) };
    case "text":
      return { kind: "literal", value: token.text };
    case "name":
      return named(reader, token.text, depth);
    case "operator":
      return bracketed(reader, token.text, depth);
    case "end":
      throw new CelFailure("Syntax error: mismatched input '<EOF>'");
  }
}

const constants: ReadonlyMap<string, null | boolean> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function named(reader: Reader, name: string, depth: number): Expression {
  const constant = constants.get(name);
  if (constant !== undefined) return { kind: "literal", value: constant };
  return accept(reader, "(") ? { kind: "call", name, args: listUntil(reader, ")", depth) } : { kind: "name", name };
}

function bracketed(reader: Reader, text: string, depth: number): Expression {
  if (text === "(") {
    const inner = choice(reader, depth + 1);
    expect(reader, ")");
    return inner;
  }
  if (text === "[") return { kind: "list", items: listUntil(reader, "]", depth) };
  if (text === "{") return { kind: "map", entries: entriesUntil(reader, depth) };
  reader.at -= 1;
  throw unexpected(reader);
}

function listUntil(reader: Reader, end: string, depth: number): readonly Expression[] {
  const items: Expression[] = [];
  while (!accept(reader, end)) {
    if (items.length > 0) expect(reader, ",");
    if (accept(reader, end)) break;
    items.push(choice(reader, depth + 1));
  }
  return items;
}

function entriesUntil(reader: Reader, depth: number): readonly (readonly [Expression, Expression])[] {
  const entries: (readonly [Expression, Expression])[] = [];
  while (!accept(reader, "}")) {
    if (entries.length > 0) expect(reader, ",");
    if (accept(reader, "}")) break;
    const key = choice(reader, depth + 1);
    expect(reader, ":");
    entries.push([key, choice(reader, depth + 1)]);
  }
  return entries;
}

function peek(reader: Reader): Token {
  return reader.tokens[reader.at] ?? { kind: "end", text: "" };
}

function next(reader: Reader): Token {
  const token = peek(reader);
  reader.at += 1;
  return token;
}

function accept(reader: Reader, text: string): boolean {
  const token = peek(reader);
  if (token.kind !== "operator" || token.text !== text) return false;
  reader.at += 1;
  return true;
}

function expect(reader: Reader, text: string): void {
  if (!accept(reader, text)) throw unexpected(reader);
}

function unexpected(reader: Reader): CelFailure {
  return new CelFailure(`Syntax error: mismatched input '${peek(reader).text || "<EOF>"}'`);
}

const escapedParts: readonly (readonly [string, string])[] = [
  ["__dot__", "."],
  ["__dash__", "-"],
  ["__slash__", "/"],
  ["__underscores__", "__"],
];

/** Property names that are no CEL names are written escaped: `x__dash__y`, `__namespace__`. */
function unescapeName(name: string): string {
  const keyword = /^__([a-z]+)__$/.exec(name)?.[1];
  if (keyword !== undefined && !escapedParts.some(([escaped]) => escaped === name)) return keyword;
  return escapedParts.reduce((text, [escaped, plain]) => text.replaceAll(escaped, plain), name);
}
