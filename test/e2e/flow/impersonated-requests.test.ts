import { expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { configMap } from "./sample-manifests.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();

/** An embedded API server, whose worlds tell the requests of each run. */
async function begin() {
  const sent: string[] = [];
  const { cluster, ...embedded } = await embeddedCluster({
    observe: ({ verb, dryRun, path }) => void sent.push(`${verb}${dryRun ? " dry run" : ""} ${path}`),
  });
  return {
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
    /** The requests of a first run, of one that applies and prunes, of an unchanged one, and of the deletion. */
    requestsOfRuns: async (namespace: string, spec: JsonObject) => {
      const made = await world(cluster, namespace, (user) => cluster.as(user));
      const asked = async (before: () => Promise<unknown>) => {
        await before();
        sent.length = 0;
        await made.run("app");
        // Of the namespace and of events only the names differ.
        return sent.map((line) => line.replaceAll(namespace, "NAMESPACE").replace(/\/events\/.*$/, "/events/NAME"));
      };
      if (typeof spec["serviceAccountName"] === "string") await allow(spec["serviceAccountName"], namespace);
      const first = await asked(async () => {
        await made.publish("v1", [configMap("a"), configMap("b")]);
        await made.kustomization("app", spec);
      });
      expect(await made.ready("app")).toMatch(/^True/);
      const changed = await asked(() => made.publish("v2", [configMap("b", { k: "2" }), configMap("c")]));
      expect(await made.ready("app")).toMatch(/^True/);
      const unchanged = await asked(async () => undefined);
      return { first, changed, unchanged, deletion: await asked(() => made.remove("app")) };
    },
  };

  async function allow(name: string, namespace: string): Promise<void> {
    const rbac = "rbac.authorization.k8s.io";
    const metadata = { name, namespace };
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];
    const roleRef = { apiGroup: rbac, kind: "Role", name };
    const subjects = [{ kind: "ServiceAccount", name, namespace }];
    for (const manifest of [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
      { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata, roleRef, subjects },
    ]) {
      await cluster.apply(manifest, { manager: "test", force: true }, signal);
    }
  }
}

test("a run as a service account costs no more requests than one with Sluice's own rights, except for discovery in its first run", async () => {
  await using api = await begin();
  // So that with our own rights discovery is over.
  await api.requestsOfRuns("before", {});
  const ours = await api.requestsOfRuns("ours", {});
  const theirs = await api.requestsOfRuns("theirs", { serviceAccountName: "deployer" });
  expect(theirs.first.some((line) => line.startsWith("discovery "))).toBe(true);
  expect(theirs.first.filter((line) => !line.startsWith("discovery ")).toSorted()).toEqual(ours.first.toSorted());
  expect(theirs.changed.toSorted()).toEqual(ours.changed.toSorted());
  expect(theirs.unchanged.toSorted()).toEqual(ours.unchanged.toSorted());
  expect(ours.unchanged.length).toBeGreaterThan(0);
  // The deletion has to know whether the account is still there (statement 121).
  const lookAtAccount = "get /api/v1/namespaces/NAMESPACE/serviceaccounts/deployer";
  expect(theirs.deletion.toSorted()).toEqual([...ours.deletion, lookAtAccount].toSorted());
});
