import { z } from "zod";
import type { InventoryOwner } from "../../core/ports/inventory-store.ts";
import { bytesOf, keyPart, numberOf, pack, type Row, textOf, unpack, workSortKey } from "./rows.ts";

/** The pages of an inventory. */
export interface InventoryPointer {
  /** A new one for each save, so that a reader knows which save it has read. */
  readonly generation: string;
  /** The generation of the owner's spec that it was saved under. */
  readonly savedUnder?: number | undefined;
  /** The generation of each page, empty for a page without entries; or the texts of the pages themselves if they are short. */
  readonly content:
    | { readonly kind: "pages"; readonly generations: readonly string[] }
    | { readonly kind: "inline"; readonly texts: readonly string[] };
}

/**
 * An inventory of at most this packed size is kept inside its pointer: about 25 objects. Work item and pointer together then stay
 * within the 4 KB of one read unit.
 */
const maxInlineBytes = 2_800;
export const pointerPrefix = `${workSortKey}#inv#`;
const Texts = z.array(z.string());

/** The owner of an inventory, as the key of its pointer contains it. */
export function ownerName({ uid, clusterUid }: InventoryOwner): string {
  return keyPart(`${clusterUid}#${uid}`);
}

/** The uid of the cluster of an {@link ownerName}; undefined for that of another owner. */
export function clusterOfOwner(owner: string, uid: string): string | undefined {
  return owner.endsWith(`#${uid}`) ? owner.slice(0, -uid.length - 1) : undefined;
}

export function pointerSortKey(owner: string): string {
  return `${pointerPrefix}${owner}`;
}

/** Undefined for another row of the object. */
export function ownerOfPointer(row: Row): string | undefined {
  const sortKey = textOf(row, "sk");
  return sortKey.startsWith(pointerPrefix) ? sortKey.slice(pointerPrefix.length) : undefined;
}

/** The content of an inventory of these pages if it is short enough to be inside the pointer. */
export function inlineContent(texts: readonly string[]): InventoryPointer["content"] | undefined {
  return packTexts(texts).length <= maxInlineBytes ? { kind: "inline", texts } : undefined;
}

export function pointerAttributes({ generation, savedUnder, content }: InventoryPointer): Row {
  const packed = packTexts(content.kind === "inline" ? content.texts : content.generations);
  const under = savedUnder === undefined ? {} : { savedUnder: { N: String(savedUnder) } };
  return { generation: { S: generation }, ...under, kind: { S: content.kind }, content: { B: packed } };
}

export function pointerOf(row: Row): InventoryPointer {
  const generation = textOf(row, "generation");
  const texts = Texts.parse(JSON.parse(unpack(bytesOf(row, "content"))));
  const isInline = textOf(row, "kind") === "inline";
  const savedUnder = row["savedUnder"] === undefined ? undefined : numberOf(row, "savedUnder");
  return {
    generation,
    savedUnder,
    content: isInline ? { kind: "inline", texts } : { kind: "pages", generations: texts },
  };
}

function packTexts(texts: readonly string[]): Uint8Array {
  return pack(JSON.stringify(texts));
}
