import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { ourVerdict } from "./our-verdict.ts";

const Recorded = z.tuple([z.string(), z.enum(["expression", "ignore", "range", "template"]), z.string(), z.string()]);

test.each([
  { dialect: "range", of: "ranges of versions" },
  { dialect: "expression", of: "regular expressions" },
  { dialect: "ignore", of: "ignore patterns" },
  { dialect: "template", of: "templates of variable substitution" },
])("$of: Sluice agrees with recorded results of Flux's libraries", async ({ dialect }) => {
  const text = await readFile(new URL("../../fixtures/dialects/recorded.jsonl", import.meta.url), "utf8");
  const recorded = text
    .trimEnd()
    .split("\n")
    .map((line) => Recorded.parse(JSON.parse(line)))
    .filter((one) => one[1] === dialect);
  const ours = await Promise.all(recorded.map(async ([, ...one]) => [await ourVerdict(one), ...one]));
  expect(recorded.length).toBe(600);
  expect(ours).toEqual(recorded);
});
