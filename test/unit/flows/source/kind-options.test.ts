import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Conditions } from "../../../../lib/api/condition.ts";
import { Artifact } from "../../../../lib/api/source.ts";
import { Failure } from "../../../../lib/core/failure.ts";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";
import { sourceFlow } from "../../../../lib/flows/source/source-flow.ts";
import type { Resolved } from "../../../../lib/flows/source/source-kind.ts";
import { untilDeadline } from "../../../deadline.ts";
import { memorySource, type Shelves, shelves } from "../../../doubles/memory-source.ts";
import { sourceWorld, type World } from "../source-world.ts";

type Source = ReturnType<typeof memorySource>;

let world: World;
let all: Shelves;
beforeEach(async () => {
  world = await sourceWorld(undefined, "Bucket");
  all = shelves();
  all.held.set("a", { version: "v1", files: { "a.yaml": "kind: ConfigMap\n" } });
});
afterEach(() => world.close());

const Status = z.object({ conditions: Conditions.default([]), artifact: Artifact.exactOptional() }).loose();
const status = () => Status.parse(world.get("app")["status"]);
const said = () => status().conditions.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
const events = () =>
  world.events.map((one) => `${String(one["type"])} ${String(one["reason"])}: ${String(one["message"])}`);

function bucket(spec: JsonObject = {}): void {
  const metadata = { name: "app", namespace: "apps" };
  world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "Bucket", metadata, spec: { shelf: "a", ...spec } });
}

/** A run of the kind in memory with these changes to it, and to what it resolves. */
function run(change: Partial<Source> = {}, resolved: (found: Resolved) => Resolved = (found) => found) {
  const source = memorySource(all);
  const kind: Source = {
    ...source,
    resolve: async (spec, ctx) => resolved(await source.resolve(spec, ctx)),
    ...change,
  };
  return world.run("app", untilDeadline(), (deps) => sourceFlow(kind, deps));
}

describe("what a kind of source can change in the shared flow", () => {
  test("a source without an interval runs every minute", async () => {
    bucket();
    expect(await run()).toMatchObject({ outcome: "stored", dueInMs: 60_000 });
  });

  const declared: Source["declared"] = {
    ...memorySource(shelves()).declared,
    isStatic: (spec) => isJsonObject(spec) && spec["ignore"] === "static",
  };

  test("a static object gets no finalizer, condition or event, and does not run again", async () => {
    bucket({ ignore: "static" });
    expect(await run({ declared })).toMatchObject({ outcome: "static", dueInMs: undefined });
    expect(world.get("app").metadata.finalizers ?? []).toEqual([]);
    expect(world.get("app")["status"]).toEqual({});
    world.writes.length = 0;
    await run({ declared });
    expect([world.writes, world.events, all.asked]).toEqual([[], [], 0]);
  });

  test("an object that becomes static loses artifact, finalizer, status and subscriptions", async () => {
    bucket();
    await run({ declared });
    expect(world.get("app").metadata.finalizers).toHaveLength(1);
    bucket({ ignore: "static" });
    await run({ declared });
    expect(world.get("app").metadata.finalizers).toEqual([]);
    expect(world.get("app")["status"]).toEqual({});
    expect([world.recorded.size, [...world.listens.values()]]).toEqual([0, [[]]]);
    expect(world.requested).toHaveLength(2);
  });

  test("a static object that is suspended keeps its artifact and finalizer", async () => {
    bucket();
    await run({ declared });
    bucket({ ignore: "static", suspend: true });
    await run({ declared });
    expect(status().artifact).toBeDefined();
    expect(world.get("app").metadata.finalizers).toHaveLength(1);
  });

  test("conditions and events have the kind's own reasons, and its own texts about the content", async () => {
    const reasons = { stored: "ChartPullSucceeded", outdated: "NewChart" } as const;
    const pulling = (found: Resolved): Resolved => ({
      ...found,
      reasons,
      pull: async () => ({
        ...(await found.pull(async () => undefined)),
        stored: "pulled 'app'",
        message: "pulled 'app'",
      }),
    });
    bucket();
    await run({}, pulling);
    expect(said()).toEqual([
      "Ready ChartPullSucceeded: pulled 'app'",
      "ArtifactInStorage ChartPullSucceeded: pulled 'app'",
    ]);
    expect(events()).toEqual(["Normal ChartPullSucceeded: pulled 'app'"]);
    all.held.set("a", { version: "v2", files: {} });
    const failing = (found: Resolved): Resolved => ({
      ...found,
      reasons,
      pull: async (announce) => {
        await announce("new 'app'");
        throw new Failure("ChartPackageError", "no space");
      },
    });
    await run({}, failing);
    expect(said()).toContain("ArtifactOutdated NewChart: new 'app'");
  });

  test("a failure may have different texts in condition and event, and is sent once", async () => {
    const failing = (): never => {
      const inCondition = { reason: "Unknown", message: "unknown build error: no login" } as const;
      throw new Failure("AuthenticationFailed", "no login", { inCondition });
    };
    bucket();
    for (const _ of [1, 2]) await run({ resolve: failing });
    expect(said()).toContain("FetchFailed Unknown: unknown build error: no login");
    expect(said()).toContain("Ready Unknown: unknown build error: no login");
    expect(events()).toEqual(["Warning AuthenticationFailed: no login"]);
  });

  test("a failed build has its own condition, and the recovery from it is announced", async () => {
    const conditionByReason = { ChartPackageError: "BuildFailed" } as const;
    const failing = (): never => {
      throw new Failure("ChartPackageError", "no space");
    };
    bucket();
    await run({ conditionByReason });
    await run({ conditionByReason, resolve: failing });
    expect(said()).toContain("BuildFailed ChartPackageError: no space");
    await run({ conditionByReason });
    expect(said().some((one) => one.startsWith("BuildFailed"))).toBe(false);
    expect(events().at(-1)).toContain("Normal Succeeded");
  });

  test("waiting for another source retries with back-off, and is not a Warning", async () => {
    const failing = (): never => {
      throw new Failure("NoSourceArtifact", "no artifact available for Bucket source 'b'");
    };
    bucket();
    const results = [await run({ resolve: failing }), await run({ resolve: failing })];
    expect(results).toMatchObject([
      { outcome: "waiting", dueInMs: 750 },
      { outcome: "waiting", dueInMs: 1_500 },
    ]);
    expect(events()).toEqual(["Normal NoSourceArtifact: no artifact available for Bucket source 'b'"]);
  });

  test("a change of a field that is only recorded makes no new artifact; an outdated artifact is pulled again", async () => {
    const noting = (observedName: string) => (found: Resolved) => ({ ...found, noted: { observedName } });
    bucket();
    await run({}, noting("a"));
    await run({}, noting("b"));
    expect([status()["observedName"], all.pulled]).toEqual(["b", 1]);
    await run({}, (found) => ({ ...noting("b")(found), isStale: true }));
    expect(all.pulled).toBe(2);
  });

  test("a note of a successful run is passed to the next one", async () => {
    bucket();
    await run({}, (found) => ({ ...found, carried: { etag: "x" } }));
    expect(world.state.carried).toMatchObject({ etag: "x" });
  });
});
