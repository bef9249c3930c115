/**
 * The templates of Flux's variable substitution: `${name}` with bash's operators, as fluxcd/pkg/envsubst 1.7.0 reads them. Its
 * oddities are part of the grammar, since manifests out there rely on them; the golden file of the tests holds what it answers.
 */

export type TemplateNode = { readonly text: string } | Expression;

/** `${param}` with an operator, `""` for none. `at`: where it begins, in UTF-16 units. */
export interface Expression {
  readonly at: number;
  readonly param: string;
  readonly operator: string;
  readonly args: readonly TemplateNode[];
}

/** A text that is not a template. `at` is where the expression at fault begins, in UTF-16 units. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly at: number;

  constructor(message: string, at: number, options?: ErrorOptions) {
    super(message, options);
    this.at = at;
  }
}

/** Expressions inside the default of another: no handwritten manifest has more. */
export const maxNesting = 100;

/** Reads a template. Throws a {@link TemplateError}; its message is upstream's. */
export function parseTemplate(source: string): readonly TemplateNode[] {
  return new TemplateReader(source).template();
}

/** The variables of a template, also those in a default that may not be used. */
export function variablesIn(source: string): readonly string[] {
  const namesIn = (nodes: readonly TemplateNode[]): readonly string[] =>
    nodes.flatMap((node) => ("text" in node ? [] : [node.param, ...namesIn(node.args)]));
  return [...new Set(namesIn(parseTemplate(source)))];
}

const ident = /[\p{L}\p{Nd}_]+/uy;
/** Stops before `${` and at a `}`. */
const defaultText = /(?:[^}$]|\$(?!\{))+/y;
const offsetText = /(?:[^:}$]|\$(?!\{))+/y;
/** The text of a replacement, in which `$$`, `\/` and `\\` are escapes: up to the next slash, braces included. */
const patternText = /(?:\$\$|\\[/\\]|[^/$]|\$(?!\{))+/y;
const replacementText = /(?:\$\$|\\[/\\]|[^}$]|\$(?!\{))+/y;

type Operation = Omit<Expression, "at">;

const badSubstitution = "bad substitution";

class TemplateReader {
  readonly #source: string;
  #at = 0;
  /** Where the expressions that are being read begin, the innermost last. */
  readonly #begins: number[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  template(): readonly TemplateNode[] {
    const nodes: TemplateNode[] = [];
    while (this.#at < this.#source.length) {
      nodes.push(this.#skip("${") ? this.#expression() : { text: this.#text() });
    }
    return nodes;
  }

  /** Up to the next expression. Each `$$` stands for one dollar, and what follows it is text. */
  #text(): string {
    const parts: string[] = [];
    for (;;) {
      const dollar = this.#source.indexOf("$", this.#at);
      if (dollar < 0) {
        parts.push(this.#source.slice(this.#at));
        this.#at = this.#source.length;
        return parts.join("");
      }
      parts.push(this.#source.slice(this.#at, dollar));
      this.#at = dollar;
      if (this.#source.startsWith("${", dollar)) return parts.join("");
      parts.push("$");
      this.#at += this.#source.startsWith("$$", dollar) ? 2 : 1;
    }
  }

  /** What follows `${`, with its closing brace. */
  #expression(): Expression {
    const at = this.#at - 2;
    this.#begins.push(at);
    if (this.#begins.length > maxNesting) throw this.#fault(`expressions are nested deeper than ${maxNesting} levels`);
    const expression = this.#skip("#") ? this.#length() : this.#named();
    this.#begins.pop();
    return { at, ...expression };
  }

  #length(): Operation {
    const param = this.#match(ident) ?? this.#fail(badSubstitution);
    return this.#closed({ param, operator: "#", args: [] });
  }

  #named(): Operation {
    const param = this.#match(ident) ?? this.#fail("unable to parse variable name");
    const operator = this.#operator();
    switch (operator) {
      case undefined:
        if (!this.#skip("}")) throw this.#fault("missing closing brace");
        return { param, operator: "", args: [] };
      case ":":
        return this.#substring(param);
      case "#":
      case "##":
      case "%":
      case "%%":
        return this.#closed({ param, operator, args: [this.#argument(defaultText)] });
      case "/":
      case "//":
      case "/#":
      case "/%":
        return this.#replacement(param, operator);
      default:
        if (/^[,^]/.test(operator)) return this.#closed({ param, operator, args: [] });
        return this.#withDefault(param, operator);
    }
  }

  #operator(): string | undefined {
    const operator = this.#match(/:[-=?+]|:|=|##?|%%?|[,^]{1,2}|\/[/#%]?/y);
    // Upstream goes back by the width of the next character.
    if (operator === ":" && !isAscii(this.#source.charCodeAt(this.#at))) throw this.#fault(badSubstitution);
    return operator;
  }

  #withDefault(param: string, operator: string): Operation {
    const args: TemplateNode[] = [];
    while (!this.#skip("}")) args.push(this.#argument(defaultText));
    return { param, operator, args };
  }

  #substring(param: string): Operation {
    const offset = this.#argument(offsetText);
    if (this.#skip("}")) return { param, operator: ":", args: [offset] };
    if (this.#match(/:+/y) === undefined) throw this.#fault(badSubstitution);
    return this.#closed({ param, operator: ":", args: [offset, this.#argument(defaultText)] });
  }

  #replacement(param: string, operator: string): Operation {
    const pattern = this.#argument(patternText, unescape);
    if (this.#match(/\/+/y) === undefined) throw this.#fault(badSubstitution);
    if (this.#skip("}")) return { param, operator, args: [pattern] };
    return this.#closed({ param, operator, args: [pattern, this.#argument(replacementText, unescape)] });
  }

  #argument(text: RegExp, read: (raw: string) => string = (raw) => raw): TemplateNode {
    if (this.#skip("${")) return this.#expression();
    const raw = this.#match(text);
    if (raw === undefined) throw this.#fault("unable to parse substitution within function");
    return { text: read(raw) };
  }

  #closed(operation: Operation): Operation {
    if (!this.#skip("}")) throw this.#fault(badSubstitution);
    return operation;
  }

  #skip(text: string): boolean {
    const isThere = this.#source.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  /** `pattern` is sticky. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#source) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #fail(message: string): never {
    throw this.#fault(message);
  }

  #fault(message: string): TemplateError {
    return new TemplateError(message, this.#begins.at(-1) ?? 0);
  }
}

function isAscii(code: number): boolean {
  return !(code > 0x7f || Number.isNaN(code));
}

function unescape(raw: string): string {
  return raw.replaceAll(/\$(\$)|\\([/\\])/g, "$1$2");
}
