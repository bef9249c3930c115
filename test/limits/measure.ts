import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { keyOf, type WorstInput } from "./worst-input.ts";

/** What one read cost. */
export interface Cost {
  /** The longest stretch of processor time of the main thread between two turns of the event loop. */
  readonly blockedMs: number;
  /** How far the memory of the process grew, at its peak. */
  readonly grownMiB: number;
  /** How long the reference work takes here, over the time that it takes on the reference machine: 2 on one that is half as fast. */
  readonly slowness: number;
}

const bytesOfMiB = 1024 * 1024;
/** Of {@link referenceWork} on two quiet cores of an AMD EPYC. */
const referenceMs = 45;

/**
 * Plays the worst input with this name in this process, and prints a {@link Cost}.
 *
 * @param list the module beside this one that exports the input: `readers/git.ts`. The others, and the product's modules that
 *   they import, are then not loaded. By default, that of all lists.
 */
async function main(key: string | undefined, list = "readers.ts"): Promise<void> {
  const lists: Readonly<Record<string, readonly WorstInput[]>> = await import(`./${list}`);
  const input = Object.values(lists)
    .flat()
    .find((each) => keyOf(each) === key);
  if (input === undefined) throw new RangeError(`no worst input is named ${key}`);
  const read = await input.make();
  const slownessBefore = slowness();
  globalThis.gc?.();
  const before = resetPeak();
  const watch = watchLoop();
  await read();
  const blockedMs = watch.longest();
  const grownMiB = Math.max(0, peakBytes() - before) / bytesOfMiB;
  process.stdout.write(JSON.stringify({ blockedMs, grownMiB, slowness: Math.max(slownessBefore, slowness()) }));
  // A thread or a timer of the reader does not keep the process.
  process.exit();
}

/** Processor time is counted, so that a busy machine makes no stretch longer. */
function watchLoop(): { readonly longest: () => number } {
  let longest = 0;
  let last = cpuMs();
  const look = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    longest() {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function slowness(): number {
  const begun = cpuMs();
  referenceWork();
  return Math.max(1, (cpuMs() - begun) / referenceMs);
}

/** Hashing, and work on objects, as readers do it. */
function referenceWork(): void {
  const block = Buffer.alloc(16 * bytesOfMiB, "a");
  createHash("sha1").update(block).digest();
  const text = JSON.stringify(Array.from({ length: 50_000 }, (_, index) => ({ index, name: `n${index}` })));
  JSON.parse(text);
}

/** Resident bytes now. From here on Linux counts a new peak. */
function resetPeak(): number {
  if (process.platform === "linux") writeFileSync("/proc/self/clear_refs", "5");
  return process.memoryUsage.rss();
}

function peakBytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

await main(process.argv[2], process.argv[3]);
