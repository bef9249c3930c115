import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { WorkerLimitReached, type WorkerLimits, workerLimit } from "../../../lib/threads/worker-limit.ts";
import { deadlineMs } from "../../deadline.ts";

/** What a thread with this program under these limits comes to: its end, or the limit. */
async function endOf(program: string, limits: WorkerLimits, as = (worker: Worker) => worker): Promise<string> {
  const worker = new Worker(program, { eval: true });
  using limit = workerLimit(as(worker), limits);
  const stopped = new Promise<string>((resolve) => {
    const { signal } = limit;
    signal.addEventListener("abort", () =>
      resolve(signal.reason instanceof WorkerLimitReached ? signal.reason.message : ""),
    );
  });
  try {
    return await Promise.race([stopped, once(worker, "exit").then(() => "ended")]);
  } finally {
    await worker.terminate();
  }
}

test("a thread that computes forever is stopped by its processor time", async () => {
  expect(await endOf("for (;;) {}", { maxCpuMs: 300, maxWallMs: deadlineMs })).toBe("0.3 s of processor time");
  const regex = '/(a+)+$/.test("a".repeat(40) + "b")';
  expect(await endOf(regex, { maxCpuMs: 300, maxWallMs: deadlineMs })).toBe("0.3 s of processor time");
});

test("a thread that gets no processor time, as on a busy machine, is not stopped", async () => {
  const waits = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)";
  expect(await endOf(waits, { maxCpuMs: 1_000, maxWallMs: deadlineMs })).toBe("ended");
});

test("a thread that waits forever is stopped eventually", async () => {
  const waits = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
  expect(await endOf(waits, { maxCpuMs: deadlineMs, maxWallMs: 600 })).toBe("0.6 s");
});

test("on a Node that cannot tell a thread's processor time, a thread is stopped by the clock", async () => {
  const ofNode20 = (worker: Worker) =>
    new Proxy(worker, { has: (_, name) => name !== "cpuUsage", get: () => undefined });
  expect(await endOf("for (;;) {}", { maxCpuMs: 1, maxWallMs: 600 }, ofNode20)).toBe("0.6 s");
});
