import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Isolation costs about 320 ms a file on two cores; every test cleans up after itself instead.
    isolate: false,
    pool: "threads",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
