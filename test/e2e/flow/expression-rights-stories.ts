import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../lib/core/json.ts";
import { untilAllowed } from "./known-rights.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomizeGroup = "kustomize.toolkit.fluxcd.io";
const rbac = "rbac.authorization.k8s.io";

type Sent = JsonObject & { readonly apiVersion: string; readonly kind: string };

async function put(
  { cluster, signal }: World,
  namespace: string,
  { name, ...manifest }: Sent & { readonly name: string },
): Promise<void> {
  await cluster.apply({ ...manifest, metadata: { name, namespace } }, { manager: "test", force: true }, signal);
}

/** The namespace of another tenant, with a Secret and a Kustomization. */
async function neighbour(world: World): Promise<string> {
  const namespace = `${world.namespace}-neighbour`;
  const { cluster, signal } = world;
  await cluster.create(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { manager: "test" },
    signal,
  );
  await put(world, namespace, { apiVersion: "v1", kind: "Secret", name: "db", stringData: { password: "theirs" } });
  const spec = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "repo" }, path: "./theirs" };
  await put(world, namespace, { apiVersion: `${kustomizeGroup}/v1`, kind: "Kustomization", name: "theirs", spec });
  return namespace;
}

async function account(world: World, name: string): Promise<void> {
  await put(world, world.namespace, { apiVersion: "v1", kind: "ServiceAccount", name });
}

const userOf = (world: World, name: string): string => `system:serviceaccount:${world.namespace}:${name}`;

/** Lets the account get objects of this kind in a namespace. */
async function allow(world: World, name: string, namespace: string, apiGroup: string, plural: string): Promise<void> {
  const rules: Json = [{ apiGroups: [apiGroup], resources: [plural], verbs: ["get", "list", "create", "patch"] }];
  const role = `${name}-${plural}`;
  const made = { apiVersion: `${rbac}/v1`, name: role };
  await put(world, namespace, { ...made, kind: "Role", rules });
  const subjects: Json = [{ kind: "ServiceAccount", name, namespace: world.namespace }];
  const roleRef = { apiGroup: rbac, kind: "Role", name: role };
  await put(world, namespace, { ...made, kind: "RoleBinding", roleRef, subjects });
  const kind = { secrets: "Secret", kustomizations: "Kustomization", configmaps: "ConfigMap" }[plural] ?? "";
  const ref = { group: apiGroup, version: "v1", kind, namespace, name: "probe" };
  await untilAllowed(() => world.as(userOf(world, name)).get(ref, world.signal));
}

const elsewhere = (namespace: string, kind: string, name: string) =>
  `the expressions of spec.healthCheckExprs may not read ${kind}/${namespace}/${name}, which is in another namespace: ` +
  "name a service account that may read it in spec.serviceAccountName, or check it without an expression";

/** What expressions of a Kustomization read: what its own account may. */
export function expressionRightsStories(where: string, newWorld: () => Promise<World>): void {
  describe(`what a readyExpr may read, on ${where}`, () => {
    const dependsOn = (namespace: string | undefined) => [
      { name: "theirs", ...(namespace && { namespace }), readyExpr: "dep.spec.path == './theirs'" },
    ];

    test("with no-cross-namespace-refs a Kustomization that reads one of another namespace stalls, and is reported once", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world);
      world.noCrossNamespaceRefs = true;
      await world.kustomization("app", { dependsOn: [{ name: "first" }, ...dependsOn(namespace)] });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const message = `spec.dependsOn[1].readyExpr can't access 'Kustomization/${namespace}/theirs', cross-namespace references have been blocked`;
      expect(await world.ready("app")).toBe(`False AccessDenied: ${message}`);
      expect(await world.events("app")).toEqual([`Warning AccessDenied: ${message}`]);
      expect(world.subscriptionsOf("app")).toEqual([]);
    });

    test("with no-cross-namespace-refs those of its own namespace, also if the namespace is written", async () => {
      const world = await newWorld();
      const { namespace } = world;
      await world.publish("v1", [], { folders: { ".": [configMap("a")], "./theirs": [] } });
      world.noCrossNamespaceRefs = true;
      await world.kustomization("theirs", { path: "./theirs" });
      for (const named of [undefined, namespace]) {
        await world.kustomization("app", { dependsOn: dependsOn(named) });
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
      }
    });

    test("without a service account, those of any namespace, as in Flux", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { dependsOn: dependsOn(await neighbour(world)) });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test.each(["its own", "the installation's"])(
      "with %s service account only what that account may read",
      async (whose) => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        const namespace = await neighbour(world);
        await account(world, "tenant");
        if (whose !== "its own") world.defaultServiceAccount = "tenant";
        const spec = {
          ...(whose === "its own" && { serviceAccountName: "tenant" }),
          dependsOn: dependsOn(namespace),
        };
        await world.kustomization("app", spec);
        expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
        expect(await world.ready("app")).toBe(
          `False DependencyNotReady: the readyExpr of dependency '${namespace}/theirs' may not read it: kustomizations.${kustomizeGroup} "theirs" is forbidden: User "${userOf(world, "tenant")}" cannot get resource "kustomizations" in API group "${kustomizeGroup}" in the namespace "${namespace}"`,
        );
        await allow(world, "tenant", namespace, kustomizeGroup, "kustomizations");
        await allow(world, "tenant", world.namespace, "", "configmaps");
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
      },
    );

    test("with a service account those of its own namespace, whatever the account may get, as in Flux", async () => {
      const world = await newWorld();
      await world.publish("v1", [], { folders: { ".": [configMap("a")], "./theirs": [] } });
      await world.kustomization("theirs", { path: "./theirs" });
      await account(world, "tenant");
      await allow(world, "tenant", world.namespace, "", "configmaps");
      await world.kustomization("app", { serviceAccountName: "tenant", dependsOn: dependsOn(undefined) });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });
  });

  describe(`the expressions of a health check may read on ${where}`, () => {
    const ofSecrets = [{ apiVersion: "v1", kind: "Secret", current: "has(data.password)" }];
    const check = (namespace: string, kind: string, name: string) => ({
      healthChecks: [{ apiVersion: "v1", kind, name, namespace }],
      timeout: "30s",
    });

    test("without a service account no Secret of another namespace that the Kustomization itself applies", async () => {
      const world = await newWorld();
      const namespace = await neighbour(world);
      await world.publish("v1", [{ apiVersion: "v1", kind: "Secret", metadata: { name: "db", namespace } }]);
      await world.kustomization("app", { wait: true, healthCheckExprs: ofSecrets, timeout: "30s" });
      await world.run("app");
      expect(await world.ready("app")).toContain(elsewhere(namespace, "Secret", "db"));
    });

    test.each([
      { named: "by its kind", rules: ofSecrets },
      { named: "by its group", rules: [{ apiVersion: "v1", current: "has(data.password)" }] },
    ])("without a service account no Secret of another namespace, $named", async ({ rules }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world);
      await world.kustomization("app", { ...check(namespace, "Secret", "db"), healthCheckExprs: rules });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const ready = await world.ready("app");
      expect(ready).toMatch(/^False HealthCheckFailed: health check failed after /);
      expect(ready.slice(ready.indexOf("s: ") + 3)).toBe(elsewhere(namespace, "Secret", "db"));
    });

    test("without a service account Secrets of its own namespace, and of others only whether they exist", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world);
      await put(world, world.namespace, {
        apiVersion: "v1",
        kind: "Secret",
        name: "own",
        stringData: { password: "p" },
      });
      await world.kustomization("app", { ...check(world.namespace, "Secret", "own"), healthCheckExprs: ofSecrets });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.kustomization("app", { ...check(namespace, "Secret", "db"), healthCheckExprs: [] });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test.each([
      { noCrossNamespaceRefs: false, what: "other objects of another namespace, as in Flux" },
      { noCrossNamespaceRefs: true, what: "nothing of another namespace with no-cross-namespace-refs" },
    ])("without a service account $what", async ({ noCrossNamespaceRefs }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world);
      world.noCrossNamespaceRefs = noCrossNamespaceRefs;
      await put(world, namespace, { apiVersion: "v1", kind: "ConfigMap", name: "theirs", data: { k: "v" } });
      const healthCheckExprs = [{ apiVersion: "v1", kind: "ConfigMap", current: "data.k == 'v'" }];
      await world.kustomization("app", { ...check(namespace, "ConfigMap", "theirs"), healthCheckExprs });
      await world.run("app");
      const ready = await world.ready("app");
      const expected = noCrossNamespaceRefs
        ? elsewhere(namespace, "ConfigMap", "theirs")
        : "True ReconciliationSucceeded";
      expect(ready).toContain(expected);
    });

    test("with no-cross-namespace-refs objects without a namespace", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      world.noCrossNamespaceRefs = true;
      const healthCheckExprs = [{ apiVersion: "v1", kind: "Namespace", current: "status.phase == 'Active'" }];
      for (const namespace of ["", "ignored"]) {
        await world.kustomization("app", { ...check(namespace, "Namespace", world.namespace), healthCheckExprs });
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
      }
    });

    test("with a service account only what the account may read", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      const namespace = await neighbour(world);
      await account(world, "tenant");
      await allow(world, "tenant", world.namespace, "", "configmaps");
      const spec = { serviceAccountName: "tenant", ...check(namespace, "Secret", "db"), healthCheckExprs: ofSecrets };
      await world.kustomization("app", spec);
      await world.run("app");
      world.clock.advance(31_000);
      await world.run("app");
      expect(await world.ready("app")).toContain(
        `[Secret/${namespace}/db status: 'Unknown': secrets "db" is forbidden: User "${userOf(world, "tenant")}" cannot get`,
      );
      await allow(world, "tenant", namespace, "", "secrets");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });
  });
}
