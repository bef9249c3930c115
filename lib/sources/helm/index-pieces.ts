/** A part of an index that can be parsed for itself. */
export type IndexPiece =
  /** A field of the index, as a document with that field; the charts below `entries` are pieces of their own. */
  | { readonly kind: "field"; readonly text: string }
  /** A chart with its first versions, as a document with one field. */
  | { readonly kind: "chart"; readonly text: string }
  /** Further versions of the chart before, as a document with a list. */
  | { readonly kind: "versions"; readonly text: string }
  /** None yet. */
  | { readonly kind: "none"; readonly text: "" };

/** Versions that are parsed together have about as many bytes: a parser needs many times the memory of its text. */
export const batchBytes = 32 * 1024;

/** Lines after which other work may go on, where no part has ended. */
const pausedLines = 50_000;

const [lf, cr, space, hash, dash, dot, percent, tab] = [0x0a, 0x0d, 0x20, 0x23, 0x2d, 0x2e, 0x25, 0x09];
const entriesLine = /^(?:entries|"entries"|'entries'):[ \t]*(?:#[^\r\n]*)?\r?\n?$/;
const chartLine = /^ +[^\r\n]*:[ \t]*\r?\n?$/;

/** An index that is not written in the block style of `helm repo index`, so that only a parser can tell its parts. */
export class NotInPieces extends Error {
  override readonly name = "NotInPieces";
}

/** A field or a chart is there twice, as far as its parts show. */
export class NamedTwice extends NotInPieces {
  readonly key: string;

  constructor(key: string) {
    super(`${JSON.stringify(key)} is there twice`);
    this.key = key;
  }
}

/**
 * The parts of an index in YAML, as `helm repo index` and its like write it: one field, or a few versions of one chart. Each ends where
 * a line of less or equal indentation begins, so it holds whole fields and items if it can be parsed; a quoted text that goes on below
 * such a line leaves the part before it without its end, and that part cannot be parsed. Throws {@link NotInPieces}.
 */
export function* yamlPieces(bytes: Buffer): Generator<IndexPiece> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const textOf = (from: number, to: number): string => {
    try {
      return decoder.decode(bytes.subarray(from, to));
    } catch {
      throw new NotInPieces("it is not UTF-8");
    }
  };
  let open: { kind: "chart" | "field" | "versions"; from: number } | undefined;
  const close = function* (to: number): Generator<IndexPiece> {
    if (open === undefined) return;
    const { kind, from } = open;
    open = undefined;
    yield { kind, text: textOf(from, to) };
  };
  let lines = 0;
  let inEntries = false;
  /** The indentation of the charts' names. */
  let chartIndent: number | undefined;
  /** The indentation of the present chart's versions; 0 until its first line, -1 if it is not a list in block style. */
  let itemIndent = -1;
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    if (++lines % pausedLines === 0) yield { kind: "none", text: "" };
    const end = bytes.indexOf(lf, from);
    to = end === -1 ? bytes.length : end + 1;
    let at = from;
    while (bytes[at] === space) at++;
    const first = bytes[at];
    if (at >= to || first === lf || first === cr || first === hash) continue;
    const indent = at - from;
    if (first === tab) throw new NotInPieces("a line begins with a tab");
    if (indent === 0) {
      if (first === dash && bytes[from + 1] === dash && bytes[from + 2] === dash) {
        if (open === undefined && !inEntries && lines === 1 && textOf(from, to).trimEnd() === "---") continue;
        throw new NotInPieces("several documents");
      }
      if (first === percent || (first === dot && bytes[from + 1] === dot)) throw new NotInPieces("a directive");
      const isItem = first === dash && (bytes[from + 1] === space || bytes[from + 1] === lf);
      if (isItem && inEntries) throw new NotInPieces("a list of charts");
      if (isItem && open !== undefined) continue;
      yield* close(from);
      inEntries = to - from < 200 && entriesLine.test(textOf(from, to));
      chartIndent = undefined;
      if (inEntries) yield { kind: "field", text: textOf(from, to) };
      else open = { kind: "field", from };
      continue;
    }
    if (!inEntries) {
      if (open === undefined) throw new NotInPieces("it begins with indentation");
      continue;
    }
    chartIndent ??= indent;
    if (indent < chartIndent) throw new NotInPieces("indentation between two levels");
    const isItem = first === dash && (bytes[at + 1] === space || bytes[at + 1] === lf || bytes[at + 1] === cr);
    if (indent === chartIndent && !isItem) {
      yield* close(from);
      open = { kind: "chart", from };
      itemIndent = to - from < 1_000 && chartLine.test(textOf(from, to)) ? 0 : -1;
      continue;
    }
    if (open === undefined) throw new NotInPieces("a version without a chart");
    if (itemIndent === 0) itemIndent = isItem ? indent : -1;
    if (isItem && indent === itemIndent && from - open.from > batchBytes) {
      yield* close(from);
      open = { kind: "versions", from };
    }
  }
  yield* close(bytes.length);
}
