import { describe, expect, test } from "vitest";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import { type VersionedRef } from "../../../../lib/core/object-ref.ts";
import { ApiError, type Cluster, type KindQuery } from "../../../../lib/core/ports/cluster.ts";
import { maxToldObjects, toldObjects } from "../../../../lib/flows/kustomization/told-objects.ts";
import {
  newsOf,
  unreconciledAmong,
  unreconciledText,
} from "../../../../lib/flows/kustomization/unreconciled-objects.ts";

const { signal } = new AbortController();
const ref = (name: string, kind = "Canary", group = "flagger.app", version = "v1beta1"): VersionedRef => ({
  ...{ group, version, kind, namespace: "apps", name },
});
const many = (count: number, kind?: string) => Array.from({ length: count }, (_, index) => ref(`r${index}`, kind));

describe("objects that Sluice does not reconcile", () => {
  const kustomization = (version: string) => ref("app", "Kustomization", "kustomize.toolkit.fluxcd.io", version);
  const cluster = (...served: readonly string[]): Pick<Cluster, "resource"> => ({
    resource: async ({ group, kind, version = "" }: KindQuery) =>
      served.includes(version) ? { group, kind, version, plural: "x", namespaced: true, verbs: [] } : undefined,
  });

  test("include every version of an undeclared kind", async () => {
    const artifact = ref("x", "ExternalArtifact", "source.toolkit.fluxcd.io", "v1");
    const refs = [ref("web"), kustomization("v1"), kustomization("v1beta2"), artifact];
    const others = declaredKinds.filter(({ kind }) => kind !== "Canary");
    expect(await unreconciledAmong(refs, others, cluster(), signal)).toEqual([ref("web")]);
  });

  test("include a newer version of a declared kind, unless the cluster also serves the version that Sluice reads", async () => {
    const refs = [kustomization("v3")];
    expect(await unreconciledAmong(refs, declaredKinds, cluster("v3"), signal)).toEqual(refs);
    expect(await unreconciledAmong(refs, declaredKinds, cluster("v3", "v1"), signal)).toEqual([]);
  });

  test("are looked up once per kind", async () => {
    const asked: string[] = [];
    const resource = async ({ kind, version = "" }: KindQuery) => {
      asked.push(`${kind} ${version}`);
      return undefined;
    };
    const refs = [kustomization("v3"), { ...kustomization("v3"), name: "other" }, kustomization("v1")];
    const found = await unreconciledAmong(refs, declaredKinds, { resource }, signal);
    expect(found).toEqual(refs.slice(0, 2));
    expect(asked).toEqual(["Kustomization v1"]);
  });

  test("do not include kinds whose served versions the cluster does not report", async () => {
    const resource = async () => {
      throw new ApiError({ code: 503, reason: "ServiceUnavailable", message: "no answer" });
    };
    expect(await unreconciledAmong([kustomization("v3")], declaredKinds, { resource }, signal)).toEqual([]);
  });
});

describe("the Warning about unreconciled objects", () => {
  test("is sent once per object", () => {
    const first = newsOf([ref("a"), ref("b")], "all", []);
    expect(first.news).toEqual([ref("a"), ref("b")]);
    expect(newsOf([ref("a"), ref("b")], "all", first.marks).news).toEqual([]);
    const next = newsOf([ref("b"), ref("c"), ref("b", "HelmChart")], "all", first.marks);
    expect(next.news).toEqual([ref("c"), ref("b", "HelmChart")]);
  });

  test("is remembered for an object that a run did not reach, and forgotten once the object is no longer wanted", () => {
    const { marks } = newsOf([ref("a"), ref("b")], "all", []);
    const partial = newsOf([ref("a")], "some", marks);
    expect(newsOf([ref("b")], "all", partial.marks).news).toEqual([]);
    const whole = newsOf([ref("a")], "all", marks);
    expect(newsOf([ref("b")], "all", whole.marks).news).toEqual([ref("b")]);
  });

  test(`is sent once per kind if there are more than ${maxToldObjects} objects`, () => {
    expect(newsOf(many(maxToldObjects), "all", []).marks).toHaveLength(maxToldObjects);
    const first = newsOf(many(maxToldObjects + 1), "all", []);
    expect(first.marks).toHaveLength(1);
    expect(first.news).toHaveLength(maxToldObjects + 1);
    expect(newsOf(many(maxToldObjects + 50), "all", first.marks).news).toEqual([]);
    const other = newsOf([...many(maxToldObjects + 1), ref("a", "HelmChart")], "all", first.marks);
    expect(other.news).toEqual([ref("a", "HelmChart")]);
  });

  test("names ten objects and the controllers that would reconcile them, and counts the rest", () => {
    const text = unreconciledText([
      ...many(9),
      ref("slack", "Alert", "notification.toolkit.fluxcd.io", "v1beta3"),
      ref("z"),
    ]);
    expect(text).toContain("Sluice does not reconcile 11 objects of this Kustomization: Canary/apps/r0 (flagger");
    expect(text).toContain(
      "Alert/apps/slack (notification.toolkit.fluxcd.io/v1beta3) and 1 more. They are applied, and",
    );
    expect(text).toMatch(/nothing else is done unless this cluster runs flagger, notification-controller$/);
  });
});

describe("the carried state of this Warning", () => {
  test("is kept until a run writes a new one", () => {
    const told = toldObjects({ failures: 1, told: ["a"] });
    expect(told.addTo({ failures: 2 })).toEqual({ failures: 2, told: ["a"] });
    told.remember(["b"]);
    expect(told.addTo(undefined)).toEqual({ told: ["b"] });
    told.remember([]);
    expect(told.addTo({ failures: 2 })).toEqual({ failures: 2 });
  });

  test.each([undefined, {}, { told: "a" }, { told: [1] }, { told: Array(maxToldObjects + 1).fill("a") }])(
    "ignores state of an unknown shape: %#",
    (carried) => {
      expect(toldObjects(carried).marks()).toEqual([]);
    },
  );

  test(`stays small: ${maxToldObjects} objects take less than 2 KB`, () => {
    const told = toldObjects(undefined);
    told.remember(
      newsOf(
        many(maxToldObjects),
        "some",
        Array.from({ length: 50 }, (_, index) => `other-${index}`),
      ).marks,
    );
    expect(told.marks()).toHaveLength(maxToldObjects);
    expect(JSON.stringify(told.addTo({})).length).toBeLessThan(2_048);
  });
});
