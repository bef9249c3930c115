import { describe, expect, test } from "vitest";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { takeover } from "../../../lib/apply/takeover.ts";
import type { ManagedFieldsEntry } from "../../../lib/core/manifest.ts";

const ours: ManagedFieldsEntry = {
  manager: "kustomize-controller",
  operation: "Apply",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": { "f:a": {} } },
};
const kubectl: ManagedFieldsEntry = {
  ...ours,
  manager: "kubectl-edit",
  operation: "Update",
  fieldsV1: { "f:data": { "f:b": {} } },
};
const other: ManagedFieldsEntry = {
  ...ours,
  manager: "good-name",
  operation: "Update",
  fieldsV1: { "f:data": { "f:c": {} } },
};

/** The managed fields as they are after the takeover; undefined where there is none. */
function merged(...managedFields: readonly ManagedFieldsEntry[]): unknown {
  return takeover({ name: "x", managedFields }, { apiVersion: "v2", metadata: { name: "x" } }, usualRules)?.patch[0]?.[
    "value"
  ];
}

describe("taking over from kubectl (74, 75, 77)", () => {
  test("makes no patch if there is nothing to take over", () => {
    expect(
      takeover({ name: "x", managedFields: [ours, other] }, { apiVersion: "v1", metadata: { name: "x" } }, usualRules),
    ).toBeUndefined();
  });

  test("moves kubectl's fields to our entry, keeps other managers, and patches only this version", () => {
    const live = { name: "x", resourceVersion: "7", managedFields: [ours, kubectl, other] };
    expect(takeover(live, { apiVersion: "v1", metadata: { name: "x" } }, usualRules)?.patch).toEqual([
      {
        op: "replace",
        path: "/metadata/managedFields",
        value: [other, { ...ours, fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } }],
      },
      { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    ]);
  });

  test("moves fields of managers that the installation names by a prefix, and never our own (76)", () => {
    const live = { name: "x", managedFields: [ours, other] };
    const manifest = { apiVersion: "v1", metadata: { name: "x" } };
    const rules = (...overrideManagers: readonly string[]) => ({ ...usualRules, overrideManagers });
    const [patch] = takeover(live, manifest, rules(other.manager.slice(0, 2)))?.patch ?? [];
    expect(patch).toMatchObject({ path: "/metadata/managedFields", value: [{ manager: ours.manager }] });
    expect(takeover(live, manifest, rules("someone-else", ours.manager))).toBeUndefined();
  });

  test("removes kubectl's annotation, with its slash escaped as in JSON pointers", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    expect(
      takeover({ name: "x", annotations }, { apiVersion: "v1", metadata: { name: "x" } }, usualRules)?.patch,
    ).toEqual([{ op: "remove", path: "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration" }]);
  });

  test.each([
    {
      annotations: { "kustomize.toolkit.fluxcd.io/checksum": "c" },
      path: "annotations/kustomize.toolkit.fluxcd.io~1checksum",
    },
    { annotations: { "fluxcd.io/sync-checksum": "c" }, path: "annotations/fluxcd.io~1sync-checksum" },
    { labels: { "fluxcd.io/sync-gc-mark": "m" }, path: "labels/fluxcd.io~1sync-gc-mark" },
  ])("removes the mark of an older deployer: $path", ({ path, ...marks }) => {
    expect(takeover({ name: "x", ...marks }, { apiVersion: "v1", metadata: { name: "x" } }, usualRules)?.patch).toEqual(
      [{ op: "remove", path: `/metadata/${path}` }],
    );
  });

  test.each<{ name: string; entry: Partial<ManagedFieldsEntry>; isTaken: boolean }>([
    { name: "kubectl under any name that starts so", entry: { manager: "kubectl-client-side-apply" }, isTaken: true },
    { name: "kubectl's own server-side apply", entry: { manager: "kubectl", operation: "Apply" }, isTaken: true },
    { name: "the manager before-first-apply", entry: { manager: "before-first-apply" }, isTaken: true },
    { name: "our own manager with operation Update", entry: { manager: "kustomize-controller" }, isTaken: true },
    {
      name: "a manager whose longer name starts with ours",
      entry: { manager: "kustomize-controller-2" },
      isTaken: true,
    },
    {
      name: "an apply of another manager under its old name",
      entry: { manager: "before-first-apply", operation: "Apply" },
      isTaken: false,
    },
    { name: "a manager whose name ends like ours", entry: { manager: "my-kustomize-controller" }, isTaken: false },
    {
      name: "a manager whose name ends like a listed one",
      entry: { manager: "not-before-first-apply" },
      isTaken: false,
    },
    { name: "kubectl, on the status", entry: { manager: "kubectl", subresource: "status" }, isTaken: false },
  ])("takes over fields of $name: $isTaken", ({ entry, isTaken }) => {
    expect(merged(ours, { ...kubectl, ...entry }) !== undefined).toBe(isTaken);
  });

  test("merges into our entry for the object itself, which keeps its time and version", () => {
    const status: ManagedFieldsEntry = { ...ours, subresource: "status", fieldsV1: { "f:status": {} } };
    const namesake: ManagedFieldsEntry = { ...other, operation: "Apply" };
    const timed = { ...ours, time: "2026-01-01T00:00:00Z" };
    const edited = { ...kubectl, time: "2026-02-02T00:00:00Z" };
    const fieldsV1 = { "f:data": { "f:a": {}, "f:b": {} } };
    expect(merged(namesake, status, timed, edited)).toEqual([namesake, status, { ...timed, fieldsV1 }]);
  });

  test("without an entry of ours makes one of the applied version with the time of the first that is taken over", () => {
    const edited = { ...kubectl, time: "2026-02-02T00:00:00Z" };
    const { time: _, ...untimed } = edited;
    const own = { ...ours, apiVersion: "v2", fieldsV1: kubectl.fieldsV1 };
    expect(merged(edited)).toEqual([{ ...own, time: edited.time }]);
    expect(merged(untimed)).toEqual([own]);
    expect(merged({ ...untimed, manager: "before-first-apply" })).toEqual([own]);
  });

  test("owns a field as a whole if one manager owns it and another owns a field below it", () => {
    const deep = { ...kubectl, fieldsV1: { "f:data": { "f:a": { "f:x": {} } } } };
    expect(merged(ours, deep)).toMatchObject([{ fieldsV1: { "f:data": { "f:a": { "f:x": {} } } } }]);
  });

  describe("with the gate MigrateAPIVersion", () => {
    const migrating = { ...usualRules, migratesApiVersion: true };
    const manifest = { apiVersion: "v2", metadata: { name: "x" } };
    const status: ManagedFieldsEntry = { ...other, subresource: "status" };

    test("moves all entries to the applied version, also those of other managers and subresources", () => {
      const current = { ...ours, apiVersion: "v2" };
      const live = { name: "x", resourceVersion: "7", managedFields: [current, status] };
      expect(takeover(live, manifest, migrating)).toEqual({
        migrates: true,
        patch: [
          { op: "replace", path: "/metadata/managedFields", value: [current, { ...status, apiVersion: "v2" }] },
          { op: "replace", path: "/metadata/resourceVersion", value: "7" },
        ],
      });
      expect(takeover(live, manifest, usualRules)).toBeUndefined();
      expect(takeover({ ...live, managedFields: [current] }, manifest, migrating)).toBeUndefined();
      expect(takeover({ name: "x" }, manifest, migrating)).toBeUndefined();
    });

    test("migrates and takes over with one patch", () => {
      expect(takeover({ name: "x", managedFields: [ours, kubectl, status] }, manifest, migrating)).toEqual({
        migrates: true,
        patch: [
          {
            op: "replace",
            path: "/metadata/managedFields",
            value: [
              { ...status, apiVersion: "v2" },
              { ...ours, apiVersion: "v2", fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } },
            ],
          },
        ],
      });
      const taking = {
        name: "x",
        managedFields: [
          { ...ours, apiVersion: "v2" },
          { ...kubectl, apiVersion: "v2" },
        ],
      };
      expect(takeover(taking, manifest, migrating)?.migrates).toBe(false);
    });

    test("with ssa Merge takes nothing over, but migrates", () => {
      const labels = { "kustomize.toolkit.fluxcd.io/ssa": "merge" };
      const managedFields = [ours, kubectl];
      const value = managedFields.map((entry) => ({ ...entry, apiVersion: "v2" }));
      expect(takeover({ name: "x", labels, managedFields }, manifest, migrating)?.patch).toEqual([
        { op: "replace", path: "/metadata/managedFields", value },
      ]);
    });
  });

  test("with ssa Merge takes nothing over, set in the manifest or on the live object", () => {
    const merged = { name: "x", labels: { "kustomize.toolkit.fluxcd.io/ssa": "merge" } };
    expect(
      takeover({ name: "x", managedFields: [kubectl] }, { apiVersion: "v1", metadata: merged }, usualRules),
    ).toBeUndefined();
    expect(
      takeover({ ...merged, managedFields: [kubectl] }, { apiVersion: "v1", metadata: { name: "x" } }, usualRules),
    ).toBeUndefined();
  });
});
