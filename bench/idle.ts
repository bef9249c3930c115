import { systemClock } from "../lib/core/system-clock.ts";
import { type Figure, figure } from "./figure.ts";
import { cpuSeconds, residentMb } from "./process-memory.ts";
import { sluiceUnderTest } from "./sluice-under-test.ts";

const settleMs = 10_000;
const samples = 5;
const sampleMs = 4_000;

/** `sluice local` with nothing to do: memory of all its processes and what it takes of a core. */
export async function idle(): Promise<readonly Figure[]> {
  await using sluice = await sluiceUnderTest();
  const { signal } = new AbortController();
  const { pid } = sluice.process;
  await systemClock.sleep(settleMs, signal);
  const memory: number[] = [];
  const cpu: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const before = cpuSeconds(pid);
    await systemClock.sleep(sampleMs, signal);
    cpu.push(((cpuSeconds(pid) - before) / (sampleMs / 1_000)) * 100);
    memory.push(residentMb(pid));
  }
  return [
    figure("sluice local idle, all its processes", "MB", memory, { of: "median", atMost: 150 }),
    figure("sluice local idle", "percent of a core", cpu, { of: "median", atMost: 1 }),
  ];
}
