import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import type { WorkItems } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { gatedCluster } from "../../../lib/gate/gated-cluster.ts";
import { leasedCluster } from "../../../lib/gate/leased-cluster.ts";
import { type GateCheck, writeGate } from "../../../lib/gate/write-gate.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { Shutdown } from "../../../lib/queue/run-under-lease.ts";
import { maxAttempts } from "../../../lib/queue/timing.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { applied, key, queueWorld } from "./queue-world.ts";

/** Calls fail after having succeeded, as often as given. */
function failingAfterSuccess<Items extends WorkItems>(items: Items, times: number): Items {
  let left = times;
  return {
    ...items,
    put: async (item, signal) => {
      const answer = await items.put(item, signal);
      left -= 1;
      if (left >= 0) throw new Error("no answer");
      return answer;
    },
  };
}

describe("requestReconcile", () => {
  test("sends the wake-up even if its own write got no answer and is found as a waiting request", async () => {
    const { deps, sent, row } = queueWorld();
    await requestReconcile(key, "test", { ...deps, items: failingAfterSuccess(deps.items, 1) }, never);
    expect(row()?.requested).toBe(1);
    expect(sent).toEqual([{ wakeUp: { key: formatWorkKey(key) }, delayMs: 0 }]);
  });

  test("throws after five attempts if the store cannot be reached", async () => {
    const { deps, sent } = queueWorld();
    let calls = 0;
    const get = async (): Promise<undefined> => {
      calls += 1;
      throw new Error("the table is gone");
    };
    await expect(requestReconcile(key, "test", { ...deps, items: { ...deps.items, get } }, never)).rejects.toThrow(
      "the table is gone",
    );
    expect([calls, sent]).toEqual([5, []]);
  });
});

describe("handleWakeUp", () => {
  test("costs one read and two writes for an undisturbed run", async () => {
    const { deps, handle } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const calls: string[] = [];
    const items: typeof deps.items = {
      ...deps.items,
      get: (...args) => (calls.push("get"), deps.items.get(...args)),
      put: (...args) => (calls.push("put"), deps.items.put(...args)),
    };
    await handle(applied, undefined, never, { ...deps, items });
    expect(calls).toEqual(["get", "put", "put"]);
  });

  test("recognises its own lease and its own end of run if both writes got no answer", async () => {
    const { deps, sent, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const items = failingAfterSuccess(deps.items, 2);
    await handle(async () => ({ outcome: "waiting", dueInMs: 5_000 }), undefined, never, { ...deps, items });
    expect(row()).toMatchObject({ handled: 1, token: 1, lease: undefined, attempts: 0 });
    expect(sent.at(-1)?.wakeUp).toEqual({ key: formatWorkKey(key), dueAt: row()?.dueAt });
  });

  test("stops the writes of a run within five seconds after another installation takes the cluster over, and counts no attempt", async () => {
    const { deps, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const { clock } = deps;
    let takenOverAt = Infinity;
    const check: GateCheck = async () =>
      clock.now() >= takenOverAt ? { reason: "owner", message: "this cluster belongs to another Sluice" } : undefined;
    const written: number[] = [];
    const apply: Cluster["apply"] = async (manifest, { beforeSend }) => {
      beforeSend?.();
      written.push(clock.now());
      return { object: { ...manifest, metadata: { ...manifest.metadata, uid: "u" } }, created: true, warnings: [] };
    };
    const cluster = gatedCluster({ ...noCluster, apply }, writeGate([check], { clock, log: silentLog }));
    const flow: Flow = async (run) => {
      const leased = leasedCluster(asHome(cluster), run);
      for (let second = 0; second < 30; second++) {
        if (second === 10) takenOverAt = clock.now();
        const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `m${second}` } };
        await leased.apply(manifest, { manager: "test", force: true }, run.signal);
        await clock.sleep(1_000, run.signal);
      }
      return { outcome: "applied", dueInMs: undefined };
    };
    const before = row();
    await handle(flow);
    expect(written.length).toBeGreaterThan(9);
    expect(written.length).toBeLessThan(30);
    expect(Math.max(...written) - takenOverAt).toBeLessThan(5_000);
    expect(row()).toMatchObject({
      requested: before?.requested,
      handled: 0,
      attempts: 0,
      lease: undefined,
      fault: undefined,
    });
  });

  test("passes the memo of the last run to the next", async () => {
    const { deps, handle } = queueWorld();
    const memos: unknown[] = [];
    const flow: Flow = async ({ carried }) => {
      memos.push(carried);
      return { outcome: "waiting", dueInMs: undefined, carried: { since: 3 } };
    };
    for (const reason of ["first", "second"]) {
      await requestReconcile(key, reason, deps, never);
      await handle(flow);
    }
    expect(memos).toEqual([undefined, { since: 3 }]);
  });

  test("tells a waiting run about a newer request", async () => {
    const { deps, handle } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const seen: boolean[] = [];
    await handle(async (run) => {
      seen.push(await run.superseded());
      await requestReconcile(key, "newer", deps, never);
      seen.push(await run.superseded());
      return { outcome: "superseded", dueInMs: undefined };
    });
    expect(seen).toEqual([false, true]);
  });

  test("continues a run that cannot check for newer requests", async () => {
    const { deps, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    let gets = 0;
    const get: WorkItems["get"] = (...args) => {
      gets += 1;
      return gets === 1 ? deps.items.get(...args) : Promise.reject(new Error("throttled"));
    };
    const flow: Flow = async (run) => ({ outcome: `${await run.superseded()}`, dueInMs: undefined });
    await handle(flow, undefined, never, { ...deps, items: { ...deps.items, get } });
    expect(row()).toMatchObject({ handled: 1, attempts: 0 });
  });

  test("hands a run back when the process shuts down: no attempt is counted, the lease is released, a wake-up is sent", async () => {
    const { deps, sent, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const process = new AbortController();
    await handle(
      async (run) => {
        process.abort(new Shutdown("SIGTERM"));
        run.signal.throwIfAborted();
        return { outcome: "applied", dueInMs: undefined };
      },
      undefined,
      process.signal,
    );
    expect(row()).toMatchObject({ lease: undefined, attempts: 0, handled: 0 });
    expect(sent.at(-1)).toEqual({ wakeUp: { key: formatWorkKey(key), dueAt: row()?.dueAt }, delayMs: 0 });
  });

  test("counts an attempt for a run that is aborted because its time is up", async () => {
    const { deps, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    const invocation = new AbortController();
    await handle(
      async (run) => {
        invocation.abort(new Error("time is up"));
        run.assertLease();
        return { outcome: "applied", dueInMs: undefined };
      },
      undefined,
      invocation.signal,
    );
    expect(row()).toMatchObject({ lease: undefined, attempts: 1, fault: "time is up" });
  });

  test("logs which object is parked, after how many runs, why, and how it can be resumed", async () => {
    const { handle, letters, told, store, row } = queueWorld();
    store(workItem(key, { started: 1, attempts: maxAttempts, input: "input", fault: "the flow has a bug", dueAt: 7 }));
    await handle(applied, { key: formatWorkKey(key), dueAt: 7 });
    expect(told).toEqual([
      "Kustomization/apps/web: 12 runs in a row did not end, the last because: the flow has a bug. It is not run again until its spec or its artifact changes",
    ]);
    expect(letters).toEqual([{ key, attempts: 12, message: told[0] }]);
    expect(row()?.phase).toBe("Poisoned");
  });
});

describe("a run whose last process died", () => {
  test("runs alone: no other run starts in its process", async () => {
    const { deps, handle, row, skip, store } = queueWorld();
    const other = keyOf("other");
    store(workItem(key, { attempts: 1, died: true, dueAt: 5, started: 1, input: "input" }));
    store(workItem(other, { requested: 1 }));
    const log: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const flow: Flow = async (run) => {
      log.push(`begins ${run.key.name}`);
      if (run.key.name === "web") await promise;
      log.push(`ends ${run.key.name}`);
      return { outcome: "applied", dueInMs: undefined };
    };
    const alone = handle(flow, { key: formatWorkKey(key), dueAt: 5 });
    await skip(1);
    const beside = handle(flow, { key: formatWorkKey(other) });
    await skip(1);
    expect(log).toEqual(["begins web"]);
    resolve();
    await Promise.all([alone, beside]);
    expect(log).toEqual(["begins web", "ends web", "begins other", "ends other"]);
    expect(row()).toMatchObject({ attempts: 0, died: false });
    expect(deps.runPlaces.tryEnter(true)).toBeDefined();
  });

  test("takes its lease only when it is alone, and then checks again whether there is something to do", async () => {
    const { deps, handle, row, store, skip } = queueWorld();
    const place = deps.runPlaces.tryEnter(true);
    store(workItem(key, { requested: 1 }));
    const waiting = handle(applied);
    await skip(1);
    expect(row()).toMatchObject({ version: 1, lease: undefined });
    // Another process has done it meanwhile.
    store(workItem(key, { version: 2, requested: 1, started: 1, handled: 1 }));
    place?.[Symbol.dispose]();
    await waiting;
    expect(row()).toMatchObject({ version: 2, token: 0 });
  });
});
