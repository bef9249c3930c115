import { z } from "zod";
import type { InventoryOwner } from "../../core/ports/inventory-store.ts";
import { bytesOf, numberOf, type Row, textOf } from "./attributes.ts";
import { pack, unpack } from "./pack.ts";
import { keyPart, workSortKey } from "./row-keys.ts";

/** Which pages an inventory consists of. */
export interface InventoryPointer {
  /** Random with each save, so that whoever looks knows which save it was. */
  readonly generation: string;
  /** The generation of the owner's spec that it was saved under. */
  readonly savedUnder?: number | undefined;
  /** The generation of each page, empty for a page without entries; or the pages' texts themselves, where they are short. */
  readonly content:
    | { readonly kind: "pages"; readonly generations: readonly string[] }
    | { readonly kind: "inline"; readonly texts: readonly string[] };
}

/**
 * An inventory that packs to this is kept inside its pointer: about 25 objects. Work item and pointer then stay within the
 * 4 KB that one read unit pays for.
 */
const maxInlineBytes = 2_800;
const pointerPrefix = `${workSortKey}#inv#`;
const Texts = z.array(z.string());

/** Whose inventory a pointer is, as its key says it. */
export function ownerName({ uid, clusterUid }: InventoryOwner): string {
  return keyPart(`${clusterUid}#${uid}`);
}

export function pointerSortKey(owner: string): string {
  return `${pointerPrefix}${owner}`;
}

/** Undefined for another row of the object. */
export function ownerOfPointer(row: Row): string | undefined {
  const sortKey = textOf(row, "sk");
  return sortKey.startsWith(pointerPrefix) ? sortKey.slice(pointerPrefix.length) : undefined;
}

/** The content of an inventory of these pages if it is short enough to need no pages of its own. */
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
