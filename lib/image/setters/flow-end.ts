/**
 * Where a flow collection or a quoted scalar ends that begins here, whatever its lines are indented by; undefined if it has no end.
 */
export function flowEnd(text: string, start: number): number | undefined {
  const scan = new FlowScan(text, start);
  return scan.end();
}

class FlowScan {
  readonly #text: string;
  #at: number;
  #depth = 0;
  /** Whether a quote would begin a scalar here; elsewhere it is part of a plain one. */
  #isTokenStart = true;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  end(): number | undefined {
    while (this.#at < this.#text.length) {
      this.#step();
      if (this.#depth === 0) return this.#at <= this.#text.length ? this.#at : undefined;
    }
    return undefined;
  }

  #step(): void {
    const char = this.#text.charAt(this.#at);
    if ((char === '"' || char === "'") && this.#isTokenStart) {
      this.#at = this.#quoteEnd(char);
      this.#isTokenStart = this.#text[this.#at] === ":";
    } else if (char === "#" && /\s/.test(this.#text.charAt(this.#at - 1))) {
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end === -1 ? this.#text.length : end;
    } else if ((char === "!" || char === "&") && this.#isTokenStart) {
      while (/[^\s,[\]{}]/.test(this.#text.charAt(this.#at))) this.#at++;
    } else {
      this.#pass(char);
      this.#at++;
    }
  }

  #pass(char: string): void {
    if (char === "[" || char === "{") this.#depth++;
    if (char === "]" || char === "}") this.#depth--;
    if (/[[{,]/.test(char)) this.#isTokenStart = true;
    else if (char === ":" || char === "?") {
      this.#isTokenStart ||= /\s/.test(this.#text.charAt(this.#at + 1));
    } else if (/\S/.test(char)) this.#isTokenStart = /[\]}]/.test(char) && this.#text[this.#at + 1] === ":";
  }

  /** Behind the closing quote; behind the text if there is none. */
  #quoteEnd(quote: string): number {
    let at = this.#at + 1;
    while (at < this.#text.length) {
      const char = this.#text[at];
      if (char === "\\" && quote === '"') at += 2;
      else if (char !== quote) at++;
      else if (quote === "'" && this.#text[at + 1] === "'") at += 2;
      else return at + 1;
    }
    return this.#text.length + 1;
  }
}
