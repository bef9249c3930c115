import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declaredKinds } from "../../lib/api/kinds/declared-kinds.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import { widgetDefinition } from "../contract/cluster/widget-definition.ts";
import { withinDeadline } from "../deadline.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";

const { signal } = new AbortController();
const kustomize = "kustomize.toolkit.fluxcd.io";
const manager = "test";

/** The kinds that an installation serves, in the order of their names. */
const served = declaredKinds
  .map(({ group, plural, versions: [version] }) => `${plural}.${group}/${version}`)
  .toSorted();

let world: CliWorld;
beforeAll(async () => {
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
});

const ref = (kind: string, name: string) =>
  kind === "Kustomization"
    ? { group: kustomize, version: "v1", kind, namespace: "default", name }
    : { group: "", version: "v1", kind, namespace: "default", name };

/** Pushes these ConfigMaps as the artifact `name`, and makes a source and a Kustomization of it. */
async function follow(name: string, maps: readonly string[], spec: JsonObject = {}): Promise<void> {
  const folder = join(world.folder, name);
  await mkdir(folder, { recursive: true });
  const manifests = maps.map((map) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: map, namespace: "default" },
  }));
  await writeFile(join(folder, "all.yaml"), manifests.map((each) => `---\n${JSON.stringify(each)}\n`).join(""));
  const url = `oci://${world.registry}/${name}`;
  const from = ["--source", "https://git.test/app", "--revision", "main"];
  expect(await world.sh("push", "artifact", `${url}:v1`, "-f", folder, ...from)).toMatchObject({ code: 0 });
  const metadata = { name, namespace: "default" };
  const source = { interval: "1h", url, ref: { tag: "v1" }, insecure: true };
  const sourceRef = { kind: "OCIRepository", name };
  const objects = [
    { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec: source },
    {
      apiVersion: `${kustomize}/v1`,
      kind: "Kustomization",
      metadata,
      spec: { interval: "1h", prune: true, path: ".", sourceRef, ...spec },
    },
  ];
  for (const object of objects) await world.cluster.apply(object, { manager, force: true }, signal);
  const made = () => Promise.all(maps.map((map) => world.cluster.get(ref("ConfigMap", map), signal)));
  await expect.poll(made).not.toContain(undefined);
  await expect
    .poll(() => world.sh("get", "ks", name, "-n", "default"))
    .toMatchObject({ out: expect.stringContaining("Applied revision") });
}

const patch = (name: string, body: JsonObject) =>
  world.cluster.patch(ref("Kustomization", name), { type: "merge", body }, { manager }, signal);
const state = () => ["--state", join(world.folder, "state")];

describe("sluice check", () => {
  test("reports that the kinds are served and which installation owns the cluster", async () => {
    const { code, out, err } = await world.sh("check");
    expect([code, out]).toEqual([0, ""]);
    const kinds = served.map((name) => String.raw`✔ ${name}, installed by Sluice \d\S+`);
    const lines = [
      "► checking the Kubernetes API",
      String.raw`✔ Kubernetes 1\.35\.\d+`,
      "► checking crds",
      ...kinds,
      "► checking the rights of this identity",
      "✔ all that Sluice needs for its own objects",
      "► checking the owner of this cluster",
      String.raw`✔ local-[0-9a-f]{16} at \S+, version \S+, since \S+`,
      "✔ All checks passed\n",
    ];
    expect(err).toMatch(new RegExp(`^${lines.join("\n")}$`));
  });

  test("fails if the owner of the cluster cannot be read, until an installation takes it over", async () => {
    const owner = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
    const body = { data: { installation: null } };
    await world.cluster.patch(owner, { type: "merge", body }, { manager }, signal);
    const { code, out, err } = await world.sh("check", "--orphans", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({
      owner: null,
      ownerFault: expect.stringContaining("ConfigMap/kube-system/sluice-owner cannot be read"),
    });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /✗ ConfigMap\/kube-system\/sluice-owner cannot be read: data\.installation: .+\. Write it again with sluice take-over\n/,
      ),
    ]);
    expect(err).not.toContain("looking for orphans");
    expect(err).toMatch(/✗ check failed\n$/);
    expect(await world.sh("take-over", ...state())).toMatchObject({ code: 0 });
    expect(await world.sh("check")).toMatchObject({ code: 0 });
  });

  test("-o json prints every check as one document, also without --orphans", async () => {
    const { code, out } = await world.sh("check", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      kubernetes: { version: expect.stringMatching(/^1\.35\./), verdict: "tested" },
      rights: { missing: [] },
      unreconciled: [],
      flagger: [],
      pause: null,
      kinds: served.map((name) => ({ name, isServed: true, installedBy: expect.stringMatching(/^Sluice \d/) })),
      // After a take-over by the command it has no webhookUrl until its next write.
      owner: expect.objectContaining({
        id: expect.stringMatching(/^local-[0-9a-f]{16}$/),
        where: expect.any(String),
        version: "0.1.0",
        since: expect.any(String),
      }),
    });
  });

  test("counts the objects of Flux kinds that Sluice does not reconcile, and does not fail because of them", async () => {
    const group = "helm.toolkit.fluxcd.io";
    const definition = widgetDefinition(group, { name: "v2" });
    await world.cluster.apply(definition, { manager, force: true }, signal);
    const widget = { apiVersion: `${group}/v2`, kind: "Widget", metadata: { name: "w", namespace: "default" } };
    await expect.poll(() => world.cluster.resource({ group, kind: "Widget" }, signal)).toMatchObject({ version: "v2" });
    expect((await world.sh("check")).err).not.toContain("does not reconcile");
    await world.cluster.apply(widget, { manager, force: true }, signal);
    const { code, err } = await world.sh("check");
    expect(code).toBe(0);
    expect(err).toContain(
      "► checking for objects of Flux and Flagger that Sluice does not reconcile\n" +
        `⚠️ widgets.${group}/v2: 1 not reconciled by Sluice (default/w): nothing happens to them unless helm-controller runs\n`,
    );
    const { out } = await world.sh("check", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({
      unreconciled: [{ kind: `widgets.${group}/v2`, count: 1, objects: ["default/w"], controller: "helm-controller" }],
    });
  });

  test("-o json prints a document also if the cluster is not reachable, or if there is none", async () => {
    const nowhere = join(world.folder, "nowhere");
    const text = await readFile(world.kubeconfig, "utf8");
    await writeFile(nowhere, text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:9"));
    const unreachable = await world.sh("check", "-o", "json", "--kubeconfig", nowhere);
    expect(unreachable).toMatchObject({
      code: 1,
      err: expect.stringMatching(/✗ .*127\.0\.0\.1:9.*\n✗ check failed\n$/),
    });
    expect(JSON.parse(unreachable.out)).toEqual({
      fault: expect.stringContaining("127.0.0.1:9"),
      ...{ kinds: [], owner: null, pause: null },
    });
    const none = await world.sh("check", "-o", "json", "--kubeconfig", `${nowhere}-at-all`);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("no kubeconfig at") });
    expect(JSON.parse(none.out)).toMatchObject({ fault: expect.stringContaining("no kubeconfig at"), kinds: [] });
  });

  test("prints with -o yaml the document of -o json", async () => {
    const [json, yaml] = await Promise.all(["json", "yaml"].map((format) => world.sh("check", "-o", format)));
    expect(yaml?.code).toBe(0);
    expect(load(yaml?.out ?? "")).toEqual(JSON.parse(json?.out ?? ""));
  });

  test("refuses invalid combinations of options", async () => {
    expect(await world.sh("check", "-o", "xml")).toMatchObject({
      code: 1,
      err: "✗ --output must be table, json or yaml, not xml\n",
    });
    expect(await world.sh("check", "--state", "x")).toMatchObject({ code: 1, err: "✗ --state needs --orphans\n" });
  });
});

describe("sluice check --orphans", () => {
  test("finds no orphans if every object has an owner, including retained objects and those of a suspended Kustomization", async () => {
    await follow("web", ["web-a", "web-b"]);
    await follow("kept", ["kept-a", "kept-b"], { prune: false });
    // Without the second, which stays in the cluster and in the inventory alone.
    await follow("kept", ["kept-a"], { prune: false });
    await expect.poll(async () => (await inventoryOf("kept")).join()).not.toContain("kept-b");
    await patch("web", { spec: { suspend: true } });
    const clean = await world.sh("check", "--orphans", ...state());
    expect(clean).toMatchObject({ code: 0, out: "" });
    expect(clean.err).toMatch(/► looking for orphans\n✔ no orphans found\n✔ All checks passed\n$/);
  });

  test("uses the statuses and reports that if it cannot read the inventories", async () => {
    const { code, out, err } = await world.sh("check", "--orphans");
    expect(code).toBe(1);
    expect(out.split("\n").slice(1, -1)).toEqual([
      expect.stringMatching(/kept-b\s.*its Kustomization does not list it/),
    ]);
    expect(err).toContain("cannot be read here, so this uses the status of each Kustomization");
    expect(await world.sh("check", "--orphans", "--state", join(world.folder, "nowhere"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not a state folder of Sluice"),
    });
  });

  test("lists objects in no inventory and leaked claims, and deletes nothing", async () => {
    await follow("old", ["old-a"]);
    // As after a finalizer that was taken off by hand, while nothing was looking.
    await patch("old", { spec: { suspend: true }, metadata: { finalizers: null } });
    await world.cluster.delete(ref("Kustomization", "old"), { propagation: "Background" }, signal);
    const labels = { [`${kustomize}/name`]: "web", [`${kustomize}/namespace`]: "default" };
    const lost = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lost", namespace: "default", labels } };
    await world.cluster.apply(lost, { manager: "kustomize-controller", force: true }, signal);
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "lost:role", labels },
    };
    await world.cluster.apply(role, { manager: "kustomize-controller", force: true }, signal);
    await leakClaim("default_web-a__ConfigMap", "uid-of-nobody", "Kustomization/default/former");

    const table = await world.sh("check", "--orphans", ...state());
    expect(table.code).toBe(1);
    const rows = table.out.split("\n").map((line) => line.split("\t").map((cell) => cell.trim()));
    const today = expect.stringMatching(/^20\d\d-/);
    expect(rows[0]).toEqual(["NAMESPACE", "KIND", "NAME", "OWNER", "WHY", "LAST APPLIED"]);
    expect(rows.slice(1, 4)).toEqual([
      ["default", "ConfigMap", "old-a", "default/old", "its Kustomization is gone", today, ""],
      [
        "",
        "ClusterRole.rbac.authorization.k8s.io",
        "lost:role",
        "default/web",
        "its Kustomization does not list it",
        today,
        "",
      ],
      ["default", "ConfigMap", "lost", "default/web", "its Kustomization does not list it", today, ""],
    ]);
    expect(table.out).toMatch(/default_web-a__ConfigMap\s+Kustomization\/default\/former\s+its owner is gone/);
    expect(table.err).toMatch(
      /✗ 3 objects in no inventory: prune will never delete them\n✗ \d leaked claims? in the ledger\n✗ check failed\n$/,
    );

    const json = await world.sh("check", "--orphans", "-o", "json", ...state());
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      inventoriesFrom: "state",
      orphans: [
        { name: "old-a", reason: "its Kustomization is gone" },
        { name: "lost:role" },
        { name: "lost", owner: { namespace: "default", name: "web" } },
      ],
      unreadKinds: [],
    });
    for (const name of ["old-a", "lost"]) expect(await world.cluster.get(ref("ConfigMap", name), signal)).toBeDefined();
  });
});

async function inventoryOf(name: string): Promise<readonly string[]> {
  const live = await world.cluster.get(ref("Kustomization", name), signal);
  return [JSON.stringify(live?.["status"])];
}

/** As a release before fabd998 left it. */
async function leakClaim(id: string, ownerUid: string, owner: string): Promise<void> {
  const database = new DatabaseSync(join(world.folder, "state", "state.db"), withinDeadline);
  const insert = database.prepare("INSERT INTO claims (cluster_uid, id, owner_uid, owner) VALUES (?, ?, ?, ?)");
  insert.run(await world.cluster.uid(signal), id, ownerUid, owner);
  database.close();
}
