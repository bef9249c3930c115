import { describe, expect, test } from "vitest";
import type { Flow } from "../../../lib/core/ports/run.ts";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { sweep } from "../../../lib/queue/sweep.ts";
import { maxAnnouncements, maxAttempts } from "../../../lib/queue/timing.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { applied, key, queueWorld } from "./queue-world.ts";

describe("a run that has lost its lease when it ends", () => {
  /** Requests and runs it; `change` is what becomes of the row while it runs. */
  async function ended(change: (world: ReturnType<typeof queueWorld>) => void, isAnswered = true) {
    const world = queueWorld();
    await requestReconcile(key, "test", world.deps, never);
    let isEnding = false;
    const put: typeof world.deps.items.put = async (item, signal) => {
      if (!isEnding || isAnswered) return world.deps.items.put(item, signal);
      isEnding = false;
      await world.deps.items.put(item, signal);
      change(world);
      throw new Error("no answer");
    };
    const flow: Flow = async () => {
      if (isAnswered) change(world);
      isEnding = true;
      return { outcome: "applied", dueInMs: 5_000 };
    };
    await world.handle(flow, undefined, never, { ...world.deps, items: { ...world.deps.items, put } });
    return { row: world.row(), sent: world.sent.slice(1) };
  }

  const taken = ({ row, store }: ReturnType<typeof queueWorld>): void => {
    const item = row();
    if (item === undefined) throw new Error("no item");
    store({ ...item, version: item.version + 1, token: item.token + 1, lease: { holder: "other", renewals: 0 } });
  };
  const voided = ({ row, store }: ReturnType<typeof queueWorld>): void => {
    const item = row();
    if (item === undefined) throw new Error("no item");
    store({ ...item, version: item.version + 1, lease: undefined, dueAt: 7 });
  };

  test.each([
    { name: "another handler has taken it", change: taken, isAnswered: true },
    { name: "it was voided", change: voided, isAnswered: true },
    { name: "another handler took it before the answer to the end came", change: taken, isAnswered: false },
  ])("writes and sends nothing if $name", async ({ change, isAnswered }) => {
    const { row, sent } = await ended(change, isAnswered);
    expect(row).toMatchObject(change === taken ? { lease: { holder: "other" } } : { dueAt: 7 });
    expect(sent).toEqual([]);
  });
});

describe("a wake-up", () => {
  test("for an object whose last run succeeded does not read its input", async () => {
    const { deps, handle, row } = queueWorld();
    await requestReconcile(key, "test", deps, never);
    let looks = 0;
    const inputOf = async (): Promise<string> => `${(looks += 1)}`;
    await handle(applied, undefined, never, { ...deps, inputOf });
    expect([looks, row()?.handled]).toEqual([0, 1]);
  });

  test("whose time is up while it reads an input writes nothing", async () => {
    const { deps, handle, row, store } = queueWorld();
    store(workItem(key, { started: 1, attempts: 3, input: "a", dueAt: 7 }));
    const stop = new AbortController();
    const inputOf = async (): Promise<string> => {
      stop.abort(new Error("time is up"));
      throw new Error("no answer");
    };
    const handled = handle(applied, { key: formatWorkKey(key), dueAt: 7 }, stop.signal, { ...deps, inputOf });
    await expect(handled).rejects.toThrow("time is up");
    expect(row()).toMatchObject({ version: 1, attempts: 3 });
  });

  test("that started beside other runs gives up its place if its object must run alone by then", async () => {
    const { deps, handle, store, skip } = queueWorld();
    const place = deps.runPlaces.tryEnter(true);
    store(workItem(key, { requested: 1 }));
    const hasCompany: boolean[] = [];
    const handled = handle(async () => {
      hasCompany.push(deps.runPlaces.tryEnter(false) !== undefined);
      return { outcome: "applied", dueInMs: undefined };
    });
    await skip(1);
    // Meanwhile it ran in another process, which died.
    store(workItem(key, { version: 2, requested: 2, started: 1, attempts: 1, died: true, input: "other" }));
    place?.[Symbol.dispose]();
    await handled;
    expect(hasCompany).toEqual([false]);
  });
});

describe("an object that is parked", () => {
  test("gets a default reason if its last run is unknown, costs two writes, and always sends a dead letter", async () => {
    const parked = async (attempts: number) => {
      const { deps, handle, store, told, letters, row } = queueWorld();
      store(workItem(key, { started: 1, attempts, input: "input", dueAt: 7 }));
      const calls: string[] = [];
      const items: typeof deps.items = {
        ...deps.items,
        get: (...args) => (calls.push("get"), deps.items.get(...args)),
        put: (...args) => (calls.push("put"), deps.items.put(...args)),
      };
      await handle(applied, { key: formatWorkKey(key), dueAt: 7 }, never, { ...deps, items });
      expect(calls).toEqual(["get", "put", "put"]);
      expect(row()?.phase).toBe("Poisoned");
      return [told.length, letters.map(({ message }) => message.replace(/.*because: (.*?)\. .*/, "$1"))];
    };
    const why = "the handler was killed or ran out of time";
    expect(await parked(maxAttempts)).toEqual([1, [why]]);
    expect(await parked(maxAttempts + maxAnnouncements)).toEqual([0, [why]]);
  });
});

describe("the sweep", () => {
  /** Sweeps; `reads` is how many pages of what is overdue it asked for. */
  async function swept(count: number, replaced: (items: ReturnType<typeof queueWorld>["deps"]["items"]) => object) {
    const { deps, sent, store } = queueWorld();
    for (let index = 0; index < count; index += 1) store(workItem(keyOf(`o${index}`), { started: 1, dueAt: 5 }));
    let reads = 0;
    const items = { ...deps.items, ...replaced(deps.items) };
    const overdue: typeof items.overdue = async function* (...args) {
      for await (const page of items.overdue(...args)) {
        reads += 1;
        yield page;
      }
    };
    const woken = await sweep({ ...deps, items: { ...items, overdue } }, never);
    return { woken, reads, sent: sent.length };
  }

  test("reads each page once", async () => {
    expect(await swept(99, () => ({}))).toEqual({ woken: 99, reads: 1, sent: 99 });
    expect(await swept(250, () => ({}))).toEqual({ woken: 250, reads: 3, sent: 250 });
  });

  test("skips items that others have changed meanwhile, and continues after a page with only such items", async () => {
    const put = async ({ key: { name } }: WorkItem) => (Number(name.slice(1)) < 150 ? "conflict" : "stored");
    expect(await swept(250, () => ({ put }))).toEqual({ woken: 100, reads: 3, sent: 100 });
  });

  test("skips an item that its index still lists but that is no longer overdue", async () => {
    const late = workItem(key, { started: 1, dueAt: 9e9 });
    expect(
      await swept(0, () => ({
        overdue: async function* () {
          yield { items: [late], unreadable: [] };
        },
      })),
    ).toEqual({
      woken: 0,
      reads: 1,
      sent: 0,
    });
  });
});

describe("the log line of a run that has ended", () => {
  async function logged(flow: Flow) {
    const world = queueWorld();
    const log = recordedLog();
    await requestReconcile(key, "test", world.deps, never);
    await world.handle(flow, undefined, never, { ...world.deps, log });
    return log;
  }
  const failure = { reason: "BuildFailed", message: "kustomize build failed: no such file" };

  test.each(["failed", "stalled"])("has the level error, the reason and the message if it %s", async (outcome) => {
    const { errors } = await logged(async () => ({ outcome, failure, dueInMs: 5_000 }));
    const { reason, message: error } = failure;
    expect(errors).toEqual([
      { message: "reconcile failed", key, outcome, dueInMs: 5_000, durationMs: 0, reason, error },
    ]);
  });

  test("has the level info if it waits for another object, and says why", async () => {
    const { infos } = await logged(async () => ({ outcome: "waiting", failure, dueInMs: 5_000 }));
    const { reason, message: error } = failure;
    expect(infos).toMatchObject([{ message: "reconcile finished", outcome: "waiting", reason, error }]);
  });
});
