import { describe, expect, test } from "vitest";
import type { DesiredObject } from "../../../lib/apply/desired-objects.ts";
import { atThisLook, changesAnything, firstLook } from "../../../lib/apply/plan.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { fingerprint } from "../../../lib/apply/set/field-managers.ts";
import { kustomizationStyle } from "../../../lib/apply/set/owner-style.ts";
import type { ManagedFieldsEntry, Metadata } from "../../../lib/core/manifest.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import { Secret } from "../../../lib/core/secret.ts";

const ours: ManagedFieldsEntry = {
  manager: "kustomize-controller",
  operation: "Apply",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": { "f:k": {} } },
};
const installationKey = new Secret("test");
const deps = { installationKey, isAwaited: false, isLook: false, rules: usualRules };
const domain = "kustomize.toolkit.fluxcd.io";

function desired(metadata: Partial<Metadata> = {}): DesiredObject {
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "t", ...metadata } };
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name: "a" };
  return { id: "t_a__ConfigMap", ref, manifest, digest: "sha256:d", resource: undefined };
}

function live(metadata: Partial<Metadata> = {}) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "t", uid: "u1", managedFields: [ours], ...metadata },
  };
}

const print = fingerprint([ours], installationKey, kustomizationStyle) ?? "";
const entry: InventoryEntry = {
  id: "t_a__ConfigMap",
  version: "v1",
  uid: "u1",
  desired: "sha256:d",
  fingerprint: print,
  state: "live",
};
const editor = (manager: string, operation: "Apply" | "Update", subresource?: string): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsV1: { "f:data": { "f:z": {} } },
  ...(subresource === undefined ? {} : { subresource }),
});

describe("an object is proven unchanged only if all its marks agree", () => {
  test.each([
    { name: "everything is as the last apply left it", entry, live: live(), kind: "unchanged" },
    {
      name: "only the time of our managed-fields entry changed",
      entry,
      live: live({ managedFields: [{ ...ours, time: "2026-02-02T00:00:00Z" }] }),
      kind: "unchanged",
    },
    {
      name: "another manager owns other fields",
      entry,
      live: live({ managedFields: [ours, editor("istio", "Update")] }),
      kind: "unchanged",
    },
    {
      name: "kubectl wrote the status",
      entry,
      live: live({ managedFields: [ours, editor("kubectl-edit", "Update", "status")] }),
      kind: "unchanged",
    },
    { name: "it is missing", entry, live: undefined, kind: "unproven" },
    { name: "we have never applied it", entry: undefined, live: live(), kind: "unproven" },
    { name: "it was recreated by another client", entry, live: live({ uid: "u2" }), kind: "unproven" },
    {
      name: "the manifest has changed",
      entry: { ...entry, desired: "sha256:e" },
      live: live(),
      kind: "unproven",
    },
    {
      name: "the applied version has changed",
      entry: { ...entry, version: "v1beta1" },
      live: live(),
      kind: "unproven",
    },
    { name: "it was only planned", entry: { ...entry, state: "planned" as const }, live: live(), kind: "unproven" },
    {
      name: "no proof was kept",
      entry: { id: entry.id, version: "v1", uid: "u1", state: "live" as const },
      live: live(),
      kind: "unproven",
    },
    {
      name: "no fingerprint is stored, and we own nothing of it",
      entry: { id: entry.id, version: "v1", uid: "u1", desired: "sha256:d", state: "live" as const },
      live: live({ managedFields: [] }),
      kind: "unproven",
    },
    {
      name: "another manager took a field of ours",
      entry,
      live: live({ managedFields: [{ ...ours, fieldsV1: {} }] }),
      kind: "unproven",
    },
    { name: "our entry is missing", entry, live: live({ managedFields: [] }), kind: "unproven" },
    {
      name: "a user edited with kubectl (74)",
      entry,
      live: live({ managedFields: [ours, editor("kubectl-edit", "Update")] }),
      kind: "unproven",
    },
    {
      name: "a user applied with kubectl",
      entry,
      live: live({ managedFields: [ours, editor("kubectl", "Apply")] }),
      kind: "unproven",
    },
    {
      name: "it has kubectl's annotation",
      entry,
      live: live({ annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }),
      kind: "unproven",
    },
    {
      name: "it is terminating",
      entry,
      live: live({ deletionTimestamp: "2026-01-01T00:00:00Z" }),
      kind: "unproven",
    },
    {
      name: "its digests were made with another key",
      entry: { ...entry, fingerprint: fingerprint([ours], new Secret("other"), kustomizationStyle) ?? "" },
      live: live(),
      kind: "unproven",
    },
  ])("$name: $kind", (row) => {
    expect(firstLook(desired(), row.entry, row.live, deps).kind).toBe(row.kind);
  });

  test.each([
    { name: "reconcile disabled in the manifest", wanted: { [`${domain}/reconcile`]: "disabled" }, found: {} },
    {
      name: "reconcile disabled on the live object, in any case (80)",
      wanted: {},
      found: { [`${domain}/reconcile`]: "Disabled" },
    },
    { name: "ssa Ignore in the manifest (79)", wanted: { [`${domain}/ssa`]: "Ignore" }, found: {} },
    { name: "ssa IfNotPresent and it exists (78)", wanted: { [`${domain}/ssa`]: "IfNotPresent" }, found: {} },
  ])("$name: skipped, as a label and as an annotation", ({ wanted, found }) => {
    for (const place of ["labels", "annotations"]) {
      expect(firstLook(desired({ [place]: wanted }), undefined, live({ [place]: found }), deps)).toEqual({
        kind: "skipped",
        uid: "u1",
      });
    }
  });

  test.each([
    {
      name: "an earlier run applied it and waits for it",
      isAwaited: true,
      spec: { ttlSecondsAfterFinished: 0 },
      kind: "unchanged",
    },
    { name: "no run waits for it", isAwaited: false, spec: { ttlSecondsAfterFinished: 0 }, kind: "unproven" },
    { name: "it has no ttlSecondsAfterFinished", isAwaited: true, spec: {}, kind: "unproven" },
    {
      name: "its manifest has changed",
      isAwaited: true,
      spec: { ttlSecondsAfterFinished: 0 },
      before: { ...entry, desired: "other" },
      kind: "unproven",
    },
    {
      name: "it is terminating",
      isAwaited: true,
      spec: { ttlSecondsAfterFinished: 0 },
      before: { ...entry, state: "deleting" as const },
      kind: "unproven",
    },
    {
      name: "nothing is stored about it",
      isAwaited: true,
      spec: { ttlSecondsAfterFinished: 0 },
      before: null,
      kind: "unproven",
    },
  ])("a finished Job that was deleted, if $name: $kind (108)", ({ isAwaited, spec, before = entry, kind }) => {
    const job = { ...desired(), manifest: { ...desired().manifest, kind: "Job", spec } };
    expect(firstLook(job, before ?? undefined, undefined, { ...deps, isAwaited }).kind).toBe(kind);
  });

  test("a terminating object that is applied only once is recreated", () => {
    const once = desired({ annotations: { [`${domain}/ssa`]: "IfNotPresent" } });
    const going = live({ deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/hold"] });
    expect(firstLook(once, entry, going, deps)).toEqual({
      kind: "terminating",
      uid: "u1",
      blockingFinalizers: ["example.com/hold"],
    });
  });

  test.each([
    { change: { kind: "terminating", uid: "u1", blockingFinalizers: [] }, changes: false },
    { change: { kind: "unchanged", uid: "u1", fingerprint: print }, changes: false },
    { change: { kind: "skipped", uid: "u1" }, changes: false },
    { change: { kind: "drifted", entry }, changes: false },
    { change: { kind: "create" }, changes: true },
    { change: { kind: "deferred" }, changes: true },
  ] as const)("a plan with $change.kind alone writes to the cluster: $changes", ({ change, changes }) => {
    const skipped = { desired: desired(), change: { kind: "skipped", uid: "u1" } } as const;
    expect(changesAnything({ objects: [skipped, { desired: desired(), change }], prune: [] })).toBe(changes);
  });

  test.each([
    { name: "a look", isLook: true, change: { kind: "configure", takeover: undefined }, kind: "drifted" },
    { name: "a look", isLook: true, change: { kind: "replace", uid: "u1" }, kind: "drifted" },
    { name: "a look", isLook: true, change: { kind: "create" }, kind: "create" },
    { name: "a run that applies", isLook: false, change: { kind: "replace", uid: "u1" }, kind: "replace" },
    {
      name: "a check of an object not applied in this form",
      isLook: true,
      change: { kind: "configure", takeover: undefined },
      before: { ...entry, desired: "sha256:other" },
      kind: "configure",
    },
    {
      name: "a check of an object that was only planned",
      isLook: true,
      change: { kind: "configure", takeover: undefined },
      before: { ...entry, state: "planned" },
      kind: "configure",
    },
    {
      name: "a check of a new object",
      isLook: true,
      change: { kind: "replace", uid: "u1" },
      before: null,
      kind: "replace",
    },
  ] as const)("$name: $change.kind is $kind", ({ isLook, change, kind, ...more }) => {
    const before = "before" in more ? (more.before ?? undefined) : entry;
    expect(atThisLook(desired(), change, before, { ...deps, isLook }).kind).toBe(kind);
  });

  test("ssa Merge keeps what kubectl set (77)", () => {
    const metadata = { annotations: { [`${domain}/ssa`]: "Merge" } };
    const edited = live({ managedFields: [ours, editor("kubectl-edit", "Update")] });
    expect(firstLook(desired(metadata), entry, edited, deps).kind).toBe("unchanged");
  });
});
