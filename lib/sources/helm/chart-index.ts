import { constructFromEvents, type Event, parseEvents, YAMLException } from "js-yaml";
import { type TimeSlices, timeSlices } from "../../core/concurrency.ts";
import { messageOf } from "../../core/failure.ts";
import type { Json } from "../../core/json.ts";
import { refuseAliasBomb } from "../../manifests/alias-bomb.ts";
import { goSchema } from "../../manifests/go-yaml/go-schema.ts";
import { goYamlFault } from "../../manifests/go-yaml/go-yaml-fault.ts";
import { Unacceptable } from "../../manifests/read-failure.ts";
import type { ChartIndex, IndexFormat } from "./chart-entry.ts";
import { type IndexLimits, maxIndexAliases, maxIndexDepth, maxPieceBytes } from "./index-limits.ts";
import { type IndexPiece, NamedTwice, NotInPieces, yamlPieces } from "./index-pieces.ts";
import { IndexReader } from "./index-reader.ts";
import { jsonPieces, looksLikeJson } from "./json-pieces.ts";

/**
 * Reads the index of a Helm repository as Flux does: as JSON if it is, else as strict YAML. Charts that Helm does not accept are left
 * out. The index is parsed in pieces, so that memory follows its size and other work goes on. Throws a `RangeError` with Flux's text
 * behind `failed to load index: `.
 */
export async function readIndex(bytes: Uint8Array, limits: IndexLimits, signal: AbortSignal): Promise<ChartIndex> {
  if (bytes.length > limits.maxBytes) {
    throw new RangeError(`index exceeds the maximum index file size of ${limits.maxBytes} bytes`);
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) throw new RangeError("empty index.yaml file");
  if (looksLikeJson(buffer)) {
    try {
      return await readPieces(jsonPieces(buffer), "json", limits, signal);
    } catch (error) {
      // Flow style of YAML begins like JSON.
      if (!(error instanceof NotInPieces || error instanceof SyntaxError)) throw error;
    }
  }
  try {
    return await readPieces(yamlPieces(buffer), "yaml", limits, signal);
  } catch (error) {
    if (!(error instanceof NotInPieces || error instanceof YAMLException)) throw error;
    if (buffer.length > maxPieceBytes) throw tooLargeAtOnce(error);
    await timeSlices(signal).pause();
    return await readPieces(wholeYaml(buffer), "yaml", limits, signal);
  }
}

function tooLargeAtOnce(cause: Error): RangeError {
  if (cause instanceof NamedTwice) {
    const why = `key ${JSON.stringify(cause.key)} already set in map`;
    return new RangeError(`error converting YAML to JSON: yaml: unmarshal errors: ${why}`, { cause });
  }
  const why = `it is not written as helm repo index writes it, and more than ${maxPieceBytes} bytes cannot be read at once`;
  return new RangeError(`error converting YAML to JSON: yaml: ${why} (${messageOf(cause)})`, { cause });
}

/** The whole index as one piece, for forms that only a parser can read. */
function* wholeYaml(buffer: Buffer): Generator<IndexPiece & { readonly isWhole: true }> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(buffer);
  } catch (error) {
    throw new RangeError("error converting YAML to JSON: yaml: invalid UTF-8", { cause: error });
  }
  yield { kind: "field", text, isWhole: true };
}

async function readPieces(
  pieces: Iterable<IndexPiece & { readonly isWhole?: true }>,
  format: IndexFormat,
  limits: IndexLimits,
  signal: AbortSignal,
): Promise<ChartIndex> {
  const reader = new IndexReader(format, limits);
  const slices = timeSlices(signal);
  const begun = performance.now();
  for (const piece of pieces) {
    if (piece.text.length > maxPieceBytes) throw new RangeError(`one entry has more than ${maxPieceBytes} bytes`);
    if (piece.kind !== "none") {
      reader.add(piece, format === "json" ? parseJsonPiece(piece) : await parseYamlPiece(piece, slices));
    }
    if (performance.now() - begun > limits.maxMs)
      throw new RangeError(`it takes more than ${limits.maxMs / 1_000} s to read`);
    if (slices.isOver()) await slices.pause();
  }
  return reader.index();
}

function parseJsonPiece({ text }: IndexPiece): Json {
  const value: unknown = JSON.parse(text);
  return isJson(value) ? value : null;
}

async function parseYamlPiece(
  { text, isWhole }: IndexPiece & { readonly isWhole?: true },
  slices: TimeSlices,
): Promise<Json> {
  let events: Event[] = [];
  try {
    events = parseEvents(text, { maxDepth: maxIndexDepth });
    refuseAliasBomb(events, { text, line: 1 });
    const documents = constructFromEvents(events, { source: text, schema: goSchema, maxAliases: maxIndexAliases });
    const [value = null, ...others] = [...documents];
    if (others.length > 0 && isWhole !== true) throw new NotInPieces("several documents");
    return isJson(value) ? value : null;
  } catch (error) {
    if (error instanceof Unacceptable) {
      throw new RangeError(`error converting YAML to JSON: yaml: ${error.message}`, { cause: error });
    }
    if (!(error instanceof YAMLException) || isWhole !== true) throw error;
    await slices.pause();
    throw new RangeError(`error converting YAML to JSON: ${yamlText(error, text, events)}`, { cause: error });
  }
}

/** In go-yaml's words where they are known, else in js-yaml's. */
function yamlText(error: YAMLException, text: string, events: readonly Event[]): string {
  return `yaml: ${goYamlFault(error, text, events) ?? `line ${(error.mark?.line ?? 0) + 1}: ${error.reason}`}`;
}

/** JSON and js-yaml with this schema make only values that JSON has. */
function isJson(value: unknown): value is Json {
  return value === null || ["bigint", "boolean", "number", "object", "string"].includes(typeof value);
}
