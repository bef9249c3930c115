import { describe, expect, test } from "vitest";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import { inventoryIn, ownersNearby } from "../../../../lib/flows/owner/owners-nearby.ts";

const kustomization = (
  name: string,
  {
    spec = {},
    metadata = {},
    ids = [`t_${name}__ConfigMap`],
  }: {
    readonly spec?: object;
    readonly metadata?: Partial<Metadata>;
    readonly ids?: readonly string[];
  } = {},
): LiveObject => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace: "apps", uid: `uid-${name}`, ...metadata },
  spec: { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "x" }, ...spec },
  status: { inventory: { entries: ids.map((id) => ({ id, v: "v1" })) } },
});
const object = (name: string) => ({ ref: { group: "", kind: "ConfigMap", namespace: "t", name } });
const deletionTimestamp = "2026-01-01T00:00:00Z";
const everything = () => true;
const atHome = { uid: "uid-self", isElsewhere: false, inTarget: inventoryIn };
const elsewhere = { ...atHome, isElsewhere: true };

describe("the owners of objects in a cluster", () => {
  test.each([
    {
      name: "include an owner that is not being deleted",
      of: kustomization("a"),
      is: { isSelf: false, isTerminating: false, cascades: true, has: [object("a")] },
    },
    { name: "include our own, whose objects are known", of: kustomization("self"), is: { isSelf: true, has: [] } },
    {
      name: "include an owner that is deleted with its objects",
      of: kustomization("a", { metadata: { deletionTimestamp } }),
      is: { isTerminating: true, cascades: true },
    },
    {
      name: "include an owner that is deleted and leaves its objects",
      of: kustomization("a", { metadata: { deletionTimestamp }, spec: { deletionPolicy: "Orphan" } }),
      is: { isTerminating: false, cascades: false, has: [object("a")] },
    },
    {
      name: "include an owner that keeps its objects",
      of: kustomization("a", { spec: { prune: false } }),
      is: { isTerminating: false, cascades: false, has: [object("a")] },
    },
    {
      name: "include an owner that is deleted with its objects, even if other fields of its spec are invalid",
      of: kustomization("a", { metadata: { deletionTimestamp }, spec: { path: 1 } }),
      is: { isTerminating: true, cascades: true },
    },
    {
      name: "include an owner with an invalid spec on which its deletion depends",
      of: kustomization("a", { metadata: { deletionTimestamp }, spec: { prune: "often" } }),
      is: { isTerminating: false, cascades: false, has: [object("a")] },
    },
    {
      name: "include an owner whose status is partly invalid",
      of: kustomization("a", { ids: ["no-id", "t_b__ConfigMap"] }),
      is: { has: [object("b")] },
    },
  ])("$name", ({ of, is }) => {
    const { name } = of.metadata;
    const ref = expect.objectContaining({ kind: "Kustomization", namespace: "apps", name });
    expect(ownersNearby([of], atHome, everything)).toEqual([expect.objectContaining({ ref, ...is })]);
  });

  test.each([
    { what: "that is not being deleted is included", release: {}, is: { isTerminating: false, cascades: true } },
    {
      what: "that is deleted with its release is included",
      release: { metadata: { deletionTimestamp } },
      is: { isTerminating: true, cascades: true },
    },
    {
      what: "that is suspended and leaves its release is included",
      release: { metadata: { deletionTimestamp }, spec: { suspend: true } },
      is: { isTerminating: false, cascades: false },
    },
  ])("a HelmRelease $what", ({ release, is }) => {
    const live = { ...kustomization("web", release), apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease" };
    const ref = { group: "helm.toolkit.fluxcd.io", kind: "HelmRelease", namespace: "apps", name: "web" };
    expect(ownersNearby([live], atHome, everything)).toMatchObject([{ ref, has: [object("web")], ...is }]);
  });

  test("include only the objects that are asked for", () => {
    const isNear = ({ name }: ObjectRef) => name === "b";
    const ids = ["t_a__ConfigMap", "t_b__ConfigMap"];
    const all = [kustomization("a", { ids }), kustomization("c"), kustomization("b", { ids: [] })];
    expect(ownersNearby(all, atHome, isNear)).toMatchObject([
      { ref: { name: "a" }, has: [object("b")] },
      { ref: { name: "b" }, has: [] },
    ]);
  });

  test("do not include objects of the same names in another cluster", () => {
    const there = kustomization("a", { spec: { kubeConfig: { secretRef: { name: "there" } } } });
    const isNear = ({ kind }: ObjectRef) => kind === "ConfigMap";
    const sharing = (self: typeof atHome, shared: LiveObject) => ({
      ...self,
      inTarget: (one: LiveObject) => (one === shared ? inventoryIn(one) : []),
    });
    const here = kustomization("b");
    expect(ownersNearby([there, here], sharing(atHome, here), isNear)).toMatchObject([{ ref: { name: "b" } }]);
    expect(ownersNearby([there, here], sharing(elsewhere, there), isNear)).toMatchObject([{ ref: { name: "a" } }]);
    expect(ownersNearby([here], sharing(elsewhere, there), everything)).toEqual([]);
  });
});
