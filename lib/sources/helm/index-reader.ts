import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { compareSemver, readSemver, type SemverVersion } from "../semver-version.ts";
import { type ChartIndex, type IndexedChart, type IndexFormat, mismatch, readChart, readField } from "./chart-entry.ts";
import { goString, goTime, goValue, JsonBudget, zeroTime } from "./go-json.ts";
import type { IndexLimits } from "./index-limits.ts";
import { type IndexPiece, NamedTwice, NotInPieces } from "./index-pieces.ts";

/** A version of a chart, with its JSON and its place in the order. */
interface Kept {
  readonly chart: IndexedChart;
  readonly json: Buffer;
  readonly version: SemverVersion;
}

/** Takes the pieces of an index in their order, and puts together what they say. */
export class IndexReader {
  readonly #format: IndexFormat;
  readonly #limits: IndexLimits;
  readonly #fields = new Map<string, Json>();
  /** All fields that were there, also those that hold nothing. */
  readonly #named = new Set<string>();
  /** The versions of each complete chart, newest first, with their JSON. */
  readonly #charts = new Map<string, { readonly charts: readonly IndexedChart[]; readonly json: Buffer }>();
  /** The chart whose versions come in; `kept` is undefined where the index has null in place of a list. */
  #open: { readonly name: string; readonly kept: Kept[] | undefined } | undefined;
  #hasEntries = false;
  #versions = 0;
  #bytes = 0;

  constructor(format: IndexFormat, limits: IndexLimits) {
    this.#format = format;
    this.#limits = limits;
  }

  /** Throws a `RangeError`, in Flux's words, for what cannot be in an index. */
  add({ kind }: { readonly kind: Exclude<IndexPiece["kind"], "none"> }, value: Json): void {
    switch (kind) {
      case "field":
        if (value !== null) this.#addFields(value);
        return;
      case "chart":
        if (!isJsonObject(value)) throw new NotInPieces("a chart without versions");
        this.#hasEntries = true;
        this.#addCharts(value);
        return;
      case "versions":
        this.#addVersions(value);
    }
  }

  #addFields(value: Json): void {
    if (!isJsonObject(value)) throw this.#refusal(mismatch(value, "", "repo.IndexFile"));
    for (const [name, field] of Object.entries(value)) {
      if (this.#format === "yaml" && this.#named.has(name)) throw new NamedTwice(name);
      this.#named.add(name);
      switch (name) {
        case "entries":
          if (field === null) break;
          if (!isJsonObject(field))
            throw this.#refusal(mismatch(field, "IndexFile.entries", "map[string]repo.ChartVersions"));
          this.#hasEntries = true;
          this.#addCharts(field);
          break;
        case "apiVersion":
        case "generated":
        case "serverInfo":
        case "publicKeys":
        case "annotations":
          this.#set(name, field);
          break;
        default:
          if (this.#format === "yaml")
            throw this.#refusal(new RangeError(`json: unknown field ${JSON.stringify(name)}`));
      }
    }
  }

  #set(name: keyof typeof kinds, field: Json): void {
    const value = this.#refusing(() => readField(field, kinds[name], this.#format, `IndexFile.${name}`));
    if (value === undefined) this.#fields.delete(name);
    else this.#fields.set(name, value);
  }

  #addCharts(charts: JsonObject): void {
    for (const [name, versions] of Object.entries(charts)) {
      this.#complete();
      if (this.#format === "yaml" && this.#charts.has(name)) throw new NamedTwice(name);
      this.#count(this.#charts.size, name.length);
      this.#open = { name: detached(name), kept: versions === null ? undefined : [] };
      if (versions !== null) this.#addVersions(versions);
    }
  }

  /** Puts the versions of the open chart in order, and joins what is written of them. */
  #complete(): void {
    if (this.#open === undefined) return;
    const { name, kept } = this.#open;
    this.#open = undefined;
    // As Go's sort does it for a few: those of equal precedence stay in the order of the index.
    const sorted = kept?.toSorted((one, other) => compareSemver(other.version, one.version)) ?? [];
    const parts = sorted.flatMap(({ json }, at) => [Buffer.from(at === 0 ? "[\n      " : ",\n      "), json]);
    parts.push(Buffer.from(kept === undefined ? "null" : kept.length === 0 ? "[]" : "\n    ]"));
    this.#charts.set(name, { charts: sorted.map(({ chart }) => chart), json: Buffer.concat(parts) });
  }

  #addVersions(versions: Json): void {
    const kept = this.#open?.kept;
    if (!isJsonList(versions)) throw this.#refusal(mismatch(versions, "IndexFile.entries", "repo.ChartVersions"));
    if (kept === undefined) throw new NotInPieces("versions without a chart");
    for (const one of versions) {
      this.#count(++this.#versions, 0);
      const budget = this.#budget();
      const read = this.#refusing(() => readChart(one, this.#format, budget));
      const version = read && readSemver(read.chart.version);
      if (read === undefined || version === undefined) continue;
      const json = Buffer.from(read.json);
      this.#count(this.#versions, json.length);
      kept.push({ chart: detachedChart(read.chart), json, version });
    }
  }

  #count(versions: number, bytes: number): void {
    const { maxStoredBytes, maxVersions } = this.#limits;
    if (versions > maxVersions) throw new RangeError(`it has more than ${maxVersions} charts or versions`);
    this.#bytes += bytes;
    if (this.#bytes > maxStoredBytes) throw new RangeError(`it takes more than ${maxStoredBytes} bytes as JSON`);
  }

  #budget(): JsonBudget {
    return new JsonBudget(this.#limits.maxStoredBytes, this.#bytes);
  }

  #refusing<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw error instanceof RangeError ? this.#refusal(error) : error;
    }
  }

  #refusal(error: RangeError): RangeError {
    const prefix = this.#format === "yaml" ? "error unmarshaling JSON: while decoding JSON: " : "";
    return new RangeError(prefix + error.message, { cause: error });
  }

  /** What all pieces together say. Throws a `RangeError` without an API version. */
  index(): ChartIndex {
    this.#complete();
    const budget = this.#budget();
    const apiVersion = this.#text("apiVersion");
    if (apiVersion === "") throw new RangeError("no API version specified");
    const entries = new Map<string, readonly IndexedChart[]>();
    const names = [...this.#charts.keys()].toSorted(compareBytes);
    const parts: Buffer[] = [];
    const write = (text: string): void => void parts.push(Buffer.from(text));
    write(`{\n${this.#field("serverInfo", budget)}  "apiVersion": ${goString(apiVersion)},\n`);
    const generated = goTime(this.#text("generated"))?.text ?? zeroTime;
    write(`  "generated": ${goString(generated)},\n  "entries": ${this.#hasEntries ? "{" : "null"}`);
    for (const [index, name] of names.entries()) {
      const found = this.#charts.get(name);
      if (found === undefined) continue;
      write(`${index === 0 ? "" : ","}\n    ${goString(name)}: `);
      parts.push(found.json);
      entries.set(name, found.charts);
    }
    if (this.#hasEntries) write(names.length === 0 ? "}" : "\n  }");
    const last = ["publicKeys", "annotations"]
      .map((name) => this.#field(name, budget).replace(/,\n$/, ""))
      .filter((one) => one !== "");
    write([...last.map((one) => `,\n${one}`), "\n}"].join(""));
    return { entries, json: Buffer.concat(parts) };
  }

  #text(name: string): string {
    const value = this.#fields.get(name);
    return typeof value === "string" ? value : "";
  }

  /** A field that is left out where it is empty, with the comma behind it. */
  #field(name: string, budget: JsonBudget): string {
    const value = this.#fields.get(name);
    if (value === undefined || (isJsonList(value) && value.length === 0)) return "";
    if (isJsonObject(value) && Object.keys(value).length === 0) return "";
    return `  ${goString(name)}: ${goValue(value, "  ", budget)},\n`;
  }
}

const kinds = {
  apiVersion: { kind: "string", takesScalars: true },
  generated: { kind: "time" },
  serverInfo: { kind: "object" },
  publicKeys: { kind: "strings", takesScalars: true },
  annotations: { kind: "annotations", takesScalars: true },
} as const;

/** Go sorts names by their bytes. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The same text as one of its own: a part of a text keeps all of that text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}

function detachedChart({ name, version, digest, urls, ...rest }: IndexedChart): IndexedChart {
  return {
    ...rest,
    name: detached(name),
    version: detached(version),
    ...(digest === undefined ? {} : { digest: detached(digest) }),
    urls: urls.map(detached),
  };
}
