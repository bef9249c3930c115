import { emptyPage } from "../../apply/page-text.ts";
import { mapLimit } from "../../core/map-limit.ts";
import type { Fence } from "../../core/ports/fence.ts";
import { bytesOf, keyOf, numberOf, type Row, type RowKey, textOf } from "./attributes.ts";
import { batchGet } from "./batch-get.ts";
import { batchWrite } from "./batch-write.ts";
import { isNoLater } from "./inventory-generation.ts";
import type { InventoryPointer } from "./inventory-pointer.ts";
import { pack, unpack } from "./pack.ts";
import type { PageCache } from "./page-cache.ts";
import { queryRows } from "./query-rows.ts";
import type { StateTable } from "./state-table.ts";

/** Whose pages: each is a partition of its own, with one item for each generation of it. */
export interface PagesOf {
  /** Of the object. */
  readonly partition: string;
  readonly owner: string;
}

/** How long a page that no pointer names may be one that is about to be named. Longer than a lease, and clocks differ. */
const collectAfterMs = 600_000;
const concurrency = 8;

function pageKey({ partition, owner }: PagesOf, page: number, generation: string): RowKey {
  return { pk: `${partition}#inv#${owner}#${page}`, sk: generation };
}

/** The texts of the pages that a pointer names; undefined where one of them is gone. */
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
  // A page never changes under its name, so any copy of the table will do; only what is missing in it may be newer.
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

/** Writes the pages that have changed and answers the generation of each page. Nobody reads them before a pointer names them. */
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
 * Removes what no pointer names any more of the pages that have changed: replaced ones, and those of writers that died before
 * their swap. Young ones are left to a later save, unless there will be none for that page.
 *
 * @param fence of the holder that has put `after` in the place of `before`. It may have lost its lease since, and only a
 * successor can have had pages named by now: theirs are left alone
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
    // The inventory is saved all the same; what is left takes room until the next save of that page.
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
