import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { maxTagPageBytes, packTags, unpackTags } from "../../../lib/core/tag-pages.ts";

test("image tags are packed into pages that fit into an item each, and come back in their order", () => {
  const tags = Array.from({ length: 10_000 }, (_, index) => `${index}-${"x".repeat(120)}`);
  const pages = packTags(tags);
  expect(pages.length).toBeGreaterThan(4);
  for (const page of pages) expect(inflateRawSync(page).length).toBeLessThanOrEqual(maxTagPageBytes);
  expect(unpackTags(pages)).toEqual(tags);
});

test("no image tags give no pages", () => {
  expect(packTags([])).toEqual([]);
  expect(unpackTags([])).toEqual([]);
});
