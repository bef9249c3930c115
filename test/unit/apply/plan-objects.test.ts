import { describe, expect, test } from "vitest";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import { planObjects } from "../../../lib/apply/plan-objects.ts";
import { type ApplyRules, usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { formatEntryId } from "../../../lib/apply/set/entry-id.ts";
import { fingerprint } from "../../../lib/apply/set/field-managers.ts";
import { kustomizationStyle } from "../../../lib/apply/set/owner-style.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { subject, type VersionedRef } from "../../../lib/core/object-ref.ts";
import { ApiError, type ApiReason } from "../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTarget } from "../../doubles/no-cluster.ts";
import { core, definition, desired, namespace } from "./desired.ts";

const { signal } = new AbortController();
const installationKey = new Secret("test");
const ours = { manager: "kustomize-controller", operation: "Apply", apiVersion: "v1", fieldsV1: {} } as const;
const map = core("ConfigMap", "a", "t");
const car = { ...core("Car", "c", "u"), group: "example.com" };

function liveOf(ref: VersionedRef, more: Partial<LiveObject["metadata"]> = {}): LiveObject {
  const { manifest } = desired(ref);
  return { ...manifest, metadata: { ...manifest.metadata, uid: "u", managedFields: [ours], ...more } };
}

const entryOf = (ref: VersionedRef): InventoryEntry => ({
  id: formatEntryId(ref),
  version: ref.version,
  uid: "u",
  desired: "d",
  fingerprint: fingerprint([ours], installationKey, kustomizationStyle) ?? "",
  state: "live",
});

function apiError(reason: ApiReason, message: string, code = 422): ApiError {
  return new ApiError({ code, reason, message });
}

interface World {
  readonly wanted: readonly DesiredObject[];
  /** In the inventory, and in the cluster as the last apply left it. */
  readonly proven?: readonly VersionedRef[];
  readonly live?: readonly LiveObject[];
  /** In the cluster without our labels, so that no list shows it. */
  readonly unlisted?: readonly LiveObject[];
  /** The answer to the dry run of a manifest where it is no success. */
  readonly refuse?: (manifest: Manifest) => ApiError | undefined;
  readonly rules?: ApplyRules;
}

/** Plans it; `tried` are the dry runs, by namespace and name. */
async function plan({
  wanted,
  proven = [],
  live = [],
  unlisted = [],
  refuse = () => undefined,
  rules = usualRules,
}: World) {
  const tried: string[] = [];
  const listed = [...proven.map((ref) => liveOf(ref)), ...live];
  const found = [...listed, ...unlisted];
  const idOf = (object: LiveObject) =>
    wanted.find(({ manifest: { kind, metadata } }) => kind === object.kind && metadata.name === object.metadata.name)
      ?.id;
  const cluster: TargetCluster = {
    ...noTarget,
    get: async (ref) => found.find(({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name),
    apply: async (manifest, options) => {
      expect(options).toEqual({ manager: "kustomize-controller", force: true, dryRun: true });
      const { kind, metadata } = manifest;
      tried.push(subject({ kind, namespace: metadata.namespace ?? "", name: metadata.name }));
      const refusal = refuse(manifest);
      if (refusal !== undefined) throw refusal;
      const before = found.find((object) => object.kind === kind && object.metadata.name === metadata.name);
      const object = before ?? { ...manifest, metadata: { ...metadata, uid: "new" } };
      return { object, created: before === undefined, warnings: [] };
    },
  };
  const replacing = {
    owner: { kind: "Kustomization", name: "app", namespace: "t" },
    inventory: [],
    otherOwner: async () => undefined,
  };
  const planning = await planObjects(
    wanted,
    proven.map(entryOf),
    new Map(listed.map((object) => [idOf(object) ?? "", object])),
    { cluster, installationKey, isAwaited: false, isLook: false, force: false, concurrency: 2, replacing, rules },
    signal,
  );
  const changes =
    planning.kind === "planned"
      ? planning.objects.map(({ desired: { ref }, change }) => `${subject(ref)}: ${change.kind}`)
      : planning.refused.map(({ message }) => message);
  return { kind: planning.kind, changes, tried };
}

describe("planning a set", () => {
  test("sends dry runs in apply order, except for objects proven unchanged", async () => {
    const other = core("ConfigMap", "b", "t");
    expect(
      await plan({ wanted: [desired(namespace), desired(map), desired(other)], proven: [namespace, map] }),
    ).toEqual({
      kind: "planned",
      changes: ["Namespace/t: unchanged", "ConfigMap/t/a: unchanged", "ConfigMap/t/b: create"],
      tried: ["ConfigMap/t/b"],
    });
  });

  test("reports all refusals, namespaces first", async () => {
    const refuse = ({ metadata: { name } }: Manifest) => apiError("Invalid", `${name} is bad`);
    const b = core("ConfigMap", "b", "other");
    expect(await plan({ wanted: [desired(b), desired(namespace)], refuse })).toEqual({
      kind: "refused",
      changes: [
        "Namespace/t dry-run failed (Invalid): t is bad",
        "ConfigMap/other/b dry-run failed (Invalid): b is bad",
      ],
      tried: ["Namespace/t", "ConfigMap/other/b"],
    });
  });

  describe("an object that is refused because another is missing", () => {
    const group = "rbac.authorization.k8s.io";
    const role = { ...core("ClusterRole", "reader"), group };
    const binding = { ...core("RoleBinding", "b", "t"), group };
    const needs =
      (kind: string, message: string, reason: ApiReason = "NotFound") =>
      (manifest: Manifest) =>
        manifest.kind === kind ? apiError(reason, message, reason === "Invalid" ? 422 : 404) : undefined;
    const missing = 'rolebindings.rbac.authorization.k8s.io "reader" not found';
    const ownStage = { ...usualRules, customStageKinds: new Set(["/ConfigMap"]) };

    test.each<{
      name: string;
      wanted: readonly VersionedRef[];
      refuse: World["refuse"];
      rules?: ApplyRules;
      is: string;
    }>([
      {
        name: "that an earlier stage creates is deferred",
        wanted: [role, binding],
        refuse: needs("RoleBinding", missing),
        is: "planned",
      },
      {
        name: "of its own stage is refused",
        wanted: [core("ConfigMap", "reader", "t"), binding],
        refuse: needs("RoleBinding", missing),
        is: "refused",
      },
      {
        name: "that the refusal does not name is refused",
        wanted: [{ ...role, name: "read" }, binding],
        refuse: needs("RoleBinding", missing),
        is: "refused",
      },
      {
        name: "is deferred if the installation's own stage brings any objects",
        wanted: [map, binding],
        refuse: needs("RoleBinding", "denied by a policy"),
        rules: ownStage,
        is: "planned",
      },
      {
        name: "is refused if its fields are wrong",
        wanted: [map, binding],
        refuse: needs("RoleBinding", "b is invalid", "Invalid"),
        rules: ownStage,
        is: "refused",
      },
      {
        name: "of the installation's own stage is refused",
        wanted: [core("ConfigMap", "0", "t"), map],
        refuse: ({ metadata: { name } }) => (name === "0" ? apiError("NotFound", '"a" not found', 404) : undefined),
        rules: ownStage,
        is: "refused",
      },
    ])("$name", async ({ wanted, refuse, rules, is }) => {
      const { kind, changes } = await plan({
        wanted: wanted.map((ref) => desired(ref)),
        ...(refuse === undefined ? {} : { refuse }),
        ...(rules === undefined ? {} : { rules }),
      });
      expect(kind).toBe(is);
      expect(changes.includes("RoleBinding/t/b: deferred")).toBe(is === "planned");
    });
  });

  const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes"] };

  test.each([
    { name: "that the set creates", live: [] },
    { name: "that is terminating", live: [liveOf(namespace, going)] },
    { name: "that is terminating and is not ours yet", live: [], unlisted: [liveOf(namespace, going)] },
  ])(
    "that belongs to a namespace $name is tried in another namespace, and gets its own dry run later",
    async ({ live, unlisted = [] }) => {
      const { changes, tried } = await plan({ wanted: [desired(namespace), desired(map)], live, unlisted });
      expect(changes.at(-1)).toBe("ConfigMap/t/a: deferred");
      expect(tried).toEqual(["Namespace/t", "ConfigMap/default/a-sluice-check"]);
    },
  );

  test("that belongs to another namespace than the one that the set creates gets its dry run at once", async () => {
    const other = core("ConfigMap", "a", "other");
    expect((await plan({ wanted: [desired(namespace), desired(other)] })).changes).toEqual([
      "Namespace/t: create",
      "ConfigMap/other/a: create",
    ]);
  });

  test("is not deferred for a kind called Namespace of another group", async () => {
    const odd = { ...namespace, group: "example.com" };
    expect((await plan({ wanted: [desired(odd), desired(map)] })).changes).toEqual([
      "Namespace/t: create",
      "ConfigMap/t/a: create",
    ]);
  });

  test("waits for the new version of a terminating definition; objects of other definitions do not", async () => {
    const other = { ...core("Lorry", "l", "u"), group: "example.com" };
    const { changes } = await plan({
      wanted: [desired(definition), desired(car), desired(other)],
      live: [liveOf(definition, going)],
    });
    expect(changes.slice(1)).toEqual(["Car/u/c: deferred", "Lorry/u/l: create"]);
  });

  test("without a namespace is tried without one", async () => {
    const wide = desired({ ...car, namespace: "" });
    const { tried } = await plan({ wanted: [desired(definition), wide], live: [liveOf(definition, going)] });
    expect(tried.at(-1)).toBe("Car/c-sluice-check");
  });
});

describe("an object whose definition is in the same set", () => {
  const unserved = (schema: JsonObject | undefined) =>
    desired(car, { resource: undefined, ...(schema === undefined ? {} : { schema }) });

  test("is validated by the schema of the definition, without a request", async () => {
    const schema = { type: "object", properties: { spec: { type: "object" } }, required: ["spec"] };
    const { kind, changes, tried } = await plan({ wanted: [unserved(schema)] });
    expect(kind).toBe("refused");
    expect(changes).toEqual(["Car/u/c dry-run failed (Invalid): spec: is required"]);
    expect(tried).toEqual([]);
  });

  test("reports all faults by this schema", async () => {
    const schema = { type: "object", required: ["spec", "more"] };
    expect((await plan({ wanted: [unserved(schema)] })).changes).toEqual([
      "Car/u/c dry-run failed (Invalid): spec: is required, more: is required",
    ]);
  });

  test.each([{ schema: { type: "object" } }, { schema: undefined }])(
    "is deferred if the schema finds no fault: $schema",
    async ({ schema }) => {
      expect((await plan({ wanted: [unserved(schema)] })).changes).toEqual(["Car/u/c: deferred"]);
    },
  );
});

describe("an object whose kind the API server does not serve although it lists the kind", () => {
  const refuse = () => apiError("NoMatch", "404 page not found", 404);

  test("waits for its definition if that is in the same set", async () => {
    expect(await plan({ wanted: [desired(car, { isPromised: true })], refuse })).toEqual({
      kind: "planned",
      changes: ["Car/u/c: deferred"],
      tried: ["Car/u/c"],
    });
  });

  test("is refused if its definition is not in the set", async () => {
    expect(await plan({ wanted: [desired(car)], refuse })).toMatchObject({
      kind: "refused",
      changes: ["Car/u/c dry-run failed: 404 page not found"],
    });
  });
});

describe("an object that is tried in another namespace", () => {
  const waiting = (refuse: World["refuse"], ref = map) =>
    plan({
      wanted: [desired(namespace), desired(ref)],
      refuse: (manifest) => (manifest.kind === "Namespace" ? undefined : refuse?.(manifest)),
    });

  test("is refused for faults of its own fields, with its own name and namespace in the message", async () => {
    const { changes } = await waiting(({ metadata: { name } }) =>
      apiError("Invalid", `ConfigMap "${name}" is invalid: data`),
    );
    expect(changes).toEqual(['ConfigMap/t/a dry-run failed (Invalid): ConfigMap "a" is invalid: data']);
    const typed = await waiting(({ metadata: { name } }) =>
      apiError("", `failed to create typed patch object (default/${name}; v1, Kind=ConfigMap): no field`, 500),
    );
    expect(typed.changes).toEqual([
      "ConfigMap/t/a dry-run failed: failed to create typed patch object (t/a; v1, Kind=ConfigMap): no field",
    ]);
  });

  test.each([
    { name: "a policy of that namespace", error: apiError("Invalid", 'admission webhook "p" denied the request') },
    { name: "a policy in CEL", error: apiError("Invalid", "ValidatingAdmissionPolicy 'p' denied request") },
    { name: "a missing right of the caller in that namespace", error: apiError("Forbidden", "not allowed", 403) },
    { name: "a quota there", error: apiError("Invalid", "exceeded", 403) },
    { name: "another reason with the same status", error: apiError("Other", "odd", 422) },
    {
      name: "a text that only mentions typed patches",
      error: apiError("", "it failed to create typed patch object", 500),
    },
  ])("is deferred if the refusal is $name", async ({ error }) => {
    expect((await waiting(() => error)).changes).toEqual(["Namespace/t: create", "ConfigMap/t/a: deferred"]);
  });

  test("gets a name that every kind accepts, however long its own is", async () => {
    const names = async (name: string) => (await waiting(undefined, core("ConfigMap", name, "t"))).tried.at(-1);
    expect(await names("a.b")).toBe("ConfigMap/default/a.b-sluice-check");
    expect(await names("a".repeat(80))).toBe(`ConfigMap/default/${"a".repeat(50)}-sluice-check`);
    expect(await names(`${"a".repeat(48)}.-${"b".repeat(9)}`)).toBe(`ConfigMap/default/${"a".repeat(48)}-sluice-check`);
  });

  test("is not judged if the API server does not answer", async () => {
    const lost = new Error("time is up");
    const trying = plan({
      wanted: [desired(namespace), desired(map)],
      refuse: (manifest) => {
        if (manifest.kind !== "Namespace") throw lost;
        return undefined;
      },
    });
    await expect(trying).rejects.toBe(lost);
  });
});
