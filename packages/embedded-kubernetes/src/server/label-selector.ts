import type { JsonObject } from "../core/json.ts";
import { qualifiedName } from "../rules/validation/name-rules.ts";
import { badRequest } from "./errors.ts";

type Operator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

export type LabelSelector = (labels: JsonObject) => boolean;

interface Token {
  readonly kind: "identifier" | "symbol" | "end";
  readonly text: string;
}

interface Tokens {
  readonly list: readonly Token[];
  at: number;
}

const symbols = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];
const keywords = new Set(["in", "notin"]);

/** Reads `a=b,c!=d,e in (f,g),!h,i>1`. @throws {StatusError} 400 with the server's texts */
export function parseLabelSelector(text: string): LabelSelector | undefined {
  const tokens: Tokens = { list: tokenize(text), at: 0 };
  const requirements: Requirement[] = [];
  for (;;) {
    const next = peek(tokens);
    if (next.kind === "end") break;
    if (next.kind === "symbol" && next.text !== "!") {
      throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(tokens));
    const after = take(tokens);
    if (after.kind === "end") break;
    if (after.text !== ",") throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    const following = peek(tokens);
    if (following.kind !== "identifier" && following.text !== "!") {
      throw badRequest(`found '${following.text}', expected: identifier after ','`);
    }
  }
  return requirements.length === 0
    ? undefined
    : (labels) => requirements.every((requirement) => isMet(requirement, labels));
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const letter = text.charAt(at);
    if (/\s/.test(letter)) {
      at += 1;
      continue;
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
    if (symbol !== undefined) {
      tokens.push({ kind: "symbol", text: symbol });
      at += symbol.length;
      continue;
    }
    let end = at;
    while (end < text.length && !/[\s=!(),<>]/.test(text.charAt(end))) end += 1;
    tokens.push({ kind: "identifier", text: text.slice(at, end) });
    at = end;
  }
  return [...tokens, { kind: "end", text: "" }];
}

function peek({ list, at }: Tokens): Token {
  return list[at] ?? { kind: "end", text: "" };
}

function take(tokens: Tokens): Token {
  const token = peek(tokens);
  tokens.at += 1;
  return token;
}

function parseRequirement(tokens: Tokens): Requirement {
  if (peek(tokens).text === "!") {
    take(tokens);
    const key = keyOf(take(tokens));
    return { key, operator: "!", values: [] };
  }
  const key = keyOf(take(tokens));
  const next = peek(tokens);
  if (next.kind === "end" || next.text === ",") return { key, operator: "exists", values: [] };
  const operator = operatorOf(take(tokens));
  const values = keywords.has(operator) ? parseValues(tokens) : [parseExactValue(tokens)];
  if (operator === "gt" || operator === "lt") checkInteger(values);
  else for (const [index, value] of values.entries()) checkValue(key, index, value);
  return { key, operator, values };
}

function keyOf(token: Token): string {
  if (token.kind !== "identifier") {
    throw badRequest(`unable to parse requirement: found '${token.text}', expected: identifier`);
  }
  const problems = qualifiedName(token.text);
  if (problems.length > 0) {
    const shown = JSON.stringify(token.text);
    throw badRequest(`unable to parse requirement: <nil>: Invalid value: ${shown}: ${problems.join("; ")}`);
  }
  return token.text;
}

const operators: Readonly<Record<string, Operator>> = {
  "=": "=",
  "==": "==",
  "!=": "!=",
  in: "in",
  notin: "notin",
  ">": "gt",
  "<": "lt",
};

function operatorOf(token: Token): Operator {
  const operator = Object.hasOwn(operators, token.text) ? operators[token.text] : undefined;
  if (operator !== undefined) return operator;
  throw badRequest(`unable to parse requirement: found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
}

/** `(a,b)`; an empty place is the empty value. */
function parseValues(tokens: Tokens): readonly string[] {
  const open = take(tokens);
  if (open.text !== "(") throw badRequest(`unable to parse requirement: found '${open.text}' expected: '('`);
  const values: string[] = [];
  let isValueDue = true;
  for (;;) {
    const token = take(tokens);
    if (token.kind === "identifier") {
      values.push(token.text);
      isValueDue = false;
      continue;
    }
    if (token.text !== "," && token.text !== ")") {
      const expected = isValueDue ? "',', ')' or identifier" : "',' or ')'";
      throw badRequest(`unable to parse requirement: found '${token.text}', expected: ${expected}`);
    }
    if (isValueDue) values.push("");
    if (token.text === ")") return values;
    isValueDue = true;
  }
}

function parseExactValue(tokens: Tokens): string {
  const token = peek(tokens);
  if (token.kind === "end" || token.text === ",") return "";
  take(tokens);
  if (token.kind === "identifier") return token.text;
  throw badRequest(`unable to parse requirement: found '${token.text}', expected: identifier`);
}

function checkValue(key: string, index: number, value: string): void {
  if (value === "" || (/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(value) && value.length <= 63)) return;
  const problem =
    value.length > 63
      ? "must be no more than 63 bytes"
      : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  throw badRequest(
    `unable to parse requirement: values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`,
  );
}

function checkInteger(values: readonly string[]): void {
  for (const [index, value] of values.entries()) {
    if (/^[+-]?\d+$/.test(value)) continue;
    throw badRequest(
      `unable to parse requirement: values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
}

function isMet({ key, operator, values }: Requirement, labels: JsonObject): boolean {
  const label = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const has = typeof label === "string";
  switch (operator) {
    case "exists":
      return has;
    case "!":
      return !has;
    case "=":
    case "==":
    case "in":
      return has && values.includes(label);
    case "!=":
    case "notin":
      return !has || !values.includes(label);
    case "gt":
      return has && /^[+-]?\d+$/.test(label) && Number(label) > Number(values[0]);
    case "lt":
      return has && /^[+-]?\d+$/.test(label) && Number(label) < Number(values[0]);
  }
}
