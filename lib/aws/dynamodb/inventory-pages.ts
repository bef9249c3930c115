import { randomUUID } from "node:crypto";
import { emptyPage } from "../../apply/inventory-pages.ts";
import { mapLimit } from "../../core/concurrency.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { InventoryPointer } from "./inventory-pointer.ts";
import { batchGet, queryRows } from "./read-rows.ts";
import { bytesOf, keyOf, numberOf, pack, type Row, type RowKey, textOf, unpack } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { batchWrite } from "./write-rows.ts";

/** The owner of pages. Each page is a partition of its own, with one row for each of its generations. */
export interface PagesOf {
  /** The partition of the object. */
  readonly partition: string;
  readonly owner: string;
}

/** How long a page that no pointer names is kept: a pointer may be about to name it. Longer than a lease, since clocks differ. */
const collectAfterMs = 600_000;
const concurrency = 8;

function pageKey({ partition, owner }: PagesOf, page: number, generation: string): RowKey {
  return { pk: `${partition}#inv#${owner}#${page}`, sk: generation };
}

/** The texts of the pages that a pointer names; undefined if one of them is missing. */
export async function readPages(
  table: StateTable,
  cache: PageCache,
  of: PagesOf,
  { content }: InventoryPointer,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (content.kind === "inline") return content.texts;
  const keys = content.generations.map((generation, page) => pageKey(of, page, generation));
  const found = new Map(keys.map((key) => [key, key.sk === "" ? emptyPage : cache.get(pageName(key))]));
  // A page never changes under its name, so any copy of the table serves; only a page missing there may be newer.
  for (const consistent of [false, true]) {
    const missing = keys.filter((key) => found.get(key) === undefined);
    const rows = await batchGet(table, missing, signal, consistent);
    const byPartition = new Map(rows.map((row) => [textOf(row, "pk"), row]));
    for (const key of missing) {
      const row = byPartition.get(key.pk);
      if (row === undefined) continue;
      const text = unpack(bytesOf(row, "entries"));
      found.set(key, text);
      cache.put(pageName(key), text);
    }
  }
  const texts = keys.map((key) => found.get(key));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function pageName({ pk, sk }: RowKey): string {
  return `${pk} ${sk}`;
}

/** Writes the pages that have changed and answers the generation of each page. They are not read before a pointer names them. */
export async function writePages(
  table: StateTable,
  cache: PageCache,
  of: PagesOf,
  generation: string,
  change: {
    readonly texts: readonly string[];
    readonly textsBefore: readonly string[];
    readonly before: InventoryPointer | undefined;
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { texts, textsBefore, before } = change;
  const generationsBefore = generationsOf(before);
  const generations = texts.map((text, page) => {
    if (text === emptyPage) return "";
    const isKept = texts.length === textsBefore.length && text === textsBefore[page];
    return (isKept ? generationsBefore[page] : undefined) ?? generation;
  });
  const at = { N: String(table.clock.now()) };
  const puts = texts.flatMap((text, page): Row[] => {
    if (generations[page] !== generation) return [];
    return [{ ...keyOf(pageKey(of, page, generation)), entries: { B: pack(text) }, at }];
  });
  await batchWrite(table, { puts }, signal);
  for (const [page, text] of texts.entries()) {
    if (generations[page] === generation) cache.put(pageName(pageKey(of, page, generation)), text);
  }
  return generations;
}

/**
 * Removes the generations that no pointer names any longer from the changed pages: replaced ones, and those of writers that died before
 * their swap. Young ones are left to a later save, unless the page has no later save.
 *
 * @param fence of the holder that replaced `before` by `after`. If it has lost its lease since, a successor may have written pages:
 * those are left alone
 */
export async function collectPages(
  table: StateTable,
  of: PagesOf,
  { before, after }: { readonly before: InventoryPointer | undefined; readonly after: InventoryPointer | undefined },
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const [old, kept] = [generationsOf(before), generationsOf(after)];
  const pages = Array.from({ length: Math.max(old.length, kept.length) }, (_, page) => page);
  const changed = pages.filter((page) => old[page] !== kept[page]);
  const youngest = table.clock.now() - collectAfterMs;
  try {
    const left = await mapLimit(
      changed,
      concurrency,
      async (page, stop) => {
        const found = await generationsOfPage(table, of, page, stop);
        const isOver = page >= kept.length;
        return found
          .filter(({ generation, at }) => generation !== kept[page] && (isOver || at < youngest))
          .filter(({ generation }) => isNoLater(generation, fence))
          .map(({ generation }) => pageKey(of, page, generation));
      },
      signal,
    );
    await batchWrite(table, { deletes: left.flat() }, signal);
  } catch {
    // The inventory is saved nevertheless; these rows stay until the next save of that page.
    signal.throwIfAborted();
  }
}

async function generationsOfPage(table: StateTable, of: PagesOf, page: number, signal: AbortSignal) {
  const query = {
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": { S: pageKey(of, page, "").pk } },
    ExpressionAttributeNames: { "#at": "at" },
    ProjectionExpression: "sk, #at",
  };
  const rows = await queryRows(table, query, signal);
  return rows.map((row) => ({ generation: textOf(row, "sk"), at: numberOf(row, "at") }));
}

function generationsOf(pointer: InventoryPointer | undefined): readonly string[] {
  return pointer?.content.kind === "pages" ? pointer.content.generations : [];
}

/** The name of one save of an inventory and of the pages that it writes: the token of its lease, and a random part. */
export function newGeneration({ token }: Fence): string {
  return `${token}-${randomUUID()}`;
}

/** Whether a save was made under this lease or an earlier one. */
export function isNoLater(generation: string, { token }: Fence): boolean {
  return Number(generation.slice(0, generation.indexOf("-"))) <= token;
}

/** Texts of pages. A name always means the same text. */
export interface PageCache {
  get(name: string): string | undefined;
  put(name: string, text: string): void;
}

/** The most characters in the cache: about 30,000 entries. */
const maxChars = 8_000_000;

/** The latest pages that this process has read or written. A warm process finds an unchanged inventory here. */
export function newPageCache(): PageCache {
  const texts = new Map<string, string>();
  let chars = 0;
  return {
    get: (name) => texts.get(name),
    put(name, text) {
      if (texts.has(name)) return;
      texts.set(name, text);
      chars += text.length;
      for (const [oldest, { length }] of texts) {
        if (chars <= maxChars) break;
        texts.delete(oldest);
        chars -= length;
      }
    },
  };
}
