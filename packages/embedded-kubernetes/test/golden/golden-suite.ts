import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Family, readCases } from "./recorded-case.ts";
import { runCase } from "./run-case.ts";

/** Cases that docs/fidelity.md lists as answered otherwise. */
export const differing: ReadonlySet<string> = new Set(
  Array.from(
    readFileSync(new URL("../../docs/fidelity.md", import.meta.url), "utf8").matchAll(/^\| `([a-z]+\/[a-z-]+)` \|/gm),
    ([, name = ""]) => name,
  ),
);

/**
 * Replays the recorded cases of a family, each on a server of its own.
 *
 * @param kubectl answers the path of a kubectl, for the cases that run one
 */
export function goldenSuite(family: Family, kubectl?: () => Promise<string>): void {
  describe(`the embedded API server answers as recorded: ${family}`, () => {
    test.concurrent.each(readCases(family))("$name: $title", async (recorded) => {
      const difference = await runCase(recorded, kubectl);
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
}
