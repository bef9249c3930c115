import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { digestOf } from "./digest.ts";

/** The limit for an uncompressed page: a DynamoDB item has at most 400 KB, and compression makes no page much larger. */
export const maxTagPageBytes = 256 * 1024;

const Tags = z.array(z.string());

/** The tags as texts that each fit in an item, in their order; a page is a list in JSON. Pure. */
export function packTags(tags: readonly string[]): readonly Uint8Array[] {
  const pages: Uint8Array[] = [];
  let page: string[] = [];
  let bytes = 2;
  for (const tag of tags) {
    const text = JSON.stringify(tag);
    const size = Buffer.byteLength(text) + 1;
    if (bytes + size > maxTagPageBytes && page.length > 0) {
      pages.push(packed(page));
      page = [];
      bytes = 2;
    }
    page.push(text);
    bytes += size;
  }
  return page.length === 0 ? pages : [...pages, packed(page)];
}

function packed(texts: readonly string[]): Uint8Array {
  return deflateRawSync(`[${texts.join(",")}]`);
}

/** The tags of these pages. Throws a `TypeError` or `RangeError` for bytes that {@link packTags} has not made. */
export function unpackTags(pages: readonly Uint8Array[]): readonly string[] {
  return pages.flatMap((page) => {
    const text = inflateRawSync(page, { maxOutputLength: maxTagPageBytes }).toString("utf8");
    return Tags.parse(JSON.parse(text));
  });
}

/** Equal for equal pages: what a store compares before it writes. */
export function digestOfPages(pages: readonly Uint8Array[]): string {
  return digestOf(Buffer.concat(pages));
}
