import { describe, expect, test } from "vitest";
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
const other: ManagedFieldsEntry = { ...ours, manager: "good-name", operation: "Update" };

describe("taking over from kubectl (74, 75, 77)", () => {
  test("nothing to take over is no patch", () => {
    expect(takeover({ name: "x", managedFields: [ours, other] }, { name: "x" }, "v1")).toBeUndefined();
  });

  test("kubectl's fields join our entry, other managers stay, and the patch is for this version only", () => {
    const live = { name: "x", resourceVersion: "7", managedFields: [ours, kubectl, other] };
    expect(takeover(live, { name: "x" }, "v1")).toEqual([
      {
        op: "replace",
        path: "/metadata/managedFields",
        value: [other, { ...ours, fieldsV1: { "f:data": { "f:a": {}, "f:b": {} } } }],
      },
      { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    ]);
  });

  test("kubectl's annotation goes, its slash written as JSON pointers have it", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    expect(takeover({ name: "x", annotations }, { name: "x" }, "v1")).toEqual([
      { op: "remove", path: "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration" },
    ]);
  });

  test("ssa Merge takes over nothing", () => {
    const merged = { name: "x", labels: { "kustomize.toolkit.fluxcd.io/ssa": "merge" } };
    expect(takeover({ name: "x", managedFields: [kubectl] }, merged, "v1")).toBeUndefined();
  });
});
