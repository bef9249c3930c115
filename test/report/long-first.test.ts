import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longFiles } from "./long-first.ts";

test("the test files that are to start first exist", () => {
  const missing = longFiles.filter((name) => !existsSync(join(import.meta.dirname, "..", `${name}.test.ts`)));
  expect(missing).toEqual([]);
});
