import { setImmediate } from "node:timers/promises";
import type { WorstInput } from "../worst-input.ts";

const mebibyte = 1024 * 1024;

function work(ms: number): void {
  const cpuMs = (): number => process.threadCpuUsage().user / 1000;
  for (const end = cpuMs() + ms; cpuMs() < end; );
}

/** Readers that the tests of the measurement know the cost of. They read nothing. */
export const badReaders: readonly WorstInput[] = [
  {
    reader: "test/limits/readers/bad.ts",
    name: "blocks for half a second",
    memoryMiB: 64,
    make: async () => async () => work(500),
  },
  {
    reader: "test/limits/readers/bad.ts",
    name: "works for half a second in slices",
    memoryMiB: 64,
    make: async () => async () => {
      for (let slice = 0; slice < 25; slice++) {
        work(20);
        await setImmediate();
      }
    },
  },
  {
    reader: "test/limits/readers/bad.ts",
    name: "holds 300 MiB for a moment",
    memoryMiB: 64,
    make: async () => async () => Buffer.alloc(300 * mebibyte, "a").length,
  },
];
