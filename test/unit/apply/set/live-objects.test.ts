import { describe, expect, test } from "vitest";
import { liveObjects } from "../../../../lib/apply/set/live-objects.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { ApiError, type ListQuery } from "../../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../../lib/core/ports/home-and-target.ts";
import { noTarget } from "../../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const owner = { name: "app", namespace: "flux" };
const labelSelector = "kustomize.toolkit.fluxcd.io/name=app,kustomize.toolkit.fluxcd.io/namespace=flux";
const map = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };
const role = {
  ...map,
  group: "rbac.authorization.k8s.io",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};
const of = (resource: typeof map, namespace: string, name: string) => ({
  ref: { group: resource.group, kind: resource.kind, namespace, name },
  resource,
});
const object = (namespace: string, name: string): LiveObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace, uid: name },
});

/** A cluster that notes how it is listed. */
function listing(listMetadata: TargetCluster["listMetadata"]) {
  const queries: ListQuery[] = [];
  const cluster: TargetCluster = {
    ...noTarget,
    listMetadata: (query, stop) => (queries.push(query), listMetadata(query, stop)),
  };
  return { cluster, queries };
}

describe("the objects of an owner in a cluster", () => {
  test("are listed once per kind by their labels, in one namespace or in all", async () => {
    const { cluster, queries } = listing(async () => []);
    const secret = { ...map, kind: "Secret", plural: "secrets" };
    const refs = [of(map, "a", "1"), of(map, "b", "2"), of(secret, "a", "1"), of(secret, "a", "2"), of(role, "", "r")];
    await liveObjects(refs, owner, cluster, signal);
    expect(queries).toEqual([
      { group: "", version: "v1", kind: "ConfigMap", labelSelector },
      { group: "", version: "v1", kind: "Secret", labelSelector, namespace: "a" },
      { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", labelSelector },
    ]);
  });

  test("are matched by the ids of the inventory", async () => {
    const { cluster } = listing(async () => [object("a", "1"), object("b", "2")]);
    const found = await liveObjects([of(map, "a", "1"), of(map, "b", "2")], owner, cluster, signal);
    expect([...found]).toEqual([
      ["a_1__ConfigMap", object("a", "1")],
      ["b_2__ConfigMap", object("b", "2")],
    ]);
  });

  const answer = (reason: string) => new ApiError({ code: 403, reason, message: "no" });

  test("are read one by one if listing is forbidden, and missing ones are left out", async () => {
    const { cluster } = listing(() => Promise.reject(answer("Forbidden")));
    const get: TargetCluster["get"] = async (ref) => {
      expect(ref.version).toBe("v1");
      return ref.name === "1" ? object(ref.namespace, ref.name) : undefined;
    };
    const found = await liveObjects([of(map, "a", "1"), of(map, "b", "2")], owner, { ...cluster, get }, signal);
    expect([...found.keys()]).toEqual(["a_1__ConfigMap"]);
  });

  test("are kept without their content, however they were read", async () => {
    const { cluster } = listing(() => Promise.reject(answer("Forbidden")));
    const get: TargetCluster["get"] = async () => ({ ...object("a", "1"), data: { k: "x".repeat(1_000) }, status: {} });
    const found = await liveObjects([of(map, "a", "1")], owner, { ...cluster, get }, signal);
    expect([...found.values()]).toEqual([object("a", "1")]);
  });

  test("are unknown if the API server answers with any other error", async () => {
    for (const error of [answer("TooManyRequests"), new Error("time is up")]) {
      const { cluster } = listing(() => Promise.reject(error));
      await expect(liveObjects([of(map, "a", "1")], owner, cluster, signal)).rejects.toBe(error);
    }
  });
});
