import { describe, expect, test } from "vitest";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import { wantedByKustomizations } from "../../../../lib/flows/kustomization/wanted-by-kustomizations.ts";

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
const itself = (name: string) => ({ ref: expect.objectContaining({ kind: "Kustomization", namespace: "apps", name }) });
const object = (name: string, owner: string) => ({
  ref: { group: "", kind: "ConfigMap", namespace: "t", name },
  owner: `Kustomization/apps/${owner}`,
});
const self = { uid: "uid-self", goingIds: new Set<string>(), isNear: () => true };
const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("what Kustomizations want in a cluster", () => {
  test.each([
    { name: "one that lives on", of: kustomization("a"), wanted: [itself("a"), object("a", "a")] },
    { name: "our own, whose objects are known", of: kustomization("self"), wanted: [itself("self")] },
    { name: "one that goes with its objects", of: kustomization("a", { metadata: { deletionTimestamp } }), wanted: [] },
    {
      name: "one that goes and leaves its objects",
      of: kustomization("a", { metadata: { deletionTimestamp }, spec: { deletionPolicy: "Orphan" } }),
      wanted: [itself("a"), object("a", "a")],
    },
    {
      name: "one whose objects are in another cluster",
      of: kustomization("a", { spec: { kubeConfig: { secretRef: { name: "remote" } } } }),
      wanted: [itself("a")],
    },
    {
      name: "one whose spec cannot be read",
      of: kustomization("a", { spec: { prune: "often" } }),
      wanted: [itself("a"), object("a", "a")],
    },
    {
      name: "one whose status is partly wrong",
      of: kustomization("a", { ids: ["no-id", "t_b__ConfigMap"] }),
      wanted: [itself("a"), object("b", "a")],
    },
  ])("$name", ({ of, wanted }) => {
    expect(wantedByKustomizations([of], self)).toEqual(wanted);
  });

  test.each([
    { name: "with its objects", of: kustomization("a"), wanted: [] },
    { name: "but keeps its objects", of: kustomization("a", { spec: { prune: false } }), wanted: ["a", "a"] },
  ])("one that is pruned together with the rest, $name", ({ of, wanted }) => {
    const goingIds = new Set(["apps_a_kustomize.toolkit.fluxcd.io_Kustomization"]);
    expect(wantedByKustomizations([of], { ...self, goingIds }).map(({ ref }) => ref.name)).toEqual(wanted);
  });

  test("only what is asked for", () => {
    const isNear = ({ namespace }: ObjectRef) => namespace === "t";
    expect(wantedByKustomizations([kustomization("a")], { ...self, isNear })).toEqual([object("a", "a")]);
  });
});
