import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { retryByReason } from "../../../lib/core/failure.ts";

const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/troubleshooting.md"), "utf8");

/** The reasons of conditions and events that the page names, in code: two capital letters, no dot and no space. */
const named = new Set(
  [...page.matchAll(/`([A-Z][a-z]+[A-Z]\w+|[A-Z]+[a-z]\w*Invalid|Fail\w+|Unknown|Poisoned)`/g)].map(
    ([, word = ""]) => word,
  ),
);

/** What the page names beside reasons: kinds and alarms. */
const others = new Set(["EventsMissed", "UndeliveredEvents"]);

test("every reason for which Flux's kinds are not Ready has an entry on the page about troubleshooting", () => {
  expect(Object.keys(retryByReason).filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});

test("every reason that the page about troubleshooting names is one that the code gives", async () => {
  const known = new Set<string>();
  for await (const file of glob("lib/**/*.ts", { cwd: root })) {
    for (const [, word = ""] of (await readFile(join(root, file), "utf8")).matchAll(/\b([A-Z]\w+)\b/g)) known.add(word);
  }
  expect(named.size).toBeGreaterThan(60);
  expect([...named].filter((reason) => !known.has(reason) && !others.has(reason))).toEqual([]);
});
