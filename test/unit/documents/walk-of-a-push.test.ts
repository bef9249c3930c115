import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const begin = "## The walk of one push";

test("following the page about a push to a deletion needs at most 25 files, and each of them exists", async () => {
  const text = await readFile(join(root, "docs/maintainers/architecture.md"), "utf8");
  const [, walk = ""] = text.split(begin);
  const [section = ""] = walk.split("\n## ");
  const files = new Set([...section.matchAll(/`([^`]+\.ts)`/g)].map(([, file = ""]) => file));
  expect(files).toContain("functions/ingest.ts");
  expect(files).toContain("lib/apply/prune/decide-prune.ts");
  expect(files.size).toBeLessThanOrEqual(25);
  expect([...files].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
