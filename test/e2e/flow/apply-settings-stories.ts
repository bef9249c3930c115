import { describe, expect, test } from "vitest";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { untilAllowed } from "./known-rights.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const rbac = "rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";
const verbs = ["get", "list", "create", "patch", "delete"];

/** A service account that may write what is named, and Roles and RoleBindings: it must not grant what it does not have. */
async function limitedAccount({ cluster, namespace, signal, as }: World): Promise<void> {
  const metadata = { name: "limited", namespace };
  const rules = [
    { apiGroups: [""], resources: ["configmaps"], verbs },
    { apiGroups: [apiGroup], resources: ["roles", "rolebindings"], verbs },
  ];
  const roleRef = { apiGroup, kind: "Role", name: "limited" };
  const subjects = [{ kind: "ServiceAccount", name: "limited", namespace }];
  for (const manifest of [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: rbac, kind: "Role", metadata, rules },
    { apiVersion: rbac, kind: "RoleBinding", metadata, roleRef, subjects },
  ]) {
    await cluster.apply(manifest, { manager: "test", force: true }, signal);
  }
  await untilAllowed(() => as(limited(namespace)).get(configMapRef(namespace, "probe"), signal));
}

const limited = (namespace: string) => `system:serviceaccount:${namespace}:limited`;

const role = (name: string) => ({
  apiVersion: rbac,
  kind: "Role",
  metadata: { name },
  rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
});

const binding = (name: string, to: string) => ({
  apiVersion: rbac,
  kind: "RoleBinding",
  metadata: { name },
  roleRef: { apiGroup, kind: "Role", name: to },
  subjects: [{ kind: "ServiceAccount", name: "default" }],
});

/** The settings of an installation that say how objects are applied, under the names of Flux's flags. */
export function applySettingsStories(name: string, newWorld: () => Promise<World>): void {
  describe(`settings of applies on ${name}`, () => {
    test("override-manager: edits of a manager of this name are reverted, those of others stay (76)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const ref = configMapRef(world.namespace, "a");
      const edit = (manager: string, data: JsonObject) =>
        world.cluster.patch(ref, { type: "merge", body: { data } }, { manager }, world.signal);
      await edit("node-fetch", { overridden: "1" });
      await edit("good-name", { kept: "1" });
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v", overridden: "1", kept: "1" });
      world.applyRules = { ...usualRules, overrideManagers: ["node-fetch"] };
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v", kept: "1" });
      const applied = { ...configMap("a", { theirs: "1" }), metadata: { name: "a", namespace: world.namespace } };
      await world.cluster.apply(applied, { manager: "node-fetcher", force: true }, world.signal);
      await world.run("app");
      const mended = await world.get("ConfigMap", "a");
      expect(mended?.["data"]).toEqual({ k: "v", kept: "1" });
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(mended?.metadata.resourceVersion);
    });

    test("custom-apply-stage-kinds: a RoleBinding finds the Role of its own artifact, and without the setting it does not (84)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      await limitedAccount(world);
      await world.publish("v1", [role("x-role"), binding("x-rolebinding", "x-role"), configMap("a")]);
      await world.kustomization("app", { serviceAccountName: "limited" });
      await world.run("app");
      const refusal = `RoleBinding/${namespace}/x-rolebinding not found: rolebindings.rbac.authorization.k8s.io "x-role" not found`;
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}
`);
      expect(await world.get("Role", "x-role", rbac)).toBeUndefined();
      expect(await world.inventory("app")).toEqual([]);
      world.applyRules = { ...usualRules, customStageKinds: new Set([`${apiGroup}/Role`]) };
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("RoleBinding", "x-rolebinding", rbac)).toBeDefined();
      expect((await world.events("app")).at(-2)).toBe(
        `Normal Progressing: Role/${namespace}/x-role created\nRoleBinding/${namespace}/x-rolebinding created\nConfigMap/${namespace}/a created`,
      );
    });

    test("custom-apply-stage-kinds: a stage does not hide field errors of a later object", async () => {
      const world = await newWorld();
      world.applyRules = { ...usualRules, customStageKinds: new Set([`${apiGroup}/Role`]) };
      const bad = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 99_999 }] } };
      await world.publish("v1", [role("x-role"), bad]);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Service\/\S+\/s dry-run failed \(Invalid\)/,
      );
      expect(await world.get("Role", "x-role", rbac)).toBeUndefined();
    });

    test("an account that must not grant all rights binds a ClusterRole of the same artifact", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await limitedAccount(world);
      const clusterRole = `${namespace}-reader`;
      const metadata = { name: `${namespace}-limited` };
      const rules = [{ apiGroups: [apiGroup], resources: ["clusterroles"], verbs }];
      const roleRef = { apiGroup, kind: "ClusterRole", name: metadata.name };
      const subjects = [{ kind: "ServiceAccount", name: "limited", namespace }];
      for (const manifest of [
        { apiVersion: rbac, kind: "ClusterRole", metadata, rules },
        { apiVersion: rbac, kind: "ClusterRoleBinding", metadata, roleRef, subjects },
      ]) {
        await cluster.apply(manifest, { manager: "test", force: true }, signal);
      }
      const probe = { group: apiGroup, version: "v1", kind: "ClusterRole", namespace: "", name: "probe" };
      await untilAllowed(() => world.as(limited(namespace)).get(probe, signal));
      const bound = { ...binding("b", clusterRole), roleRef: { apiGroup, kind: "ClusterRole", name: clusterRole } };
      // What it grants has to be granted to the account in its whole cluster; it is none of ConfigMaps.
      const brought = { ...role(clusterRole), kind: "ClusterRole", rules };
      await world.publish("v1", [brought, bound]);
      await world.kustomization("app", { serviceAccountName: "limited" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("RoleBinding", "b", rbac)).toBeDefined();
      await world.remove("app");
      await world.run("app");
      for (const kind of ["ClusterRoleBinding", "ClusterRole"]) {
        const ref = { group: apiGroup, version: "v1", kind, namespace: "", name: metadata.name };
        await cluster.delete(ref, { propagation: "Background" }, signal);
      }
    });
  });
}
