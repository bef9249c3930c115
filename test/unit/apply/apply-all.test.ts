import { describe, expect, test } from "vitest";
import { applyAll } from "../../../lib/apply/apply-all.ts";
import type { PlannedChange, PlannedObject } from "../../../lib/apply/plan.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { type LiveObject, type Metadata, refOf } from "../../../lib/core/manifest.ts";
import { subject, type VersionedRef } from "../../../lib/core/object-ref.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTarget } from "../../doubles/no-cluster.ts";
import { core, definition, desired, namespace } from "./desired.ts";

const { signal } = new AbortController();
const runtimeClass = { ...core("RuntimeClass", "slow"), group: "node.k8s.io" };
const map = (name: string) => core("ConfigMap", name, "t");

function planned(ref: VersionedRef, change: PlannedChange = { kind: "create" }): PlannedObject {
  return { desired: desired(ref), change };
}

/** A cluster that stores what is applied; `stored` says how an object looks then, or throws as the API server does. */
function world(stored: (object: LiveObject) => LiveObject = (object) => object, calls: Partial<TargetCluster> = {}) {
  const objects = new Map<string, LiveObject>();
  const log: string[] = [];
  const slept: number[] = [];
  let underWay = 0;
  let most = 0;
  const cluster: TargetCluster = {
    ...noTarget,
    get: async (ref) => objects.get(subject(ref)),
    apply: async (manifest, { dryRun = false }) => {
      const name = subject(refOf(manifest));
      log.push(dryRun ? `tries ${name}` : name);
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      const object = stored({ ...manifest, metadata: { ...manifest.metadata, uid: name } });
      if (!dryRun) objects.set(name, object);
      return { object, created: true, warnings: [] };
    },
    ...calls,
  };
  const clock = { now: () => 0, monotonic: () => 0, sleep: async (ms: number) => void slept.push(ms) };
  const replacing = {
    owner: { kind: "Kustomization", name: "app", namespace: "t" },
    inventory: [],
    otherOwner: async () => undefined,
  };
  const rules = usualRules;
  const healthRules = { ruleOf: () => undefined, isUnreconciled: () => false };
  const deps = {
    cluster,
    healthRules,
    clock,
    replacing,
    rules,
    installationKey: new Secret("test"),
    force: false,
    concurrency: 4,
  };
  const apply = async (...objects_: readonly PlannedObject[]) => {
    const outcome = await applyAll(objects_, deps, signal);
    return { ...outcome, applied: outcome.applied.map(({ desired, change }) => `${subject(desired.ref)} ${change}`) };
  };
  return { apply, log, slept, most: () => most };
}

const withMetadata =
  (metadata: Partial<Metadata>) =>
  (object: LiveObject): LiveObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });
const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes"] };

describe("applying a plan", () => {
  test("applies definitions first, then classes, then the rest, whatever the input order", async () => {
    const { apply, log } = world();
    const outcome = await apply(planned(map("a")), planned(runtimeClass), planned(namespace));
    expect(outcome).toEqual({
      kind: "applied",
      applied: ["Namespace/t created", "RuntimeClass/slow created", "ConfigMap/t/a created"],
    });
    expect(log).toEqual(["Namespace/t", "RuntimeClass/slow", "ConfigMap/t/a"]);
  });

  test("applies objects of a kind in parallel and kinds one after the other, and reports them in the plan's order", async () => {
    const ends: string[] = [];
    const last = Promise.withResolvers<void>();
    const { apply } = world(undefined, {
      apply: async (manifest) => {
        const { name } = manifest.metadata;
        if (name === "a" || name === "b") await last.promise;
        if (name === "c") last.resolve();
        ends.push(name);
        return { object: { ...manifest, metadata: { ...manifest.metadata, uid: name } }, created: true, warnings: [] };
      },
    });
    const secret = core("Secret", "s", "t");
    const outcome = await apply(planned(map("a")), planned(map("b")), planned(map("c")), planned(secret));
    expect(ends).toEqual(["c", "a", "b", "s"]);
    expect(outcome.applied).toEqual(
      ["a", "b", "c"].map((name) => `ConfigMap/t/${name} created`).concat("Secret/t/s created"),
    );
  });

  test("treats kinds of the same name in two groups as two kinds", async () => {
    const { apply, most } = world();
    const job = { ...core("Job", "a", "t"), group: "batch" };
    await apply(planned(job), planned({ ...job, group: "example.com" }));
    expect(most()).toBe(1);
  });

  test("stops at the first refusal, and reports what was applied until then", async () => {
    const refusing = (object: LiveObject): LiveObject => {
      if (object.metadata.name !== "b") return object;
      throw new ApiError({ code: 422, reason: "Invalid", message: "no" });
    };
    const { apply, log } = world(refusing);
    const outcome = await apply(planned(namespace), planned(map("b")), planned(core("Secret", "s", "t")));
    expect(outcome).toEqual({
      kind: "failed",
      applied: ["Namespace/t created"],
      message: "ConfigMap/t/b apply failed: no",
    });
    expect(log).not.toContain("Secret/t/s");
  });

  test("rethrows an error that is not a refusal of the API server", async () => {
    const lost = new Error("lease lost");
    await expect(
      world(() => {
        throw lost;
      }).apply(planned(namespace)),
    ).rejects.toBe(lost);
  });

  test("leaves a replaced object that a finalizer holds to the next run", async () => {
    const { apply } = world(undefined, {
      get: async () => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "a",
          uid: "u",
          labels: { "kustomize.toolkit.fluxcd.io/name": "app", "kustomize.toolkit.fluxcd.io/namespace": "t" },
        },
      }),
      delete: async () => "deleting",
    });
    expect(await apply(planned(map("a"), { kind: "replace", uid: "u" }))).toEqual({
      kind: "waiting",
      applied: [],
      why: "ConfigMap/t/a immutable field detected, waiting for object to be deleted",
      on: "deletion",
    });
  });
});

describe("the next stage of an apply", () => {
  const terminating = withMetadata(going);

  test("waits up to a second for the objects that this run has written, and otherwise for the next run", async () => {
    const notYet = (object: LiveObject): LiveObject => ({ ...object, status: { conditions: [] } });
    const { apply, log, slept } = world(notYet);
    expect(await apply(planned(definition), planned(map("a")))).toEqual({
      kind: "waiting",
      applied: ["CustomResourceDefinition/cars.example.com created"],
      why: "timeout waiting for: [CustomResourceDefinition/cars.example.com status: 'InProgress']",
      on: "stage",
    });
    expect(log).toEqual(["CustomResourceDefinition/cars.example.com"]);
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(1_050);
  });

  test("starts as soon as these objects are ready", async () => {
    let looks = 0;
    const established = [{ type: "Established", status: "True" }];
    const { apply, slept } = world(undefined, {
      get: async (ref) => {
        looks += 1;
        const metadata = { name: ref.name, uid: "u" };
        return { ...planned(ref).desired.manifest, metadata, status: { conditions: looks > 2 ? established : [] } };
      },
    });
    expect((await apply(planned(definition), planned(map("a")))).kind).toBe("applied");
    expect(slept).toEqual([20, 30]);
  });

  test("does not wait for objects that existed before", async () => {
    const { apply, slept } = world();
    const before: PlannedChange = { kind: "unchanged", uid: "u", fingerprint: "f" };
    const outcome = await apply(
      planned(definition, before),
      planned(namespace, { kind: "skipped", uid: "u" }),
      planned(map("a")),
    );
    expect(outcome).toEqual({
      kind: "applied",
      applied: ["CustomResourceDefinition/cars.example.com unchanged", "Namespace/t skipped", "ConfigMap/t/a created"],
    });
    expect(slept).toEqual([]);
  });

  test("is not awaited after the last stage", async () => {
    const { apply } = world((object) => ({ ...object, status: { conditions: [{ type: "Ready", status: "False" }] } }));
    const car = { ...core("Car", "c", "t"), group: "example.com" };
    expect((await apply(planned(car))).kind).toBe("applied");
  });

  test("does not check again what an earlier stage has waited for", async () => {
    const looked: string[] = [];
    const { apply } = world(undefined, {
      get: async (ref) => {
        looked.push(ref.kind);
        return { ...planned(ref).desired.manifest, metadata: { name: ref.name, uid: "u" } };
      },
    });
    await apply(planned(namespace), planned(runtimeClass));
    expect(looked).toEqual(["Namespace", "RuntimeClass"]);
  });

  test.each([
    {
      name: "that existed before and has changed",
      get: async () => ({
        ...planned(definition).desired.manifest,
        metadata: { name: "x", uid: "u" },
        status: { conditions: [] },
      }),
    },
    { name: "that is missing again", get: async () => undefined },
  ])("waits for a definition $name", async ({ get }) => {
    const { apply } = world(undefined, {
      get,
      apply: async (manifest) => ({
        object: { ...manifest, metadata: { ...manifest.metadata, uid: "u" } },
        created: false,
        warnings: [],
      }),
    });
    const change: PlannedChange = { kind: "configure", takeover: undefined };
    expect(await apply(planned(definition, change), planned(map("a")))).toMatchObject({ kind: "waiting", on: "stage" });
  });

  test.each([
    { name: "that this run has written to", change: { kind: "create" } },
    { name: "as it was", change: { kind: "terminating", uid: "u", blockingFinalizers: ["kubernetes"] } },
  ] as const)("waits for a terminating namespace $name", async ({ change }) => {
    const { apply, log } = world(terminating);
    expect(await apply(planned(namespace, change), planned(map("a")))).toMatchObject({
      kind: "waiting",
      why: "still wanted but being deleted, to be created again once gone: Namespace/t (held by kubernetes)",
      on: "deletion",
    });
    expect(log).not.toContain("ConfigMap/t/a");
  });

  test("does not wait for another terminating object", async () => {
    const held: PlannedChange = { kind: "terminating", uid: "u", blockingFinalizers: [] };
    const role = { ...core("ClusterRole", "r"), group: "rbac.authorization.k8s.io" };
    expect((await world().apply(planned(role, held), planned(map("a")))).kind).toBe("applied");
  });
});

describe("objects whose dry run was deferred while planning", () => {
  const deferred: PlannedChange = { kind: "deferred" };

  test("get their dry run and are applied once the stages before them are ready", async () => {
    const { apply, log } = world();
    expect((await apply(planned(namespace), planned(map("a"), deferred), planned(map("b")))).applied).toEqual([
      "Namespace/t created",
      "ConfigMap/t/a created",
      "ConfigMap/t/b created",
    ]);
    expect(log).toEqual(["Namespace/t", "tries ConfigMap/t/a", "ConfigMap/t/a", "ConfigMap/t/b"]);
  });

  test("fail the run if that dry run is refused: all refusals are reported before any object of the stage is applied", async () => {
    const refusing = (object: LiveObject): LiveObject => {
      if (object.kind === "Namespace") return object;
      throw new ApiError({ code: 422, reason: "Invalid", message: `${object.metadata.name} is bad` });
    };
    const { apply, log } = world(refusing);
    const outcome = await apply(
      planned(namespace),
      planned(map("a"), deferred),
      planned(map("b"), deferred),
      planned(map("c")),
    );
    expect(outcome).toEqual({
      kind: "failed",
      applied: ["Namespace/t created"],
      message: "ConfigMap/t/a dry-run failed (Invalid): a is bad\nConfigMap/t/b dry-run failed (Invalid): b is bad",
    });
    expect(log).not.toContain("ConfigMap/t/c");
  });

  describe("objects whose definition is in the same set", () => {
    const car: PlannedObject = {
      desired: desired({ ...core("Car", "c", "t"), group: "example.com" }, { isPromised: true }),
      change: deferred,
    };
    const unserved = new ApiError({ code: 404, reason: "NoMatch", message: "404 page not found" });
    /** Serves the kind from the n-th dry run on. */
    const servedFrom = (nth: number) => {
      let tries = 0;
      return world((object) => {
        if (object.kind === "Car" && ++tries < nth) throw unserved;
        return { ...object, status: { conditions: [{ type: "Established", status: "True" }] } };
      });
    };

    test("are tried again for a second while the API server does not serve their kind yet", async () => {
      const { apply, slept } = servedFrom(3);
      expect((await apply(planned(definition), car)).applied).toEqual([
        "CustomResourceDefinition/cars.example.com created",
        "Car/t/c created",
      ]);
      expect(slept).toEqual([20, 30]);
    });

    test("wait for the next run if the API server does not serve their kind within a second", async () => {
      const { apply, slept } = servedFrom(Number.POSITIVE_INFINITY);
      expect(await apply(planned(definition), car)).toEqual({
        kind: "waiting",
        applied: ["CustomResourceDefinition/cars.example.com created"],
        why: "Car/t/c dry-run failed: 404 page not found",
        on: "stage",
      });
      expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(1_050);
    });

    test("do not have the dry runs of other objects of the stage repeated with theirs", async () => {
      const { apply, log } = servedFrom(3);
      await apply(planned(definition), planned(map("a"), deferred), car);
      expect(log.filter((line) => line.startsWith("tries "))).toEqual([
        "tries ConfigMap/t/a",
        "tries Car/t/c",
        "tries Car/t/c",
        "tries Car/t/c",
      ]);
    });

    test("wait for the next run if only the API server of the dry run serves their kind yet, not the one of the write", async () => {
      const { apply } = world(undefined, {
        apply: async (manifest, { dryRun = false }) => {
          if (manifest.kind === "Car" && !dryRun) throw unserved;
          return { object: { ...manifest, metadata: { ...manifest.metadata, uid: "u" } }, created: true, warnings: [] };
        },
      });
      expect(await apply(planned(map("a")), car)).toEqual({
        kind: "waiting",
        applied: ["ConfigMap/t/a created"],
        why: "Car/t/c apply failed: 404 page not found",
        on: "stage",
      });
    });

    test("fail the run at once if another object of the stage is refused", async () => {
      const { apply, slept } = world((object) => {
        if (object.kind === "Car") throw unserved;
        throw new ApiError({ code: 422, reason: "Invalid", message: "a is bad" });
      });
      expect(await apply(car, planned(map("a"), deferred))).toMatchObject({
        kind: "failed",
        message: "ConfigMap/t/a dry-run failed (Invalid): a is bad",
      });
      expect(slept).toEqual([]);
    });
  });
});
