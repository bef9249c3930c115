import { maxExclusions } from "../../../lib/api/image-repository.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { formatBarred, maxBarred, parseBarred } from "../../../lib/image/barred/barred-images.ts";
import { choices } from "../../../lib/image/choose/choices.ts";
import { filterTags, maxFilterChars } from "../../../lib/image/choose/filter-tags.ts";
import { rankingOf } from "../../../lib/image/choose/ranking.ts";
import { maxRegexLength } from "../../../lib/image/compile-regex.ts";
import { scanTags } from "../../../lib/image/scan.ts";
import { maxTagLength, maxTags } from "../../../lib/sources/oci/registry-client.ts";
import type { WorstInput } from "../worst-input.ts";

const { signal } = new AbortController();
const byNumber = { numerical: { order: "asc" } } as const;

/** As long as a tag can be, in descending order. */
function longTags(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => String(count - at).padStart(maxTagLength, "1"));
}

/** The worst inputs of what chooses among the tags of an image. */
export const imageReaders: readonly WorstInput[] = [
  {
    reader: "lib/image/scan.ts",
    name: `${maxTags} tags and expressions that try everything`,
    memoryMiB: 100,
    make: async () => {
      const tags = longTags(maxTags);
      const pattern = "(1|1?1?1?)*".repeat(Math.floor(maxRegexLength / 11)).concat("$x");
      return () => scanTags(tags, Array<string>(maxExclusions).fill(pattern), signal, 1_000).catch(messageOf);
    },
  },
  {
    reader: "lib/image/scan.ts",
    name: `${maxTags} tags that are all kept`,
    memoryMiB: 150,
    make: async () => {
      const tags = longTags(maxTags).toReversed();
      return () => scanTags(tags, ["^.*\\.sig$"], signal);
    },
  },
  {
    reader: "lib/image/choose/filter-tags.ts",
    name: `${maxTags} tags and a pattern that tries everything`,
    memoryMiB: 100,
    make: async () => {
      const tags = longTags(maxTags);
      const pattern = "(1|1?1?1?)*".repeat(Math.floor(maxFilterChars / 11)).concat("$");
      return () => filterTags(tags, { pattern, extract: "$1" }, signal, 1_000).catch(messageOf);
    },
  },
  {
    reader: "lib/image/choose/filter-tags.ts",
    name: "a template that repeats each tag",
    memoryMiB: 100,
    make: async () => {
      const tags = longTags(maxTags);
      return () =>
        filterTags(tags, { pattern: ".*", extract: "$0".repeat(maxFilterChars / 2) }, signal).catch(messageOf);
    },
  },
  {
    reader: "lib/image/choose/go-float.ts",
    name: `${maxTags} tags that are long numbers, all but one of them barred`,
    memoryMiB: 150,
    make: async () => {
      const tags = longTags(maxTags);
      const candidates = tags.map((tag) => ({ key: tag, tag }));
      return async () => {
        const ordered = await choices(candidates, rankingOf(byNumber), signal);
        let passed = 0;
        for await (const _ of ordered) if (passed++ === maxBarred) break;
        return passed;
      };
    },
  },
  {
    reader: "lib/image/choose/expand-template.ts",
    name: "a template of as many references as it can have",
    memoryMiB: 60,
    make: async () => {
      const tags = longTags(1_000);
      const extract = "$1".repeat(maxFilterChars / 2);
      return () => filterTags(tags, { pattern: "^(1)", extract }, signal).catch(messageOf);
    },
  },
  {
    reader: "lib/image/barred/barred-images.ts",
    name: `${maxBarred} images with long reasons`,
    memoryMiB: 40,
    make: async () => {
      const digest = `sha256:${"a".repeat(64)}`;
      const why = "b ".repeat(1_000);
      const barred = Array.from({ length: maxBarred }, (_, at) => ({ tag: `1.${at}.0`, digest, why }));
      const text = formatBarred(barred);
      return async () => parseBarred(text).length;
    },
  },
];
