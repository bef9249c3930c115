import { describe, expect, test } from "vitest";
import { eventManifest, type ReportedEvent } from "../../../lib/core/event-manifest.ts";
import type { EventSink } from "../../../lib/core/ports/event-sink.ts";
import type { Flow, Run } from "../../../lib/core/ports/run.ts";
import { maxUntoldBytes, maxUntoldEvents } from "../../../lib/queue/keep-events.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { Shutdown } from "../../../lib/queue/run-under-lease.ts";
import { formatStoredWorkItem, parseStoredWorkItem } from "../../../lib/queue/stored-work-item.ts";
import { sweep, voidLeases } from "../../../lib/queue/sweep.ts";
import { untoldForMs, untoldRetryMaxMs, untoldRetryMs } from "../../../lib/queue/timing.ts";
import { never } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { key, queueWorld } from "./queue-world.ts";

function eventOf(message: string): ReportedEvent {
  const metadata = { name: key.name, namespace: key.namespace, uid: "u" };
  const object = { apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: key.kind, metadata };
  return eventManifest(object, { type: "Normal", reason: "Progressing", message, annotations: {} }, "k", 0);
}

/** A queue whose runs tell events to something that can be away. */
function world() {
  const queue = queueWorld();
  const told: string[] = [];
  const state = { isAway: false, tries: 0 };
  const log = recordedLog();
  const events: EventSink = {
    async tell(_cluster, { message }, relation) {
      state.tries += 1;
      if (state.isAway) throw new Error("the queue of notifications is away");
      told.push(relation === undefined ? message : `${message} (${relation.kind})`);
    },
  };
  const deps = { ...queue.deps, log, events };
  const tells =
    (...messages: readonly string[]): Flow =>
    async ({ events: sink, signal }: Run) => {
      for (const message of messages) await sink?.tell(key.cluster, eventOf(message), { kind: "failed" }, signal);
      return { outcome: "applied", dueInMs: undefined };
    };
  const run = async (flow: Flow, signal = never, with_: typeof deps = deps): Promise<void> => {
    await requestReconcile(key, "test", with_, never);
    await queue.handle(flow, undefined, signal, with_);
  };
  /** Handles the messages that were sent, after the longest of their waits and a sweep. */
  const handleSent = async (flow: Flow): Promise<void> => {
    queue.freeze(untoldRetryMaxMs);
    await sweep(deps, never);
    for (const { wakeUp } of queue.sent.splice(0)) await queue.handle(flow, wakeUp, never, deps);
  };
  return { ...queue, deps, told, state, log, tells, run, handleSent };
}

describe("an event that cannot be sent to Alerts", () => {
  test("waits in the work item, and the next run sends it once, before its own events", async () => {
    const { run, row, state, tells, told } = world();
    state.isAway = true;
    await run(tells("a", "b"));
    expect(row()).toMatchObject({ attempts: 0, fault: undefined, handled: 1 });
    expect(row()?.untold?.map(({ event }) => event.message)).toEqual(["a", "b"]);
    state.isAway = false;
    await run(tells("c"));
    await run(tells());
    expect(told).toEqual(["a (failed)", "b (failed)", "c (failed)"]);
    expect(row()?.untold).toBeUndefined();
  });

  test("is tried once per run, and those after it wait for it", async () => {
    const { run, row, state, tells } = world();
    state.isAway = true;
    await run(tells("a", "b"));
    await run(tells("c"));
    expect(state.tries).toBe(2);
    expect(row()?.untold?.map(({ event }) => event.message)).toEqual(["a", "b", "c"]);
  });

  test("makes another run due with growing delay, even if the object asks for none", async () => {
    const { freeze, run, row, state, tells, deps } = world();
    state.isAway = true;
    await run(tells("a"));
    const dueIn = () => (row()?.dueAt ?? Number.NaN) - deps.clock.now();
    expect(dueIn()).toBe(untoldRetryMs);
    freeze(120_000);
    await run(tells());
    expect(dueIn()).toBe(120_000);
    freeze(untoldForMs / 2);
    await run(tells());
    expect(dueIn()).toBe(untoldRetryMaxMs);
    state.isAway = false;
    await run(tells());
    expect(row()?.dueAt).toBeUndefined();
  });

  test("is dropped after a day, and the log says so", async () => {
    const { freeze, run, row, state, tells, told, log } = world();
    state.isAway = true;
    await run(tells("a"));
    freeze(untoldForMs);
    await run(tells());
    expect([row()?.untold, told]).toEqual([undefined, []]);
    expect(JSON.stringify(log.lines)).toContain("event not sent for a day, it is dropped");
  });

  test(`is one of the last ${maxUntoldEvents} of its object, and the log names dropped ones`, async () => {
    const { run, row, state, tells, log } = world();
    state.isAway = true;
    const messages = Array.from({ length: maxUntoldEvents + 1 }, (_, index) => `m${index}`);
    await run(tells(...messages));
    expect(row()?.untold?.map(({ event }) => event.message)).toEqual(messages.slice(1));
    expect(JSON.stringify(log.lines)).toContain("event dropped, too many of its object wait");
  });

  test(`shares ${maxUntoldBytes} bytes with others, so that the work item's row can store them`, async () => {
    const { run, row, state, tells } = world();
    state.isAway = true;
    const long = "ä".repeat(15_000);
    await run(tells(...Array.from({ length: 10 }, (_, index) => `${index}${long}`)));
    const kept = row()?.untold ?? [];
    expect(kept).toHaveLength(6);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(maxUntoldBytes);
  });

  test("comes back unchanged from the row of its item", async () => {
    const { run, row, state, tells } = world();
    state.isAway = true;
    await run(tells("a"));
    const item = row();
    if (item === undefined) throw new Error("no item");
    expect(parseStoredWorkItem(formatStoredWorkItem(item), "row")).toEqual(item);
  });

  test("and cannot be stored either ends its run, which is repeated", async () => {
    const { handleSent, run, row, state, tells, deps, told } = world();
    state.isAway = true;
    const put: typeof deps.items.put = async (item, signal) => {
      if (item.untold !== undefined) throw new Error("the state table is away");
      return deps.items.put(item, signal);
    };
    await run(tells("a"), never, { ...deps, items: { ...deps.items, put } });
    expect(row()).toMatchObject({ handled: 0, attempts: 1, fault: "the state table is away" });
    state.isAway = false;
    await handleSent(tells("a"));
    expect(told).toEqual(["a (failed)"]);
  });
});

describe("a process that is killed", () => {
  /** How many calls a run makes before it ends, and what is told if it is killed at each of them. */
  async function killedAt(call: number): Promise<{ readonly isKilled: boolean; readonly told: readonly string[] }> {
    const { deps, handle, handleSent, row, state, tells, told } = world();
    await requestReconcile(key, "test", deps, never);
    let calls = 0;
    let isDead = false;
    const process = new AbortController();
    /** A call before which, or after which, the process dies: from then on none of its calls arrives. */
    const mortal = async <Answer>(arrives: () => Promise<Answer>): Promise<Answer> => {
      const die = (): never => {
        isDead = true;
        process.abort(new Shutdown("killed"));
        throw process.signal.reason;
      };
      if (isDead || ++calls === call) return die();
      const answer = await arrives();
      if (++calls === call) return die();
      return answer;
    };
    const status = { isWritten: false };
    const flow: Flow = async (run) => {
      // As flows do: the status says that the event is told, so it comes after it.
      if (!status.isWritten) await tells("failed")(run);
      await mortal(async () => {
        status.isWritten = true;
      });
      return { outcome: "failed", dueInMs: undefined };
    };
    const mortalDeps: typeof deps = {
      ...deps,
      events: { tell: (...event) => mortal(() => deps.events.tell(...event)) },
      items: {
        ...deps.items,
        get: (...of) => mortal(() => deps.items.get(...of)),
        put: (...of) => mortal(() => deps.items.put(...of)),
      },
    };
    state.isAway = true;
    await handle(flow, undefined, process.signal, mortalDeps).catch(() => undefined);
    const isKilled = isDead;
    state.isAway = false;
    await voidLeases(deps, never);
    const next: Flow = async (run) => (status.isWritten ? tells()(run) : tells("failed")(run));
    await handleSent(next);
    expect(row()?.untold).toBeUndefined();
    return { isKilled, told };
  }

  test("between any two of its calls, while events cannot be sent, loses none", async () => {
    const ends: string[] = [];
    for (let call = 1; ; call++) {
      const { isKilled, told } = await killedAt(call);
      ends.push(`${call}: ${[...new Set(told)].join()}`);
      if (!isKilled) break;
    }
    expect(ends.length).toBeGreaterThan(6);
    expect(ends).toEqual(ends.map((_, index) => `${index + 1}: failed (failed)`));
  });
});
