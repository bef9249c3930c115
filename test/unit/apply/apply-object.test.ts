import { describe, expect, test } from "vitest";
import { ownerLabels } from "../../../lib/api/names.ts";
import { ApplyError, applyObject, StillTerminating, StillUnserved } from "../../../lib/apply/apply-object.ts";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import type { PlannedChange } from "../../../lib/apply/plan.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { fingerprint } from "../../../lib/apply/set/field-managers.ts";
import { kustomizationStyle } from "../../../lib/apply/set/owner-style.ts";
import type { LiveObject, Metadata } from "../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";
import { ApiError, type ApiReason, type DeleteOptions } from "../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "t" } };
const desired: DesiredObject = { id: "t_a__ConfigMap", ref, manifest, digest: "d", resource: undefined };
const kubectl = { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsV1: {} } as const;
const ours = {
  manager: "kustomize-controller",
  operation: "Apply",
  apiVersion: "v1",
  fieldsV1: { "f:data": {} },
} as const;
const { signal } = new AbortController();
const owner = { kind: "Kustomization", name: "app", namespace: "t" };
const installationKey = new Secret("test");

function liveOf(metadata: Partial<Metadata> = {}): LiveObject {
  return { ...manifest, metadata: { ...manifest.metadata, uid: "u", resourceVersion: "1", ...metadata } };
}

function apiError(reason: ApiReason, message: string): ApiError {
  return new ApiError({ code: reason === "Conflict" ? 409 : 422, reason, message });
}

/** Applies with these calls of a cluster, and a clock that only counts what it is slept on. */
function world(calls: Partial<TargetCluster>) {
  const slept: number[] = [];
  const clock = { now: () => 0, monotonic: () => 0, sleep: async (ms: number) => void slept.push(ms) };
  const replacing = { owner, inventory: [], otherOwner: async (): Promise<string | undefined> => undefined };
  const deps = { cluster: { ...noTarget, ...calls }, clock, replacing, installationKey, rules: usualRules };
  const apply = (
    change: Exclude<PlannedChange, { kind: "deferred" }>,
    object = desired,
    more: Partial<typeof deps> = {},
  ) => applyObject(object, change, { ...deps, ...more }, signal);
  return { apply, slept, replacing };
}

describe("an object that is not applied because it is unchanged", () => {
  test("costs no request, and keeps its fingerprint in the inventory if it has one", async () => {
    const { apply } = world({});
    const entry = { id: "t_a__ConfigMap", version: "v1", uid: "u", state: "live" };
    expect(await apply({ kind: "unchanged", uid: "u", fingerprint: "f" })).toEqual({
      desired,
      change: "unchanged",
      entry: { ...entry, fingerprint: "f", desired: "d" },
    });
    expect(await apply({ kind: "skipped", uid: "u" })).toEqual({ desired, change: "skipped", entry });
    expect(await apply({ kind: "skipped", uid: undefined })).toEqual({
      desired,
      change: "skipped",
      entry: { id: "t_a__ConfigMap", version: "v1", state: "live" },
    });
    expect(await apply({ kind: "terminating", uid: "u", blockingFinalizers: ["x"] })).toEqual({
      desired,
      change: "unchanged",
      entry,
      blockingFinalizers: ["x"],
    });
  });
});

describe("an apply", () => {
  const answering = (created: boolean, metadata: Partial<Metadata> = {}) =>
    world({ apply: async () => ({ object: liveOf({ managedFields: [ours], ...metadata }), created, warnings: [] }) });

  test.each([
    { created: true, change: "created" },
    { created: false, change: "configured" },
  ])(
    "with the API server's answer created: $created is reported as $change, with its fingerprint",
    async ({ created, change }) => {
      const { apply } = answering(created);
      expect(await apply({ kind: "create" })).toEqual({
        desired,
        change,
        entry: {
          id: "t_a__ConfigMap",
          version: "v1",
          uid: "u",
          fingerprint: fingerprint([ours], installationKey, kustomizationStyle),
          desired: "d",
          state: "live",
        },
      });
    },
  );

  test("is server-side with our field manager, and forces ownership of fields", async () => {
    const asked: unknown[] = [];
    const { apply } = world({
      apply: async (...args) => (asked.push(args.slice(0, 2)), { object: liveOf(), created: true, warnings: [] }),
    });
    await apply({ kind: "configure", takeover: undefined });
    expect(asked).toEqual([[manifest, { manager: "kustomize-controller", force: true }]]);
  });

  test("of a terminating object reports the finalizers that hold it", async () => {
    const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] };
    expect(await answering(false, going).apply({ kind: "create" })).toMatchObject({
      blockingFinalizers: ["example.com/hold"],
    });
  });

  test("that the API server refuses is reported with Flux's text; an error without an answer is rethrown", async () => {
    const refusing = (error: Error) => world({ apply: () => Promise.reject(error) }).apply({ kind: "create" });
    const applied = refusing(apiError("Invalid", "no"));
    await expect(applied).rejects.toThrow(ApplyError);
    await expect(applied).rejects.toThrow("ConfigMap/t/a apply failed: no");
    const lost = new Error("lease lost");
    await expect(refusing(lost)).rejects.toBe(lost);
  });
});

describe("an object whose kind the API server does not serve", () => {
  const unserved = () => Promise.reject(new ApiError({ code: 404, reason: "NoMatch", message: "404 page not found" }));
  const takeover = { patch: [], migrates: false };
  const changes: readonly { what: string; change: Parameters<ReturnType<typeof world>["apply"]>[0] }[] = [
    { what: "its apply", change: { kind: "create" } },
    { what: "the apply of a payload", change: { kind: "configure", takeover: undefined, payload: manifest } },
    { what: "the patch of its managers", change: { kind: "configure", takeover } },
  ];
  const unservedWorld = () => world({ get: unserved, apply: unserved, patch: unserved });

  test.each(changes)("waits with $what if the set brings its definition", async ({ change }) => {
    const applied = unservedWorld().apply(change, { ...desired, isPromised: true });
    await expect(applied).rejects.toThrow(StillUnserved);
  });

  test("waits if the payload has to be made again", async () => {
    const { apply } = world({ get: unserved, patch: async () => liveOf() });
    const applied = apply({ kind: "configure", takeover, payload: manifest }, { ...desired, isPromised: true });
    await expect(applied).rejects.toThrow(StillUnserved);
  });

  test("is refused if its definition is not in the set", async () => {
    await expect(unservedWorld().apply({ kind: "create" })).rejects.toThrow(ApplyError);
  });
});

/** A cluster on which another client writes the object just before each of the first `writes` patches. */
function busyCluster(writes: number, refusal: ApiReason = "Conflict") {
  let version = 1;
  const patched: unknown[] = [];
  const live = (): LiveObject => liveOf({ resourceVersion: String(version), managedFields: [kubectl] });
  const calls: Partial<TargetCluster> = {
    get: async () => live(),
    apply: async () => ({ object: live(), created: false, warnings: [] }),
    patch: async (of, { type, body }, options) => {
      if (patched.push(body) <= writes) version++;
      expect([of, type, options]).toEqual([ref, "json", { manager: "kustomize-controller" }]);
      const asked = JSON.stringify(body).includes(`"/metadata/resourceVersion","value":"${version}"`);
      if (!asked) throw apiError(refusal, "the object has been modified");
      return live();
    },
  };
  return { calls, patched };
}

describe("taking over an object that a controller keeps writing", () => {
  const patch = [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }] as const;
  const takeover = { patch, migrates: false };

  test.each(["Conflict", "Invalid"] as const)(
    "makes the patch again for the current version if the old one is refused with %s",
    async (refusal) => {
      const { calls, patched } = busyCluster(3, refusal);
      const { apply, slept } = world(calls);
      expect((await apply({ kind: "configure", takeover })).change).toBe("configured");
      expect(patched).toHaveLength(4);
      expect(slept).toEqual([10, 20, 40]);
    },
  );

  test("fails with Flux's text after six tries", async () => {
    const { calls, patched } = busyCluster(100);
    await expect(world(calls).apply({ kind: "configure", takeover })).rejects.toThrow(
      "ConfigMap/t/a metadata.managedFields cleanup failed: the object has been modified",
    );
    expect(patched).toHaveLength(6);
  });

  test("fails with Flux's own text for a migration of managed fields", async () => {
    const { apply } = world(busyCluster(100, "Forbidden").calls);
    const migration = { patch, migrates: true };
    await expect(apply({ kind: "configure", takeover: migration })).rejects.toThrow(
      "ConfigMap/t/a failed to migrate API version: failed to migrate managed fields API version to v1: the object has been modified",
    );
  });

  test("does not retry a patch that is refused for another reason", async () => {
    const { calls, patched } = busyCluster(100, "Forbidden");
    await expect(world(calls).apply({ kind: "configure", takeover })).rejects.toThrow("cleanup failed");
    expect(patched).toHaveLength(1);
  });

  test.each([
    { name: "is deleted before the patch", calls: { patch: () => Promise.reject(apiError("NotFound", "gone")) } },
    {
      name: "is deleted before the patch is retried",
      calls: { patch: () => Promise.reject(apiError("Conflict", "stale")), get: async () => undefined },
    },
    {
      name: "has nothing left to take over when the patch is retried",
      calls: { patch: () => Promise.reject(apiError("Conflict", "stale")), get: async () => liveOf() },
    },
  ])("still applies an object that $name", async ({ calls }) => {
    const { apply } = world({ ...calls, apply: async () => ({ object: liveOf(), created: true, warnings: [] }) });
    expect((await apply({ kind: "configure", takeover })).change).toBe("created");
  });
});

/**
 * A cluster that has the object of uid "u", ours by its labels. Each delete is answered by the next of `answers`: an error, or
 * what becomes of the object.
 */
function replaceWorld(answers: readonly (ApiError | "goes" | "stays")[], metadata: Partial<Metadata> = {}) {
  const log: string[] = [];
  const deletes: DeleteOptions[] = [];
  let version = 1;
  let live: LiveObject | undefined = liveOf({ labels: ownerLabels(owner), ...metadata });
  const of = (object: VersionedRef) => `${object.kind}/${object.name}`;
  const { apply, replacing, slept } = world({
    get: async () => live && { ...live, metadata: { ...live.metadata, resourceVersion: `${version}` } },
    apply: async ({ metadata: { name } }, { dryRun = false }) => {
      log.push(`${dryRun ? "tries" : "applies"} ${name}`);
      return { object: liveOf({ uid: "new" }), created: true, warnings: [] };
    },
    delete: async (object, options) => {
      log.push(`deletes ${of(object)}`);
      const answer = answers[deletes.push(options) - 1];
      if (answer instanceof ApiError) {
        version += 1;
        throw answer;
      }
      if (answer === "goes") live = undefined;
      return answer === "goes" ? "deleted" : "deleting";
    },
  });
  return { apply, replacing, slept, log, deletes };
}

describe("replacing an object because of an immutable field", () => {
  const replace = { kind: "replace", uid: "u" } as const;
  const stale = apiError("Conflict", "the object has been modified");

  test("dry-runs the successor under another name, deletes the object, and applies the successor once it is gone", async () => {
    const { apply, log, deletes } = replaceWorld(["goes"]);
    expect((await apply(replace)).change).toBe("created");
    expect(log).toEqual(["tries a-sluice-check", "deletes ConfigMap/a", "applies a"]);
    expect(deletes).toEqual([{ propagation: "Background", uid: "u", resourceVersion: "1" }]);
  });

  test("keeps the object if its successor would be refused", async () => {
    const { apply } = world({ apply: () => Promise.reject(apiError("Invalid", "bad field")) });
    await expect(apply(replace)).rejects.toThrow(
      "ConfigMap/t/a immutable field detected, kept the present object since its successor is refused: bad field",
    );
  });

  test.each([
    { group: "", kind: "Namespace" },
    { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" },
  ])("never recreates a $kind, because everything in it would be deleted", async ({ group, kind }) => {
    const big: DesiredObject = { ...desired, ref: { ...ref, group, kind, namespace: "" } };
    await expect(world({}).apply(replace, big)).rejects.toThrow(
      `${kind}/a immutable field detected, failed to delete object: recreating it would delete everything in it`,
    );
  });

  test("checks an object again that was written in between, and deletes it in the new state", async () => {
    const { apply, deletes } = replaceWorld([stale, stale, stale, "goes"]);
    expect((await apply(replace)).change).toBe("created");
    expect(deletes.map(({ resourceVersion }) => resourceVersion)).toEqual(["1", "2", "3", "4"]);
  });

  test("reports with Flux's text an object that keeps changing, or that the API server does not delete", async () => {
    const busy = replaceWorld([stale, stale, stale, stale, stale]);
    await expect(busy.apply(replace)).rejects.toThrow(
      "ConfigMap/t/a immutable field detected, failed to delete object: the object has been modified",
    );
    expect(busy.deletes).toHaveLength(4);
    const denied = replaceWorld([apiError("Forbidden", "not allowed")]);
    await expect(denied.apply(replace)).rejects.toThrow("failed to delete object: not allowed");
    expect(denied.deletes).toHaveLength(1);
  });

  test("does not delete an object that was recreated meanwhile or is already gone", async () => {
    const { apply, log } = replaceWorld([], { uid: "another" });
    expect((await apply(replace)).change).toBe("created");
    expect(log).toEqual(["tries a-sluice-check", "applies a"]);
  });

  test("does not delete an object that has another owner meanwhile", async () => {
    const { apply, replacing, deletes } = replaceWorld([]);
    const otherOwner = async () => "Kustomization/t/b";
    const applied = apply(replace, desired, { replacing: { ...replacing, otherOwner } });
    await expect(applied).rejects.toThrow(ApplyError);
    await expect(applied).rejects.toThrow("failed to delete object: Kustomization/t/b claims it too");
    expect(deletes).toEqual([]);
  });

  test("waits one second for an object that a finalizer holds, and then leaves it to the next run", async () => {
    const { apply, slept, log } = replaceWorld(["stays"]);
    const applied = apply(replace);
    await expect(applied).rejects.toThrow(StillTerminating);
    await expect(applied).rejects.toThrow("ConfigMap/t/a immutable field detected, waiting for object to be deleted");
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(1_050);
    expect(log).not.toContain("applies a");
  });
});
