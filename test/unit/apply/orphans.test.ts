import { describe, expect, test } from "vitest";
import { type KnownOwner, orphans } from "../../../lib/apply/orphans.ts";
import type { ManagedFieldsEntry, OwnerReference } from "../../../lib/core/manifest.ts";
import type { PartialObject } from "../../../lib/core/ports/cluster.ts";

const time = "2026-11-01T10:00:00Z";
const applied: ManagedFieldsEntry = { manager: "kustomize-controller", operation: "Apply", apiVersion: "v1", time };
const byAnother: ManagedFieldsEntry = { manager: "endpoint-controller", operation: "Update", apiVersion: "v1", time };

interface Given {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly owner?: string;
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly uid?: string;
}

/** An object that carries the labels of `apps/web`, or of another. */
function object(name: string, given: Given = {}): PartialObject {
  const { apiVersion = "v1", kind = "ConfigMap", owner = "web", managedFields = [applied], uid = name } = given;
  const labels = { "kustomize.toolkit.fluxcd.io/name": owner, "kustomize.toolkit.fluxcd.io/namespace": "apps" };
  const { ownerReferences = [] } = given;
  return { apiVersion, kind, metadata: { name, namespace: "apps", uid, labels, managedFields, ownerReferences } };
}

function owner(name: string, ...entries: KnownOwner["entries"]): KnownOwner {
  return { kind: "Kustomization", uid: `uid-${name}`, namespace: "apps", name, entries };
}

const found = (objects: readonly PartialObject[], owners: readonly KnownOwner[]): readonly string[] =>
  orphans({ objects, owners, claims: [] }).objects.map(({ ref, reason }) => `${ref.name}: ${reason}`);

describe("an orphan", () => {
  test("is an applied object that no inventory lists, shown with its owner and the time of its last apply", () => {
    const owners = [owner("web", { id: "apps_kept__ConfigMap", state: "live" })];
    expect(orphans({ objects: [object("kept"), object("lost")], owners, claims: [] }).objects).toEqual([
      {
        ref: { group: "", kind: "ConfigMap", namespace: "apps", name: "lost" },
        apiVersion: "v1",
        uid: "lost",
        owner: { namespace: "apps", name: "web" },
        reason: "its Kustomization does not list it",
        lastApplied: time,
      },
    ]);
  });

  test("is also an object with the labels of a deleted Kustomization", () => {
    expect(found([object("lost", { owner: "old" })], [owner("web")])).toEqual(["lost: its Kustomization is gone"]);
  });

  describe("of a HelmRelease", () => {
    const helm = { manager: "helm-controller", operation: "Apply", apiVersion: "v1", time } as const;
    const ofRelease = (name: string, annotations: Readonly<Record<string, string>> = {}): PartialObject => {
      const labels = { "helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "apps" };
      const { metadata, ...rest } = object(name, { managedFields: [helm] });
      return { ...rest, metadata: { ...metadata, labels, annotations } };
    };
    const release = (...entries: KnownOwner["entries"]): KnownOwner => ({
      ...owner("web", ...entries),
      kind: "HelmRelease",
    });

    test("is recognised by its own labels, and not confused with one of a Kustomization of the same name", () => {
      expect(found([ofRelease("lost")], [owner("web")])).toEqual(["lost: its HelmRelease is gone"]);
      expect(found([ofRelease("lost")], [release()])).toEqual(["lost: its HelmRelease does not list it"]);
      expect(found([ofRelease("kept")], [release({ id: "apps_kept__ConfigMap", state: "live" })])).toEqual([]);
      expect(orphans({ objects: [ofRelease("lost")], owners: [], claims: [] }).objects[0]?.lastApplied).toBe(time);
    });

    test("is not an object of a hook, which no inventory lists", () => {
      expect(found([ofRelease("migrate", { "helm.sh/hook": "pre-install" })], [release()])).toEqual([]);
    });
  });

  test.each(["planned", "live", "deleting", "retained"] as const)(
    "is not an object that an entry lists as %s",
    (state) => {
      expect(found([object("kept")], [owner("web", { id: "apps_kept__ConfigMap", state })])).toEqual([]);
    },
  );

  test("is not an object that another owner's inventory lists, because it is being handed over", () => {
    expect(
      found([object("moved")], [owner("web"), owner("api", { id: "apps_moved__ConfigMap", state: "planned" })]),
    ).toEqual([]);
  });

  test("is distinguished by its API group: the same kind and name in another group is another object", () => {
    const deployment = object("web", { apiVersion: "apps/v1", kind: "Deployment" });
    const other = object("web", { apiVersion: "example.test/v1", kind: "Deployment", uid: "other" });
    const owners = [owner("web", { id: "apps_web_apps_Deployment", state: "live" })];
    expect(orphans({ objects: [deployment, other], owners, claims: [] }).objects.map(({ uid }) => uid)).toEqual([
      "other",
    ]);
  });

  test("served in several groups is reported once, and not at all if an inventory lists it in one of them", () => {
    const old = object("x", { apiVersion: "v1", kind: "Event", uid: "e" });
    const modern = object("x", { apiVersion: "events.k8s.io/v1", kind: "Event", uid: "e" });
    expect(found([old, modern], [])).toHaveLength(1);
    expect(found([old, modern], [owner("web", { id: "apps_x_events.k8s.io_Event", state: "live" })])).toEqual([]);
  });

  test.each([
    {
      name: "endpoints of a Service, which carry its labels",
      given: { kind: "Endpoints", managedFields: [byAnother] },
    },
    {
      name: "an object that a controller made from an applied object",
      given: {
        kind: "Secret",
        managedFields: [byAnother],
        ownerReferences: [{ apiVersion: "cert-manager.io/v1", kind: "Certificate", name: "web", uid: "c" }],
      },
    },
  ])("is not: $name", ({ given }) => {
    expect(found([object("derived", given)], [])).toEqual([]);
  });

  test("is also an object that lost its managed fields, as after a restore, although its apply time is unknown", () => {
    const { objects } = orphans({ objects: [object("restored", { managedFields: [] })], owners: [], claims: [] });
    expect(objects).toMatchObject([{ ref: { name: "restored" }, lastApplied: undefined }]);
  });

  test("is listed next to those of the same owner", () => {
    const objects = [object("b", { owner: "z" }), object("c", { owner: "a" }), object("a", { owner: "z" })];
    expect(orphans({ objects, owners: [], claims: [] }).objects.map(({ ref }) => ref.name)).toEqual(["c", "a", "b"]);
  });
});

test("a claim is leaked if its owner is deleted, no longer lists the object, or released it with prune: false", () => {
  const claim = (id: string, name = "web") => ({ id, ownerUid: `uid-${name}`, owner: `Kustomization/apps/${name}` });
  const owners = [
    owner(
      "web",
      { id: "live", state: "live" },
      { id: "planned", state: "planned" },
      { id: "let-go", state: "retained" },
    ),
  ];
  const claims = [claim("live"), claim("planned"), claim("let-go"), claim("unknown"), claim("live", "gone")];
  expect(orphans({ objects: [], owners, claims }).claims.map(({ id, owner: by, reason }) => [id, by, reason])).toEqual([
    ["let-go", "Kustomization/apps/web", "its owner no longer has it"],
    ["unknown", "Kustomization/apps/web", "its owner no longer has it"],
    ["live", "Kustomization/apps/gone", "its owner is gone"],
  ]);
});
