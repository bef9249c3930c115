/** Whether labels or annotations fulfil a selector. */
export type LabelQuery = (labels: Readonly<Record<string, string>>) => boolean;

const symbols = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];

/**
 * Reads a label selector as `labels.Parse` of Kubernetes does: `a=b,c!=d,e in (f,g),!h,i>1`. An empty one selects everything.
 *
 * @throws RangeError in the words of `labels.Parse`
 */
export function parseLabelQuery(text: string): LabelQuery {
  const words = new Words(text);
  const requirements: LabelQuery[] = [];
  while (words.peek() !== undefined) {
    if (words.isSymbol && words.peek() !== "!") {
      throw new RangeError(`found '${words.peek()}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(requirement(words));
    const after = words.take();
    if (after === undefined) break;
    if (after !== ",") throw new RangeError(`found '${after}', expected: ',' or 'end of string'`);
    if (words.peek() === undefined || (words.isSymbol && words.peek() !== "!")) {
      throw new RangeError(`found '${words.peek() ?? ""}', expected: identifier after ','`);
    }
  }
  return (labels) => requirements.every((each) => each(labels));
}

/** The words and symbols of a selector, in order. */
class Words {
  readonly #words: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#words = text.match(/[!=]=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
  }

  /** The next one, without taking it. */
  peek(): string | undefined {
    return this.#words[this.#at];
  }

  get isSymbol(): boolean {
    return symbols.includes(this.peek() ?? "");
  }

  take(): string | undefined {
    return this.#words[this.#at++];
  }
}

function requirement(words: Words): LabelQuery {
  if (words.peek() === "!") {
    words.take();
    const key = keyIn(words);
    return (labels) => !Object.hasOwn(labels, key);
  }
  const key = keyIn(words);
  if (words.peek() === undefined || words.peek() === ",") return (labels) => Object.hasOwn(labels, key);
  const operator = words.take() ?? "";
  const held = (labels: Readonly<Record<string, string>>) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  switch (operator) {
    case "=":
    case "==":
    case "in": {
      const values = valuesIn(words, key, operator);
      return (labels) => values.has(held(labels));
    }
    case "!=":
    case "notin": {
      const values = valuesIn(words, key, operator);
      return (labels) => !values.has(held(labels));
    }
    case ">":
    case "<": {
      const limit = integerIn(words);
      const isOver = (value: number) => (operator === ">" ? value > limit : value < limit);
      return (labels) => /^[+-]?\d+$/.test(held(labels) ?? "") && isOver(Number(held(labels)));
    }
    default:
      throw fault(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

const name = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;
const domain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const nameText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const keyText = `a valid label key${nameText.slice("name part".length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
const domainText =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function keyIn(words: Words): string {
  const isName = !words.isSymbol;
  const key = words.take() ?? "";
  if (!isName || key === "") throw fault(`found '${key}', expected: identifier`);
  const problems = labelKeyProblems(key);
  if (problems.length > 0) throw fault(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join("; ")}`);
  return key;
}

/** Why a text is not a valid label key, in the words of Kubernetes; empty if it is valid. */
export function labelKeyProblems(key: string): readonly string[] {
  const parts = key.split("/");
  const [prefix, own = ""] = parts.length === 1 ? [undefined, key] : parts;
  if (parts.length > 2) return [keyText];
  return [
    ...(prefix === undefined || (domain.test(prefix) && prefix.length <= 253) ? [] : [domainText]),
    ...(own.length > 63 ? ["name part must be no more than 63 bytes"] : []),
    ...(name.test(own) ? [] : [nameText]),
  ];
}

/** Why a text is not the value of a label, in the words of Kubernetes; undefined if it is one. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return "must be no more than 63 bytes";
  return value === "" || name.test(value) ? undefined : valueText;
}

/** One value, or `(a,b)`; an empty place is the empty value. */
function valuesIn(words: Words, key: string, operator: string): ReadonlySet<string | undefined> {
  const values = operator === "in" || operator === "notin" ? listIn(words) : [exactIn(words)];
  for (const [index, value] of values.entries()) {
    const why = labelValueProblem(value);
    if (why !== undefined) throw fault(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
  }
  return new Set(values);
}

function exactIn(words: Words): string {
  if (words.peek() === undefined || words.peek() === ",") return "";
  if (words.isSymbol) throw fault(`found '${words.peek()}', expected: identifier`);
  return words.take() ?? "";
}

function listIn(words: Words): readonly string[] {
  const open = words.take();
  if (open !== "(") throw fault(`found '${open ?? ""}' expected: '('`);
  const values: string[] = [];
  for (let isDue = true; ; ) {
    const isName = !words.isSymbol;
    const word = words.take();
    if (isName && word !== undefined) {
      values.push(word);
      isDue = false;
      continue;
    }
    if (word !== "," && word !== ")") {
      throw fault(`found '${word ?? ""}', expected: ${isDue ? "',', ')' or identifier" : "',' or ')'"}`);
    }
    if (isDue) values.push("");
    if (word === ")") return values;
    isDue = true;
  }
}

function integerIn(words: Words): number {
  const value = exactIn(words);
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw fault(
    `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
  );
}

function fault(message: string): RangeError {
  return new RangeError(`unable to parse requirement: ${message}`);
}
