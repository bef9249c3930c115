import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { expect, test } from "vitest";
import { z } from "zod";
import { declaredKinds, readByCanaries } from "../../../lib/api/kinds/declared-kinds.ts";

const readme = await readFile(join(import.meta.dirname, "../../../README.md"), "utf8");
const maxWords = 900;
const Shown = z.looseObject({ kind: z.string(), spec: z.record(z.string(), z.json()) });

test("the README has at most 900 words", () => {
  expect(readme.split(/\s+/).filter((word) => word !== "").length).toBeLessThanOrEqual(maxWords);
});

test("the README has a row for every kind", () => {
  const cells = [...readme.matchAll(/^\| ([A-Z][^|]*) \|/gm)].map(([, cell = ""]) => cell);
  const named = cells.flatMap((cell) => cell.split(/, | and |with /)).filter((word) => word !== "");
  expect(named.toSorted()).toEqual([...declaredKinds, ...readByCanaries].map(({ kind }) => kind).toSorted());
});

test("the objects in the README have fields that their kinds know", async () => {
  const blocks = [...readme.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = ""]) => text);
  const objects = blocks.flatMap((text) => loadAll(text)).map((value) => Shown.parse(value));
  expect(objects.map(({ kind }) => kind)).toEqual(["GitRepository", "Kustomization"]);
  for (const { kind, spec } of objects) {
    const schema = (await declaredKinds.find((declared) => declared.kind === kind)?.schemas())?.spec;
    expect(schema?.safeParse(spec).error).toBeUndefined();
  }
});
