import { beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { asHome } from "../../lib/core/ports/home-and-target.ts";
import type { Flow, Run } from "../../lib/core/ports/run.ts";
import { leasedCluster } from "../../lib/gate/leased-cluster.ts";
import { requestReconcile } from "../../lib/queue/request-reconcile.ts";
import { runPlaces } from "../../lib/queue/run-places.ts";
import { Shutdown } from "../../lib/queue/run-under-lease.ts";
import { never } from "../contract/state-back-end.ts";
import { fileCluster } from "../doubles/file-cluster.ts";
import { key, queueWorld } from "../unit/queue/queue-world.ts";

const count = 40;
const stopsAt = 15;
const group = { group: "", version: "v1", kind: "ConfigMap" };

const embedded = fileCluster({ definitions: false });
let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = embedded);
});

const names = Array.from({ length: count }, (_, index) => `map-${String(index).padStart(2, "0")}`);

/** A run that applies one object after the other; `midway` is called before the one of this number. */
function applying(generation: string, namespace: string, midway: (run: Run) => Promise<void>): Flow {
  return async (run) => {
    const leased = leasedCluster(asHome(cluster), run);
    for (const [index, name] of names.entries()) {
      if (index === stopsAt) await midway(run);
      const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { generation } };
      await leased.apply(manifest, { manager: "story", force: true }, run.signal);
    }
    return { outcome: "applied", dueInMs: undefined };
  };
}

const nothing = async (): Promise<void> => {};

/** Each object with its uid, and the generation of the code that applied it last. */
async function seen(namespace: string): Promise<readonly { name: string; uid: string; data: unknown }[]> {
  const maps = await cluster.list({ ...group, namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" }, never);
  return maps.map(({ metadata, data }) => ({ name: metadata.name, uid: metadata.uid, data }));
}

async function begin(namespace: string) {
  await cluster.create(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { manager: "story" },
    never,
  );
  const world = queueWorld();
  await requestReconcile(key, "a push", world.deps, never);
  const next = { ...world.deps, runPlaces: runPlaces(world.deps.clock), newHolder: () => "second generation" };
  return { ...world, next };
}

describe("a run in progress while functions are replaced", () => {
  test("is handed back by a process that is told to stop, and the second generation continues at once", async () => {
    const { handle, row, sent, next } = await begin("told");
    const stop = new AbortController();
    await handle(
      applying("first", "told", async (run) => {
        stop.abort(new Shutdown("SIGTERM"));
        run.signal.throwIfAborted();
      }),
      undefined,
      stop.signal,
    );
    expect(row()).toMatchObject({ handled: 0, attempts: 0, lease: undefined });
    const before = await seen("told");
    expect(before.map(({ name }) => name)).toEqual(names.slice(0, stopsAt));

    const last = sent.at(-1);
    expect(last?.delayMs).toBe(0);
    await handle(applying("second", "told", nothing), last?.wakeUp, never, next);
    const after = await seen("told");
    expect(after.map(({ name, data }) => [name, data])).toEqual(names.map((name) => [name, { generation: "second" }]));
    // Nothing was made twice.
    expect(after.slice(0, stopsAt).map(({ uid }) => uid)).toEqual(before.map(({ uid }) => uid));
    expect(row()).toMatchObject({ handled: 1, token: 2, lease: undefined });
  });

  test("is taken over from a dead process, whose late writes are refused", async () => {
    const { handle, row, sent, freeze, next } = await begin("killed");
    const gone = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const first = handle(
      applying("first", "killed", async () => {
        reached.resolve();
        await gone.promise;
      }),
    );
    await reached.promise;
    const second = applying("second", "killed", nothing);
    await handle(second, undefined, never, next);
    // The lease still holds: the second generation looks again when it may have run out.
    expect(row()).toMatchObject({ handled: 0, token: 1 });
    for (let looks = 0; looks < 5 && row()?.token === 1; looks++) {
      const last = sent.at(-1);
      freeze(last?.delayMs ?? 0);
      await handle(second, last?.wakeUp, never, next);
    }
    expect(row()).toMatchObject({ handled: 1, token: 2, lease: undefined });
    const after = await seen("killed");
    expect(after.map(({ name, data }) => [name, data])).toEqual(names.map((name) => [name, { generation: "second" }]));

    gone.resolve();
    await first;
    expect(await seen("killed")).toEqual(after);
    expect(row()).toMatchObject({ handled: 1, token: 2, lease: undefined });
  });
});
