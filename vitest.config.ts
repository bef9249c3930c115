import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { listSkipped } from "./test/report/list-skipped.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Isolation costs about 320 ms a file on two cores; every test cleans up after itself instead.
    isolate: false,
    pool: "threads",
    // Many files wait for a process, a server or a deadline most of their time, so there is one more than can compute at once.
    maxWorkers: availableParallelism() + 1,
    reporters: ["default", listSkipped((text) => process.stdout.write(text))],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
