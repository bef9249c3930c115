import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { refOf } from "../../../lib/core/manifest.ts";
import { deadlineMs } from "../../deadline.ts";
import { type BadInputWorld, badInputWorld, configMapYaml } from "../bad-input/bad-input-world.ts";
import { nestedTry, tenantTries } from "./tenant-tries.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 100 };
/** In the Secret of another. */
const treasure = "treasure-7c1f0b52";
const rbac = "rbac.authorization.k8s.io";
const kustomizations = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
let world: BadInputWorld;

/** An installation that tenants share: the accounts of all are `tenant` of their own namespace, which may do all in it. */
beforeAll(async () => {
  world = await badInputWorld({}, { "default-service-account": "tenant", "no-cross-namespace-refs": true });
  await write("v1", "Namespace", { name: "victim" });
  for (const namespace of ["default", "victim"]) {
    const named = { name: "tenant", namespace };
    await write("v1", "ServiceAccount", named);
    await write(`${rbac}/v1`, "Role", named, { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] });
    const subjects = [{ kind: "ServiceAccount", ...named }];
    await write(`${rbac}/v1`, "RoleBinding", named, {
      roleRef: { apiGroup: rbac, kind: "Role", name: "tenant" },
      subjects,
    });
  }
  await write("v1", "Secret", { name: "treasure", namespace: "victim" }, { stringData: { coins: treasure } });
  await world.push("victim", { "a.yaml": configMapYaml("stays").replace('"default"', '"victim"') });
  const spec = { interval: "1h", url: `oci://${world.local.registry}/victim`, ref: { tag: "v1" }, insecure: true };
  await write("source.toolkit.fluxcd.io/v1", "OCIRepository", { name: "app", namespace: "victim" }, { spec });
  await write(
    "kustomize.toolkit.fluxcd.io/v1",
    "Kustomization",
    { name: "app", namespace: "victim" },
    {
      spec: { interval: "1h", prune: true, path: ".", sourceRef: { kind: "OCIRepository", name: "app" } },
    },
  );
  const isApplied = async () => (await victims()).some(({ metadata }) => metadata.name === "stays");
  await vi.waitUntil(isApplied, patient);
});
afterAll(() => world[Symbol.asyncDispose]());

async function write(
  apiVersion: string,
  kind: string,
  metadata: { readonly name: string; readonly namespace?: string },
  more: JsonObject = {},
): Promise<void> {
  const manifest: Manifest = { ...more, apiVersion, kind, metadata };
  await world.cluster.apply(manifest, { manager: "test", force: true }, signal);
}

/** Everything of the other that a tenant could have touched; its own Kustomization and source are written by Sluice. */
async function victims(): Promise<readonly LiveObject[]> {
  const kinds = [
    ...["ConfigMap", "Secret", "ServiceAccount"].map((kind) => ({ group: "", version: "v1", kind })),
    ...["Role", "RoleBinding"].map((kind) => ({ group: rbac, version: "v1", kind })),
    kustomizations,
  ];
  const found = await Promise.all(kinds.map((kind) => world.cluster.list({ ...kind, namespace: "victim" }, signal)));
  return found.flat();
}

const marks = (objects: readonly LiveObject[]) =>
  objects.map(
    ({ status: _status, metadata: { resourceVersion: _version, managedFields: _fields, ...metadata }, ...rest }) => ({
      ...rest,
      metadata,
    }),
  );

/** Where the value of the other's Secret is told in the tenant's namespace. */
async function told(): Promise<readonly string[]> {
  const kinds = [
    { group: "", version: "v1", kind: "ConfigMap" },
    { group: "", version: "v1", kind: "Event" },
    kustomizations,
  ];
  const found = await Promise.all(kinds.map((kind) => world.cluster.list({ ...kind, namespace: "default" }, signal)));
  const texts = found.flat().map((object) => JSON.stringify(object));
  return [...texts, ...world.log].filter(
    (text) => text.includes(treasure) || text.includes(Buffer.from(treasure).toString("base64")),
  );
}

test("a tenant with a namespace, a repository and a Kustomization reaches nothing of another tenant, in over twenty attacks (122)", async () => {
  expect(tenantTries.length).toBeGreaterThan(20);
  expect(new Set(tenantTries.map(({ name }) => name)).size).toBe(tenantTries.length);
  const before = await victims();
  for (const [index, { files, spec }] of tenantTries.entries()) {
    await world.push(`try-${index}`, files ?? { "a.yaml": configMapYaml(`try-${index}`) });
    await world.source(`try-${index}`);
    await world.kustomization(`try-${index}`, spec);
  }
  await world.push("nested-parent", nestedTry.files);
  await world.source("nested-parent");
  await world.kustomization("nested-parent");
  for (const [index, { name, ready }] of tenantTries.entries()) {
    await expect.poll(() => world.ready("Kustomization", `try-${index}`), { ...patient, message: name }).toMatch(ready);
  }
  await expect.poll(() => world.ready("Kustomization", nestedTry.nested), patient).toMatch(nestedTry.ready);

  expect(marks(await victims()), "what is another's").toEqual(marks(before));
  const taken = { group: rbac, version: "v1", kind: "ClusterRoleBinding", namespace: "", name: "taken" };
  expect(await world.cluster.get(taken, signal)).toBeUndefined();
  expect(await told(), "where the Secret of another is told").toEqual([]);
});

async function eventsOf(name: string): Promise<readonly unknown[]> {
  const fieldSelector = `involvedObject.kind=Kustomization,involvedObject.name=${name}`;
  const query = { group: "", version: "v1", kind: "Event", namespace: "default", fieldSelector };
  return (await world.cluster.list(query, signal)).map(({ message }) => message);
}

test("a tenant who writes another's objects into his own inventory and drops them deletes none of them", async () => {
  const before = await victims();
  await world.push("listed", { "a.yaml": configMapYaml("listed") });
  await world.source("listed");
  await world.kustomization("listed");
  await expect.poll(() => world.ready("Kustomization", "listed"), patient).toMatch(/^True /);
  const ref = { ...kustomizations, namespace: "default", name: "listed" };
  const entries = ["victim_stays__ConfigMap", "victim_treasure__Secret"].map((id) => ({ id, v: "v1" }));
  const body = { status: { inventory: { entries } } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "tenant", subresource: "status" }, signal);
  await world.cluster.delete(ref, { propagation: "Background" }, signal);
  await expect.poll(async () => JSON.stringify(await eventsOf("listed")), patient).toContain("pruning for deleted");
  expect(marks(await victims())).toEqual(marks(before));
  expect(before.map((object) => refOf(object).name)).toContain("treasure");
});
