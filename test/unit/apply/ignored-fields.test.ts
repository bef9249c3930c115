import { describe, expect, test } from "vitest";
import { ownedButIgnored, payloadOf, withoutIgnored } from "../../../lib/apply/ignored-fields.ts";
import { kustomizationStyle } from "../../../lib/apply/set/owner-style.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, ManagedFieldsEntry } from "../../../lib/core/manifest.ts";

const owner = { "kustomize.toolkit.fluxcd.io/name": "app", "kustomize.toolkit.fluxcd.io/namespace": "t" };
const wanted = {
  containers: [
    { name: "a", image: "1" },
    { name: "b", image: "1" },
  ],
};
const manifest = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "t", labels: owner },
  spec: wanted,
};

function live(spec: JsonObject, managedFields: readonly ManagedFieldsEntry[] = []): LiveObject {
  return { ...manifest, metadata: { ...manifest.metadata, uid: "u", resourceVersion: "7", managedFields }, spec };
}

const entry = (manager: string, fieldsV1: JsonObject, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: "Apply",
  apiVersion: "v1",
  fieldsV1,
  ...more,
});
const ofB = { "f:spec": { "f:containers": { 'k:{"name":"b"}': { ".": {}, "f:image": {} } } } };
const image = "/spec/containers/1/image";
const sidecarFirst = { containers: [{ name: "proxy" }, { name: "a", image: "1" }, { name: "b", image: "2" }] };
const specOf = (object: { readonly [field: string]: unknown }) => object["spec"];

describe("the payload of an object with ignored fields", () => {
  test("names the version that it was made for, and has the manifest's value if nothing differs", () => {
    const tried = live(wanted);
    expect(payloadOf(manifest, live(wanted), tried, [image], kustomizationStyle)).toEqual({
      ...manifest,
      metadata: { ...manifest.metadata, resourceVersion: "7" },
    });
  });

  test.each<{ name: string; managedFields: readonly ManagedFieldsEntry[]; sent: JsonObject }>([
    { name: "keeps the live value", managedFields: [], sent: { name: "b", image: "2" } },
    {
      name: "leaves out a field that another manager applies",
      managedFields: [entry("vpa", ofB)],
      sent: { name: "b" },
    },
    {
      name: "keeps the live value of a field that another manager has only updated",
      managedFields: [entry("hand", ofB, { operation: "Update" })],
      sent: { name: "b", image: "2" },
    },
    {
      name: "keeps the live value of a field that was applied only through the status subresource",
      managedFields: [entry("vpa", ofB, { subresource: "status" })],
      sent: { name: "b", image: "2" },
    },
    {
      name: "keeps a field that only we apply",
      managedFields: [entry("kustomize-controller", ofB)],
      sent: { name: "b", image: "2" },
    },
    {
      name: "keeps the live value if another manager applies a different value",
      managedFields: [entry("vpa", { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } })],
      sent: { name: "b", image: "2" },
    },
  ])("$name (91)", ({ managedFields, sent }) => {
    const now = live(
      {
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "2" },
        ],
      },
      managedFields,
    );
    expect(specOf(payloadOf(manifest, now, live(wanted), [image], kustomizationStyle))).toEqual({
      containers: [{ name: "a", image: "1" }, sent],
    });
  });

  test("finds a list item by its name, even if another client has inserted items before it", () => {
    const tried = live({ containers: [{ name: "proxy" }, ...wanted.containers] });
    expect(
      specOf(payloadOf(manifest, live(sidecarFirst), tried, ["/spec/containers/2/image"], kustomizationStyle)),
    ).toEqual({
      containers: [
        { name: "a", image: "1" },
        { name: "b", image: "2" },
      ],
    });
  });

  test("leaves out items that another client has removed, and keeps items that only the live object has", () => {
    const now = live({ ...wanted, nodeName: "n1", schedulerName: "theirs" });
    const tried = live({ ...wanted, priority: 3 });
    const paths = ["/spec/priority", "/spec/schedulerName"];
    const asked = { ...manifest, spec: { ...wanted, priority: 3 } };
    expect(specOf(payloadOf(asked, now, tried, paths, kustomizationStyle))).toEqual({
      ...wanted,
      schedulerName: "theirs",
    });
  });

  test.each(["/metadata/managedFields", "/metadata/uid", "/status", "/kind", "/metadata/name"])(
    "is not changed by %s, which no manifest sets",
    (path) => {
      const now = live(wanted, [entry("vpa", ofB)]);
      const { kind, metadata } = payloadOf(
        manifest,
        { ...now, status: 1 },
        { ...live(wanted), status: 2 },
        [path],
        kustomizationStyle,
      );
      expect({ kind, metadata }).toEqual({ kind: "Pod", metadata: { ...manifest.metadata, resourceVersion: "7" } });
    },
  );

  test("always has the owner labels", () => {
    const { labels: _labels, ...bare } = manifest.metadata;
    const theirs = { ...live(wanted), metadata: { ...bare, uid: "u", labels: { x: "y" } } };
    const { metadata } = payloadOf(manifest, theirs, live(wanted), ["/metadata/labels"], kustomizationStyle);
    expect(metadata.labels).toEqual({ x: "y", ...owner });
  });
});

describe("the comparison of an object with ignored fields", () => {
  test("leaves these fields out", () => {
    const spec = { containers: [{ name: "a", image: "1" }, { name: "b" }] };
    expect(withoutIgnored(live(wanted), [image, "/spec/nothing"])["spec"]).toEqual(spec);
  });

  test.each<{ name: string; paths: readonly string[]; fields: JsonObject; left: JsonObject }>([
    {
      name: "a field",
      paths: ["/data/k"],
      fields: { "f:data": { "f:k": {}, "f:l": {} } },
      left: { "f:data": { "f:l": {} } },
    },
    { name: "the only field of its parent", paths: ["/data/k"], fields: { "f:data": { "f:k": {} } }, left: {} },
    {
      name: "a field of a keyed item",
      paths: [image],
      fields: ofB,
      left: { "f:spec": { "f:containers": { 'k:{"name":"b"}': { ".": {} } } } },
    },
    { name: "a field of another item", paths: ["/spec/containers/0/image"], fields: ofB, left: ofB },
    {
      name: "a part of a field that is owned as a whole",
      paths: ["/spec/args/0"],
      fields: { "f:spec": { "f:args": {} } },
      left: {},
    },
    { name: "a field without an owner", paths: ["/spec/x/y"], fields: ofB, left: ofB },
  ])("does not own $name", ({ paths, fields, left }) => {
    expect(ownedButIgnored(fields, live({ ...wanted, args: ["x"] }), paths)).toEqual(left);
  });
});
