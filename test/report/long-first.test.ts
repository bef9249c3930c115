import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longFiles, rankOf } from "./long-first.ts";

const root = join(import.meta.dirname, "../..");
const pathOf = (name: string): string => join(root, `${name}.test.ts`);

test("the test files that are to start first exist", () => {
  expect(longFiles.filter((name) => !existsSync(pathOf(name)))).toEqual([]);
});

test("each of them starts in its place, those of infra/ too, and before any other file", () => {
  const other = join(root, "test/unit/command-line.test.ts");
  const ranks = [...longFiles.map(pathOf), other].map((moduleId) => rankOf({ moduleId }));
  expect(ranks).toEqual([...ranks.keys()]);
});
