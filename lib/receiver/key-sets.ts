import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import { type Http, HttpError } from "../core/ports/http.ts";
import { type Discovery, readDiscovery } from "./discovery.ts";
import { isSignedBy, type JsonWebToken, maxKeys, type PublicKey, publicKeys } from "./json-web-token.ts";
import { ageOf, type Moment, momentOf } from "./moment.ts";
import { RequestRefused } from "./request-refused.ts";

/** For as long a document of an issuer counts; a key that it withdraws counts for as long. */
const keptMs = 5 * 60_000;
/** For as long an issuer that did not answer is not asked again. */
const failedMs = 5_000;
const timeoutMs = 5_000;
export const maxDocumentBytes = 1024 * 1024;
const maxRedirects = 3;
/** The limit for the documents of all issuers together. Beyond it the oldest are forgotten. */
const maxDocuments = 200;
/** The memory that the keys of all issuers take, about. Beyond it the oldest are forgotten. */
const maxKeptBytes = 16 * 1024 * 1024;
/** How much memory a key takes in addition to its name. */
const bytesOfKey = 4 * 1024;
/** How often in a minute tokens with unknown keys make us ask one issuer again: anyone can send such tokens. */
export const maxRefreshesPerMinute = 5;
/** After this time without a request, any token may cause one, so that forged tokens cannot delay the use of a rotated key for longer. */
const reservedAfterMs = 30_000;

interface Document<Value> {
  readonly fetchedAt: Moment;
  readonly value: Promise<Value>;
  /** How much memory the value takes, once it is known. */
  bytes: number;
  hasFailed: boolean;
  /** The keys that were requested and are not in it. */
  readonly missing: Set<string>;
  /** When it, and those before it, were asked for again: in the last minute. */
  refreshes: readonly Moment[];
  /** While it is asked for again. */
  next?: Promise<Value> | undefined;
}

/** Documents of issuers by their URL: fetched by the guarded client, kept briefly, each fetched once for all who wait. */
export interface KeySets {
  /** The discovery document at `url`; undefined if it is none. @throws RequestRefused with Flux's wording of what is wrong */
  document(url: string, signal: AbortSignal): Promise<Discovery | undefined>;
  /** Whether a key at `url` has signed the token. With none that has, they are fetched again, a few times in a minute. */
  hasSigned(url: string, token: JsonWebToken, signal: AbortSignal): Promise<boolean>;
}

export function keySets({ http, clock }: { readonly http: Http; readonly clock: Clock }): KeySets {
  const documents = cache(
    clock,
    async (url) => readDiscovery(await fetchJson(http, url)),
    (document) => JSON.stringify(document ?? "").length,
  );
  const keys = cache(
    clock,
    async (url) => keysIn(url, await fetchJson(http, url)),
    (found) => found.reduce((sum, { kid = "" }) => sum + bytesOfKey + kid.length, 0),
  );
  return {
    document: documents.get,
    async hasSigned(url, token, signal) {
      const isCached = keys.has(url);
      if (isSignedBy(token, await keys.get(url, signal))) return true;
      return isCached && isSignedBy(token, await keys.refreshed(url, token.kid ?? "", signal));
    },
  };
}

function cache<Value>(clock: Clock, fetch: (url: string) => Promise<Value>, bytesOf: (value: Value) => number) {
  const kept = new Map<string, Document<Value>>();
  const current = (url: string): Document<Value> | undefined => {
    const found = kept.get(url);
    if (found === undefined) return undefined;
    return ageOf(found.fetchedAt, clock) < (found.hasFailed ? failedMs : keptMs) ? found : undefined;
  };
  const keep = (url: string, document: Document<Value>): void => {
    kept.delete(url);
    kept.set(url, document);
    forgetOldest(kept);
  };
  const load = (url: string): Document<Value> => {
    const refreshes = kept.get(url)?.refreshes ?? [];
    // By no caller's signal, since others may wait for the same document.
    const value = fetch(url);
    const document: Document<Value> = {
      fetchedAt: momentOf(clock),
      value,
      bytes: 0,
      hasFailed: false,
      missing: new Set(),
      refreshes,
    };
    value.then(
      (found) => {
        document.bytes = bytesOf(found);
        forgetOldest(kept);
      },
      () => (document.hasFailed = true),
    );
    keep(url, document);
    return document;
  };
  /** Replaces a document by its successor, if there is one: an issuer that fails takes nothing away. */
  const replace = async (url: string, old: Document<Value>, what: string): Promise<Value> => {
    const fetchedAt = momentOf(clock);
    old.refreshes = [...old.refreshes, fetchedAt];
    old.missing.add(what);
    try {
      const value = await fetch(url);
      const { refreshes } = old;
      const missing = new Set([what]);
      const bytes = bytesOf(value);
      keep(url, { fetchedAt, value: Promise.resolve(value), bytes, hasFailed: false, missing, refreshes });
      return value;
    } finally {
      old.next = undefined;
    }
  };
  const mayReplace = (old: Document<Value>, what: string): boolean => {
    old.refreshes = old.refreshes.filter((at) => ageOf(at, clock) < 60_000);
    if (ageOf(old.refreshes.at(-1) ?? old.fetchedAt, clock) >= reservedAfterMs) return true;
    // The last one is for later.
    return !old.missing.has(what) && old.refreshes.length < maxRefreshesPerMinute - 1;
  };
  return {
    has: (url: string): boolean => current(url) !== undefined,
    get: (url: string, signal: AbortSignal): Promise<Value> => orAborted((current(url) ?? load(url)).value, signal),
    /** The document after it was asked for again, if it may be, because `what` is not in it. */
    refreshed: (url: string, what: string, signal: AbortSignal): Promise<Value> => {
      const old = current(url) ?? load(url);
      if (old.next === undefined && mayReplace(old, what)) old.next = replace(url, old, what);
      return orAborted(old.next ?? old.value, signal);
    },
  };
}

function forgetOldest(map: Map<string, { readonly bytes: number }>): void {
  let bytes = 0;
  for (const document of map.values()) bytes += document.bytes;
  for (const [url, document] of map) {
    if (map.size <= maxDocuments && bytes <= maxKeptBytes) return;
    map.delete(url);
    bytes -= document.bytes;
  }
}

function keysIn(url: string, document: unknown): readonly PublicKey[] {
  try {
    return publicKeys(document);
  } catch {
    throw new RequestRefused(`${url} is not a JSON Web Key Set of at most ${maxKeys} keys`);
  }
}

async function fetchJson(http: Http, url: string): Promise<unknown> {
  const headers = { accept: "application/json" };
  try {
    const response = await http.send(
      { method: "GET", url, headers, timeoutMs, maxBytes: maxDocumentBytes, maxRedirects },
      AbortSignal.timeout(2 * timeoutMs),
    );
    if (response.status !== 200) throw new RequestRefused(`${url} answered ${response.status}`);
    return JSON.parse(Buffer.from(response.body).toString());
  } catch (error) {
    if (error instanceof RequestRefused) throw error;
    const why = error instanceof HttpError ? error.message : `${url}: the answer is not JSON`;
    throw new RequestRefused(error instanceof SyntaxError || error instanceof HttpError ? why : messageOf(error), {
      cause: error,
    });
  }
}
