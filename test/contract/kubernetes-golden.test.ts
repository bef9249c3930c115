import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { families, readCases } from "./golden/recorded-case.ts";
import { runCase } from "./golden/run-case.ts";

/** Cases that docs/embedded-cluster.md lists as answered otherwise. */
const differing = new Set(
  Array.from(
    readFileSync(new URL("../../docs/embedded-cluster.md", import.meta.url), "utf8").matchAll(
      /^\| `([a-z]+\/[a-z-]+)` \|/gm,
    ),
    ([, name = ""]) => name,
  ),
);

describe.each(families)("the embedded API server answers as recorded: %s", (family) => {
  test.concurrent.each(readCases(family))("$name: $title", { timeout: 60_000 }, async (recorded) => {
    const difference = await runCase(recorded);
    // The first of the two is what the list says, so that a listed case that passes fails here.
    expect({
      differs: difference !== undefined,
      difference: differing.has(recorded.name) ? "as listed" : difference,
    }).toEqual(
      differing.has(recorded.name)
        ? { differs: true, difference: "as listed" }
        : { differs: false, difference: undefined },
    );
  });
});

test("every case that docs/embedded-cluster.md lists exists", () => {
  const names = new Set(families.flatMap((family) => readCases(family).map(({ name }) => name)));
  expect([...differing].filter((name) => !names.has(name))).toEqual([]);
});
