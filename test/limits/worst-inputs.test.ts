import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type PlayedCost, play } from "./play.ts";
import { badReaders } from "./readers/bad.ts";
import { worstInputs } from "./readers.ts";
import { keyOf, maxBlockedMs } from "./worst-input.ts";

const root = join(import.meta.dirname, "../..");
describe("the worst inputs", () => {
  test("every list of worst inputs is measured", () => {
    const played = globSync("readers/*.test.ts", { cwd: import.meta.dirname }).map((path) =>
      path.replace(".test.ts", ".ts"),
    );
    expect(played.toSorted()).toEqual(
      globSync("readers/*.ts", { cwd: import.meta.dirname })
        .filter((path) => !path.endsWith(".test.ts") && path !== "readers/bad.ts")
        .toSorted(),
    );
  });

  test("every reader is a file, and every input has a unique name", () => {
    expect(worstInputs.filter(({ reader }) => !existsSync(join(root, reader)))).toEqual([]);
    expect(new Set(worstInputs.map(keyOf)).size).toBe(worstInputs.length);
  });
});

describe("the measurement", () => {
  const costOf = (name: string): Promise<PlayedCost> => {
    const input = badReaders.find((each) => each.name === name);
    if (input === undefined) throw new RangeError(name);
    return play(input, "readers/bad.ts");
  };

  test("finds a reader that works for half a second without a pause", async () => {
    expect((await costOf("blocks for half a second")).blockedMs).toBeGreaterThan(maxBlockedMs);
  });

  test("accepts a reader that works as long in slices", async () => {
    expect((await costOf("works for half a second in slices")).blockedMs).toBeLessThanOrEqual(maxBlockedMs);
  });

  test("counts memory that is freed before the end", async () => {
    expect((await costOf("holds 300 MiB for a moment")).grownMiB).toBeGreaterThan(250);
  });
});
