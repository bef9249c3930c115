import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { maxTagPageBytes, packTags, unpackTags } from "../../../lib/core/tag-pages.ts";

test("tags are packed in pages that fit in an item each, and come back in their order", () => {
  const tags = Array.from({ length: 10_000 }, (_, index) => `${index}-${"x".repeat(120)}`);
  const pages = packTags(tags);
  expect(pages.length).toBeGreaterThan(4);
  for (const page of pages) expect(inflateRawSync(page).length).toBeLessThanOrEqual(maxTagPageBytes);
  expect(unpackTags(pages)).toEqual(tags);
});

test("no tags are no pages", () => {
  expect(packTags([])).toEqual([]);
  expect(unpackTags([])).toEqual([]);
});
