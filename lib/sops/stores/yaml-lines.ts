/** The lines of a text: where each starts and ends, in time that does not depend on how long they are. */
export class YamlLines {
  readonly #text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    const starts = [0];
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
    this.#starts = starts;
  }

  /** Where the line of the offset starts. */
  startOf(offset: number): number {
    return this.#starts[this.#indexOf(offset)] ?? 0;
  }

  /** Where the line of the offset ends: at its line break, or at the end of the text. */
  endOf(offset: number): number {
    const next = this.#starts[this.#indexOf(offset) + 1];
    return next === undefined ? this.#text.length : next - 1;
  }

  #indexOf(offset: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low;
  }
}
