import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Reporter, startVitest } from "vitest/node";

/** How a test file in a folder of its own, outside this repository, imports vitest. */
export const vitestModule = JSON.stringify(import.meta.resolve("vitest"));

/**
 * Writes `tests` to `a.test.ts` in the folder and runs the test files there with this reporter alone. `more` are further
 * options of vitest. The results do not change the exit code of this process.
 */
export async function runVitest(folder: string, tests: string, reporter: Reporter, more: object = {}): Promise<void> {
  await writeFile(join(folder, "a.test.ts"), tests);
  const vitest = await startVitest("test", [], {
    config: false,
    root: folder,
    watch: false,
    include: ["*.test.ts"],
    pool: "threads",
    reporters: [reporter],
    ...more,
  });
  await vitest.close();
}
