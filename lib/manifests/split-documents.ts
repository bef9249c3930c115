import { Undecided } from "./read-failure.ts";

/** One document of a multi-document text, and the line of the file that it starts on; lines count from one. */
export interface DocumentText {
  readonly text: string;
  readonly line: number;
}

/** Splits a text as kyaml does: at lines that start with `---`, before any YAML is parsed. */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let start = 0;
  let line = 1;
  for (const match of text.matchAll(/\n---(.*)\n/g)) {
    const rest = (match[1] ?? "").trim();
    if (rest !== "" && !rest.startsWith("#")) throw new Undecided("an invalid document separator");
    // As in kyaml, the line end before the separator belongs to the document.
    const document = text.slice(start, match.index + 1);
    documents.push({ text: document, line });
    line += countLines(document) + 1;
    start = match.index + match[0].length;
  }
  documents.push({ text: text.slice(start), line });
  return documents;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The number of lines that end before an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
