import { describe, expect, test } from "vitest";
import { UnreadableWorkItem, type WorkItems } from "../../../lib/core/ports/work-items.ts";
import { reconcileRequests, requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { never } from "../../contract/state-back-end.ts";
import { key, queueWorld } from "./queue-world.ts";

/** The queue with some calls to its table replaced, and a count of the calls of each kind. */
function countedWorld(replaced: (items: WorkItems) => Partial<WorkItems>) {
  const world = queueWorld();
  const calls = { get: 0, put: 0 };
  const { get, put } = { ...world.deps.items, ...replaced(world.deps.items) };
  const items: typeof world.deps.items = {
    ...world.deps.items,
    get: (...args) => ((calls.get += 1), get(...args)),
    put: (...args) => ((calls.put += 1), put(...args)),
  };
  return { ...world, calls, deps: { ...world.deps, items } };
}

describe("a request", () => {
  test("that hits a conflict at each attempt gives up after fifty, and names the object", async () => {
    const { deps, calls, sent } = countedWorld(() => ({ put: async () => "conflict" }));
    await expect(requestReconcile(key, "test", deps, never)).rejects.toThrow(
      "Kustomization/apps/web: the work item was changed by others 50 times in a row",
    );
    expect([calls, sent]).toEqual([{ get: 50, put: 50 }, []]);
  });

  test("that a waiting request already covers writes and sends nothing", async () => {
    const { deps, calls, sent } = countedWorld(() => ({}));
    await requestReconcile(key, "test", deps, never);
    await requestReconcile(key, "test", deps, never);
    expect([calls, sent.length]).toEqual([{ get: 2, put: 1 }, 1]);
  });

  test("does not call the table once its time is up", async () => {
    const { deps, calls } = countedWorld(() => ({}));
    const signal = AbortSignal.abort(new Error("time is up"));
    await expect(requestReconcile(key, "test", deps, signal)).rejects.toThrow("time is up");
    expect(calls).toEqual({ get: 0, put: 0 });
  });

  test("whose time is up while the table does not answer ends with that reason at once", async () => {
    const stop = new AbortController();
    const { deps, calls } = countedWorld(() => ({
      get: async () => {
        stop.abort(new Error("time is up"));
        throw new Error("no answer");
      },
    }));
    let slept = 0;
    const clock = { ...deps.clock, sleep: async () => void (slept += 1) };
    await expect(requestReconcile(key, "test", { ...deps, clock }, stop.signal)).rejects.toThrow("time is up");
    expect([calls.get, slept]).toEqual([1, 0]);
  });

  test("does not read an unreadable row again", async () => {
    const { deps, calls } = countedWorld(() => ({ get: () => Promise.reject(new UnreadableWorkItem("row", "odd")) }));
    await expect(requestReconcile(key, "test", deps, never)).rejects.toThrow(UnreadableWorkItem);
    expect(calls.get).toBe(1);
  });

  test("among several fails all of them if the table cannot be reached", async () => {
    const { deps } = countedWorld(() => ({ get: () => Promise.reject(new Error("the table is away")) }));
    await expect(reconcileRequests(deps).request(key, "test", never)).rejects.toThrow("the table is away");
  });
});
