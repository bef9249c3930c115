import { defineConfig } from "vitest/config";
import { listSkipped } from "./test/report/list-skipped.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Isolation costs about 320 ms a file on two cores; every test cleans up after itself instead.
    isolate: false,
    pool: "threads",
    reporters: ["default", listSkipped((text) => process.stdout.write(text))],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
