import { describe, expect, test } from "vitest";
import { exportObjects } from "../../../cli/export-objects.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("export", () => {
  const exported = async (objects: readonly LiveObject[], name?: string, all = false) => {
    const session = fakeSession(objects);
    await exportObjects(declaredKustomization, name, { all }, session);
    return session.output.out;
  };

  test("prints labels, annotations and spec, without status and fields that the API server or kubectl has added", async () => {
    const object = kustomization("web");
    const annotations = { team: "a", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    const metadata = { ...object.metadata, labels: { app: "web" }, annotations, finalizers: ["f"] };
    const text = await exported([{ ...object, spec: { interval: "10m" }, metadata }], "web");
    expect(text).toBe(`---
apiVersion: ${object.apiVersion}
kind: Kustomization
metadata:
  annotations:
    team: a
  labels:
    app: web
  name: web
  namespace: flux-system
spec:
  interval: 10m
`);
  });

  test("prints each object of the namespace with --all", async () => {
    const objects = [kustomization("web"), kustomization("db"), kustomization("far", {}, {}, "apps")];
    const text = await exported(objects, undefined, true);
    expect([...text.matchAll(/^ {2}name: (.*)$/gm)].map(([, name]) => name)).toEqual(["web", "db"]);
  });

  test.each([
    { name: "gone", all: false, message: `Kustomization object 'gone' not found in "flux-system" namespace` },
    { name: undefined, all: false, message: "name is required" },
    { name: undefined, all: true, message: `no Kustomization objects found in "flux-system" namespace` },
  ])("reports that there is nothing to print: $message", async ({ name, all, message }) => {
    await expect(exported([], name, all)).rejects.toThrow(message);
  });
});
