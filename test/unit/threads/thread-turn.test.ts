import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noTenant } from "../../../lib/core/tenant.ts";
import { moduleThreads } from "../../../lib/engine/module-threads.ts";
import { limitThreads, threadTurn } from "../../../lib/threads/thread-job.ts";

const { signal } = new AbortController();

beforeEach(() => limitThreads(1));
afterEach(() => limitThreads(2));

test("in a process with little memory one thread works at a time", async () => {
  const first = await threadTurn(noTenant, signal);
  let isSecondThere = false;
  const second = threadTurn(noTenant, signal).then((turn) => {
    isSecondThere = true;
    return turn;
  });
  await setImmediate();
  expect(isSecondThere).toBe(false);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
});

test("kustomize takes the same turn before its thread starts, and returns it if that fails", async () => {
  const taken: string[] = [];
  const threads = moduleThreads(
    {
      file: new URL("./missing.wasm.br", import.meta.url),
      threads: 1,
      idleMs: 1,
      sharedTurn: (tenant, stop) => {
        taken.push("turn");
        return threadTurn(tenant, stop);
      },
    },
    1,
  );
  const request = () => {
    taken.push("request");
    return new Uint8Array();
  };
  const limits = { maxCpuMs: 1_000, maxWallMs: 1_000, maxOutputBytes: 1 };
  await expect(threads.ask(noTenant, request, limits, signal)).rejects.toThrow("missing.wasm.br");
  expect(taken).toEqual(["turn"]);
  (await threadTurn(noTenant, signal))[Symbol.dispose]();
});
