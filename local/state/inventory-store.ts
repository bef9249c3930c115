import { z } from "zod";
import { arrangePages, emptyPage, entriesOfPages } from "../../lib/apply/inventory-pages.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { Fence } from "../../lib/core/ports/fence.ts";
import type { InventoryOwner, InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { numberColumn, type StateDatabase, textColumn } from "./state-database.ts";

/** How long a page is kept that no pointer names any longer. */
const collectAfterMs = 600_000;

/** The content of a pointer: the generation of each page, 0 for an empty one. */
const Generations = z.array(z.int().min(0)).min(1);

interface Pointer {
  readonly generation: number;
  /** The generation of the owner's spec that it was saved under. */
  readonly savedUnder: number | undefined;
  readonly pages: readonly number[];
}

/** Inventories in pages by hash of the entry id; a pointer row names each page's generation and is swapped with one write. */
export function sqliteInventoryStore({ connection, fenced }: StateDatabase, clock: Clock): InventoryStore {
  const whose = "key = ? AND owner_uid = ? AND cluster_uid = ?";
  const selectPointer = connection.prepare(`SELECT generation, saved_under, pages FROM inventories WHERE ${whose}`);
  const putPointer = connection.prepare(
    "INSERT OR REPLACE INTO inventories (generation, saved_under, pages, key, owner_uid, cluster_uid) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const selectClusters = connection.prepare("SELECT cluster_uid FROM inventories WHERE key = ? AND owner_uid = ?");
  const selectPage = connection.prepare(
    `SELECT entries FROM inventory_pages WHERE ${whose} AND page = ? AND generation = ?`,
  );
  const insertPage = connection.prepare(
    "INSERT INTO inventory_pages (key, owner_uid, cluster_uid, page, generation, entries) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const replacePage = connection.prepare(
    `UPDATE inventory_pages SET replaced_at = ? WHERE ${whose} AND page = ? AND generation = ?`,
  );
  const collect = connection.prepare("DELETE FROM inventory_pages WHERE replaced_at < ?");
  const removePointer = connection.prepare(`DELETE FROM inventories WHERE ${whose}`);
  const removePages = connection.prepare(`DELETE FROM inventory_pages WHERE ${whose}`);

  const pointerOf = (id: OwnerId): Pointer | undefined => {
    const row = selectPointer.get(...id);
    if (row === undefined) return undefined;
    const pages = Generations.parse(JSON.parse(textColumn(row, "pages")));
    const savedUnder = row["saved_under"] === null ? undefined : numberColumn(row, "saved_under");
    return { generation: numberColumn(row, "generation"), savedUnder, pages };
  };
  /** The text of each page, as it was written. */
  const pagesOf = (id: OwnerId, { pages }: Pointer): readonly string[] =>
    pages.map((generation, page) => {
      if (generation === 0) return emptyPage;
      const row = selectPage.get(...id, page, generation);
      if (row === undefined) throw new Error(`page ${page} of the inventory of ${id[0]} is missing from the state`);
      return textColumn(row, "entries");
    });
  const write = (
    id: OwnerId,
    savedUnder: number | undefined,
    texts: readonly string[],
    before: Pointer | undefined,
    textsBefore: readonly string[],
  ) => {
    const isSame = (page: number): boolean => texts.length === textsBefore.length && texts[page] === textsBefore[page];
    const isSaved = texts.length === textsBefore.length && texts.every((_, page) => isSame(page));
    if (before !== undefined && before.savedUnder === savedUnder && isSaved) return;
    const generation = (before?.generation ?? 0) + 1;
    const now = clock.now();
    for (const [page, old] of (before?.pages ?? []).entries()) {
      if (!isSame(page)) replacePage.run(now, ...id, page, old);
    }
    const pages = texts.map((text, page) => {
      if (isSame(page)) return before?.pages[page] ?? 0;
      if (text === emptyPage) return 0;
      insertPage.run(...id, page, generation, text);
      return generation;
    });
    putPointer.run(generation, savedUnder ?? null, JSON.stringify(pages), ...id);
    collect.run(now - collectAfterMs);
  };

  return {
    async load(owner, fence, signal) {
      signal.throwIfAborted();
      const id = ownerId(owner, fence);
      const pointer = pointerOf(id);
      if (pointer === undefined) return undefined;
      return entriesOfPages(pagesOf(id, pointer));
    },
    async savedUnder(owner, fence, signal) {
      signal.throwIfAborted();
      return pointerOf(ownerId(owner, fence))?.savedUnder;
    },
    async save(owner, entries, fence, signal) {
      signal.throwIfAborted();
      const id = ownerId(owner, fence);
      fenced(fence, () => {
        const before = pointerOf(id);
        const textsBefore = before === undefined ? [] : pagesOf(id, before);
        write(id, owner.generation, arrangePages(entries, textsBefore), before, textsBefore);
      });
    },
    async clusters({ uid }, { key }, signal) {
      signal.throwIfAborted();
      return selectClusters.all(formatWorkKey(key), uid).map((row) => textColumn(row, "cluster_uid"));
    },
    async remove(owner, fence, signal) {
      signal.throwIfAborted();
      const id = ownerId(owner, fence);
      fenced(fence, () => {
        removePointer.run(...id);
        removePages.run(...id);
      });
    },
  };
}

type OwnerId = readonly [key: string, ownerUid: string, clusterUid: string];

function ownerId({ uid, clusterUid }: InventoryOwner, { key }: Fence): OwnerId {
  return [formatWorkKey(key), uid, clusterUid];
}
