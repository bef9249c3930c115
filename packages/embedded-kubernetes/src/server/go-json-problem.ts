const endOfInput = "unexpected end of JSON input";
const literals: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };

/** What Go's `encoding/json` says of a text that is not JSON; `undefined` where it finds nothing wrong. */
export function goJsonProblem(text: string): string | undefined {
  const reader: Reader = { text, at: 0 };
  const problem = valueProblem(reader, 0);
  if (problem !== undefined) return problem;
  const rest = next(reader);
  return rest === undefined ? undefined : invalid(rest, "after top-level value");
}

interface Reader {
  readonly text: string;
  at: number;
}

/** Go stops here, and so do we, long before the stack would. */
const maxDepth = 10_000;

/** The next letter that is not white space, without taking it. */
function next(reader: Reader): string | undefined {
  while (/[ \t\r\n]/.test(reader.text[reader.at] ?? "")) reader.at++;
  return reader.text[reader.at];
}

/** Go gives a number, a literal or an escape that ends with the text one space more to read. */
function letterAt({ text }: Reader, at: number): string {
  return text[at] ?? " ";
}

function invalid(letter: string, context: string): string {
  return `invalid character ${letter === "'" ? `'\\''` : `'${JSON.stringify(letter).slice(1, -1).replace('\\"', '"')}'`} ${context}`;
}

function valueProblem(reader: Reader, depth: number, context = "looking for beginning of value"): string | undefined {
  const first = next(reader);
  if (first === undefined) return endOfInput;
  if (depth > maxDepth) return "exceeded max depth";
  if (first === "{") return objectProblem(reader, depth);
  if (first === "[") return listProblem(reader, depth);
  if (first === '"') return textProblem(reader);
  if (/[-\d]/.test(first)) return numberProblem(reader);
  const literal = literals[first];
  return literal === undefined ? invalid(first, context) : literalProblem(reader, literal);
}

function objectProblem(reader: Reader, depth: number): string | undefined {
  reader.at++;
  if (next(reader) === "}") {
    reader.at++;
    return undefined;
  }
  for (;;) {
    const key = next(reader);
    if (key === undefined) return endOfInput;
    if (key !== '"') return invalid(key, "looking for beginning of object key string");
    const keyProblem = textProblem(reader);
    if (keyProblem !== undefined) return keyProblem;
    const colon = next(reader);
    if (colon === undefined) return endOfInput;
    if (colon !== ":") return invalid(colon, "after object key");
    reader.at++;
    const problem = valueProblem(reader, depth + 1);
    if (problem !== undefined) return problem;
    const after = next(reader);
    if (after === undefined) return endOfInput;
    reader.at++;
    if (after === "}") return undefined;
    if (after !== ",") return invalid(after, "after object key:value pair");
  }
}

function listProblem(reader: Reader, depth: number): string | undefined {
  reader.at++;
  if (next(reader) === "]") {
    reader.at++;
    return undefined;
  }
  for (;;) {
    const problem = valueProblem(reader, depth + 1);
    if (problem !== undefined) return problem;
    const after = next(reader);
    if (after === undefined) return endOfInput;
    reader.at++;
    if (after === "]") return undefined;
    if (after !== ",") return invalid(after, "after array element");
  }
}

function textProblem(reader: Reader): string | undefined {
  for (;;) {
    const letter = reader.text[++reader.at];
    if (letter === undefined) return endOfInput;
    if (letter < " ") return invalid(letter, "in string literal");
    if (letter === '"') {
      reader.at++;
      return undefined;
    }
    if (letter !== "\\") continue;
    const escape = letterAt(reader, ++reader.at);
    if (!/["\\/bfnrtu]/.test(escape)) return invalid(escape, "in string escape code");
    if (escape !== "u") continue;
    for (let digits = 0; digits < 4; digits++) {
      const digit = letterAt(reader, ++reader.at);
      if (!/[\da-f]/i.test(digit)) return invalid(digit, "in \\u hexadecimal character escape");
    }
  }
}

function numberProblem(reader: Reader): string | undefined {
  if (reader.text[reader.at] === "-") reader.at++;
  const whole = letterAt(reader, reader.at);
  if (!/\d/.test(whole)) return invalid(whole, "in numeric literal");
  reader.at++;
  if (whole !== "0") skipDigits(reader);
  if (reader.text[reader.at] === ".") {
    const problem = digitsProblem(reader, "after decimal point in numeric literal");
    if (problem !== undefined) return problem;
  }
  if (!/[eE]/.test(reader.text[reader.at] ?? "")) return undefined;
  if (/[-+]/.test(reader.text[reader.at + 1] ?? "")) reader.at++;
  return digitsProblem(reader, "in exponent of numeric literal");
}

function digitsProblem(reader: Reader, context: string): string | undefined {
  const digit = letterAt(reader, ++reader.at);
  if (!/\d/.test(digit)) return invalid(digit, context);
  skipDigits(reader);
  return undefined;
}

function skipDigits(reader: Reader): void {
  while (/\d/.test(reader.text[reader.at] ?? "")) reader.at++;
}

function literalProblem(reader: Reader, literal: string): string | undefined {
  for (const expected of literal) {
    const letter = letterAt(reader, reader.at);
    if (letter !== expected) return invalid(letter, `in literal ${literal} (expecting '${expected}')`);
    reader.at++;
  }
  return undefined;
}
