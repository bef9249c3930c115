import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/core/json.ts";
import { untilAllowed, untilForbidden } from "./known-rights.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const rbac = "rbac.authorization.k8s.io/v1";

/** Makes a service account; with verbs, also a role of its namespace with them on ConfigMaps that is bound to it. */
async function account(world: World, name: string, verbs: readonly string[]): Promise<void> {
  const { cluster, namespace, signal } = world;
  const made = { name, namespace };
  const manifests: readonly { readonly apiVersion: string; readonly kind: string; readonly [field: string]: Json }[] = [
    { apiVersion: "v1", kind: "ServiceAccount" },
    { apiVersion: rbac, kind: "Role", rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: [...verbs] }] },
    {
      apiVersion: rbac,
      kind: "RoleBinding",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
  for (const manifest of manifests) {
    if (verbs.length === 0 && manifest.kind !== "ServiceAccount") continue;
    await cluster.apply({ ...manifest, metadata: made }, { manager: "test", force: true }, signal);
  }
  if (verbs.length === 0) return;
  const own = world.as(user(world, name));
  const probe = configMapRef(namespace, "probe");
  // The verb that none of the earlier rights had.
  const last = () =>
    verbs.includes("delete") ? own.delete(probe, { propagation: "Background" }, signal) : own.get(probe, signal);
  await untilAllowed(last);
}

const user = ({ namespace }: World, name: string) => `system:serviceaccount:${namespace}:${name}`;
const applies = ["get", "list", "create", "patch"];
const everything = [...applies, "delete"];

/** Runs that apply as the service account that the object or the installation names (reference 6.1). */
export function impersonationStories(where: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization with a service account on ${where}`, () => {
    test("applies, prunes and is deleted with the account's rights, and with no others (122)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      await account(world, "deployer", []);
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { serviceAccountName: "deployer" });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: ConfigMap/${namespace}/a dry-run failed (Forbidden): configmaps "a" is forbidden: User "${user(world, "deployer")}" cannot patch resource "configmaps" in API group "" in the namespace "${namespace}"\n`,
      );
      await account(world, "deployer", applies);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);

      await world.publish("v2", [configMap("b")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False PruneFailed: delete failed, errors: ConfigMap\/\S+\/a delete failed: configmaps "a" is forbidden: User \S+ cannot delete resource/,
      );
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      await account(world, "deployer", everything);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
    });

    test("reads nothing of the target with Sluice's own rights: an account that may only write fails with its own error", async () => {
      const world = await newWorld();
      await account(world, "writer", ["create", "patch", "delete"]);
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { serviceAccountName: "writer" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False PruneFailed: delete failed, errors: ConfigMap\/\S+\/a query failed: configmaps "a" is forbidden: User \S+ cannot get resource/,
      );
      expect(await world.get("ConfigMap", "a")).toBeDefined();
    });

    test("reaches nothing in another namespace, however its objects name it", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const theirs = `${namespace}-theirs`;
      await cluster.create(
        { apiVersion: "v1", kind: "Namespace", metadata: { name: theirs } },
        { manager: "test" },
        signal,
      );
      await account(world, "tenant", everything);
      await world.publish("v1", [{ ...configMap("a"), metadata: { name: "a", namespace: theirs } }]);
      for (const spec of [{ targetNamespace: undefined }, { targetNamespace: theirs }]) {
        await world.kustomization("app", { serviceAccountName: "tenant", ...spec });
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: .*tenant" cannot patch resource/);
        expect(await cluster.list({ group: "", version: "v1", kind: "ConfigMap", namespace: theirs }, signal)).toEqual(
          expect.not.arrayContaining([expect.objectContaining({ metadata: expect.objectContaining({ name: "a" }) })]),
        );
      }
      // An account of theirs is always looked for in the object's own namespace.
      await world.kustomization("app", { serviceAccountName: `${theirs}:default` });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      expect(await world.ready("app")).toMatch(/^False InvalidSpec: .*spec\.serviceAccountName: is not a valid name/);
    });

    test("grants no rights that its account does not have, by a role or by a binding", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await account(world, "tenant", everything);
      const roles = {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["roles", "rolebindings"],
        verbs: everything,
      };
      const maps = { apiGroups: [""], resources: ["configmaps"], verbs: everything };
      const role = { apiVersion: rbac, kind: "Role", metadata: { name: "tenant", namespace }, rules: [maps, roles] };
      await cluster.apply(role, { manager: "test", force: true }, signal);
      const ofRoles = { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", namespace, name: "more" };
      await untilAllowed(() => world.as(user(world, "tenant")).get(ofRoles, signal));
      const groups = `["system:serviceaccounts" "system:serviceaccounts:${namespace}" "system:authenticated"]`;
      const why = (rights: string) =>
        `user "${user(world, "tenant")}" (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${rights}`;
      const metadata = { name: "more" };
      const secrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };
      await world.publish("v1", [{ apiVersion: rbac, kind: "Role", metadata, rules: [secrets] }]);
      await world.kustomization("app", { serviceAccountName: "tenant" });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: Role/${namespace}/more dry-run failed (Forbidden): roles.rbac.authorization.k8s.io "more" is forbidden: ${why('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')}\n`,
      );
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `${namespace}-admin` };
      await cluster.apply(
        { apiVersion: rbac, kind: "ClusterRole", metadata: { name: roleRef.name }, rules: [secrets, maps] },
        { manager: "test", force: true },
        signal,
      );
      const subjects = [{ kind: "ServiceAccount", name: "tenant", namespace }];
      await world.publish("v2", [{ apiVersion: rbac, kind: "RoleBinding", metadata, roleRef, subjects }]);
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: RoleBinding/${namespace}/more dry-run failed (Forbidden): rolebindings.rbac.authorization.k8s.io "more" is forbidden: ${why('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')}\n`,
      );
      const ref = {
        group: "rbac.authorization.k8s.io",
        version: "v1",
        kind: "ClusterRole",
        namespace: "",
        name: roleRef.name,
      };
      await cluster.delete(ref, { propagation: "Background" }, signal);
    });

    test("uses the installation's default account if it names none, and its own takes precedence (122)", async () => {
      const world = await newWorld();
      world.defaultServiceAccount = "default";
      await account(world, "test", everything);
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        new RegExp(`^False ReconciliationFailed: .*User "${user(world, "default")}" cannot patch`),
      );
      await world.kustomization("app", { serviceAccountName: "test" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("whose account loses its rights while its objects terminate waits until the timeout, and not longer", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      // It may list what it deletes, but not look whether it is gone.
      await account(world, "deployer", ["list", "create", "patch", "delete"]);
      await world.publish("v1", [configMap("a", { k: "v" }, { finalizers: ["example.com/hold"] }), configMap("b")]);
      const spec = { serviceAccountName: "deployer", deletionPolicy: "WaitForTermination", timeout: "30s" };
      await world.kustomization("app", spec);
      await world.run("app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();

      const binding = { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", namespace };
      await cluster.delete({ ...binding, name: "deployer" }, { propagation: "Background" }, signal);
      const maps = { group: "", version: "v1", kind: "ConfigMap", namespace };
      await untilForbidden(() => world.as(user(world, "deployer")).listMetadata(maps, signal));
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      world.clock.advance(31_000);
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.events("app")).toContainEqual(
        "Warning ReconciliationSucceeded: failed to wait for resources termination",
      );
      expect(await world.get("Kustomization", "app", "kustomize.toolkit.fluxcd.io/v1")).toBeUndefined();
    });

    test("whose account was removed leaves its objects when it is deleted, and an event lists them (121)", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await account(world, "deployer", everything);
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app", { serviceAccountName: "deployer" });
      await world.run("app");
      await cluster.delete(
        { group: "", version: "v1", kind: "ServiceAccount", namespace, name: "deployer" },
        { propagation: "Background" },
        signal,
      );
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.events("app")).toContainEqual(
        `Warning ReconciliationSucceeded: unable to prune objects: \nConfigMap/${namespace}/a\nConfigMap/${namespace}/b`,
      );
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await world.get("Kustomization", "app", "kustomize.toolkit.fluxcd.io/v1")).toBeUndefined();
    });
  });
}
