import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { untilAllowed } from "./known-rights.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const apps = "apps/v1";
const paths = ["/data/ignored-key"];
const ours = "kustomize-controller";

const deployment = (name: string, spec: JsonObject = {}): Manifest => ({
  apiVersion: apps,
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas: 1,
    ...spec,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "app", image: "registry.example.com/app:1" }] },
    },
  },
});

const dataOf = (object: LiveObject | undefined): unknown => object?.["data"];

/** Whether the manager has applied the field: `f:data`, `f:k`. */
function applies(object: LiveObject | undefined, manager: string, ...field: readonly string[]): boolean {
  const entry = object?.metadata.managedFields?.find((one) => one.manager === manager && one.operation === "Apply");
  let fields: unknown = entry?.fieldsV1;
  for (const part of field) fields = isJsonObject(fields) ? fields[part] : undefined;
  return fields !== undefined;
}

/** What `spec.ignore` leaves to others. */
export function ignoreStories(where: string, newWorld: () => Promise<World>): void {
  describe(`ignored fields on ${where}`, () => {
    /** Changes data of ConfigMap `a` as another manager, by an update. */
    const edit = (world: World, data: JsonObject, manager = "another-client") =>
      world.cluster.patch(
        configMapRef(world.namespace, "a"),
        { type: "merge", body: { data } },
        { manager },
        world.signal,
      );

    /** The manifest's values of ConfigMap `a`. */
    const publish = (world: World, tag: string, data: Record<string, string>) =>
      world.publish(tag, [configMap("a", data)]);

    const applied = async (spec: JsonObject = { ignore: [{ paths }] }) => {
      const world = await newWorld();
      await publish(world, "v1", { "ignored-key": "from git", k: "1" });
      await world.kustomization("app", spec);
      await world.run("app");
      return world;
    };

    test("are written when the object is created (89)", async () => {
      const world = await applied();
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "from git", k: "1" });
    });

    test("keep values of other managers, and a difference in them alone causes no apply (90)", async () => {
      const world = await applied();
      const { metadata } = await edit(world, { "ignored-key": "outside" });
      const events = (await world.events("app")).length;
      for (let run = 0; run < 2; run++) await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
      expect((await world.events("app")).slice(events).filter((event) => event.includes("configured"))).toEqual([]);

      await publish(world, "v2", { "ignored-key": "from git again", k: "2", new: "3" });
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "outside", k: "2", new: "3" });
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: ConfigMap/${world.namespace}/a configured`);
    });

    test("that differ are known from then on: no dry run, no write, until something changes", async () => {
      const world = await applied();
      await edit(world, { "ignored-key": "outside" });
      await world.run("app");
      const writes: string[] = [];
      world.fault = (call) => void (/^cluster\.(apply|patch|delete)$/.test(call) && writes.push(call));
      await world.run("app");
      // The status of the Kustomization, and nothing else.
      expect(writes.filter((call) => call === "cluster.apply")).toEqual([]);
      world.fault = () => {};
      await edit(world, { k: "drifted" }, "kubectl-edit");
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "outside", k: "1" });
    });

    test("are not applied if only their value in the manifest changes (90)", async () => {
      const world = await applied();
      const before = await world.get("ConfigMap", "a");
      await publish(world, "v2", { "ignored-key": "newer", k: "1" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    test("that another manager applies are given up with the next apply; fields that were only updated keep their value (91)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const data = { "ignored-key": "from git", edited: "from git", k: "1" };
      await publish(world, "v1", data);
      await world.kustomization("app", { ignore: [{ paths: [...paths, "/data/edited"] }] });
      await world.run("app");
      const theirs = { ...configMap("a", { "ignored-key": "applied" }), metadata: { name: "a", namespace } };
      await world.cluster.apply(theirs, { manager: "vpa", force: true }, world.signal);
      await edit(world, { edited: "outside" });
      await publish(world, "v2", { ...data, k: "2" });
      await world.run("app");
      const live = await world.get("ConfigMap", "a");
      expect(dataOf(live)).toEqual({ "ignored-key": "applied", edited: "outside", k: "2" });
      expect(applies(live, ours, "f:data", "f:ignored-key")).toBe(false);
      expect(applies(live, "vpa", "f:data", "f:ignored-key")).toBe(true);
      expect(applies(live, ours, "f:data", "f:edited")).toBe(true);
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(live?.metadata.resourceVersion);
      expect(await world.inventory("app")).toMatchObject([{ desired: expect.stringMatching(/^hmac-sha256:/) }]);
    });

    test.each([
      { kind: "Deploy.*", is: "matches Deployments", replicas: 3 },
      { kind: "Deploy", is: "matches no Deployment", replicas: 1 },
    ])("by a target with kind $kind, which $is (92)", async ({ kind, replicas }) => {
      const world = await newWorld();
      await world.publish("v1", [deployment("web")]);
      await world.kustomization("app", { ignore: [{ paths: ["/spec/replicas"], target: { kind } }] });
      await world.run("app");
      const ref = { group: "apps", version: "v1", kind: "Deployment", namespace: world.namespace, name: "web" };
      const body = { spec: { replicas: 3 } };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "autoscaler" }, world.signal);
      await world.run("app");
      await world.publish("v2", [deployment("web", { minReadySeconds: 5 })]);
      await world.run("app");
      expect((await world.get("Deployment", "web", apps))?.["spec"]).toMatchObject({ replicas, minReadySeconds: 5 });
    });

    test("that do not exist have no effect (93)", async () => {
      const world = await applied({
        ignore: [{ paths: ["/data/nothing", "/spec/replicas", "/data/k/deeper", "/x/0"] }],
      });
      await edit(world, { k: "drifted" }, "kubectl-edit");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(dataOf(await world.get("ConfigMap", "a"))).toMatchObject({ k: "1" });
    });

    test("by several rules without a target are all ignored, of which Flux honours only the last", async () => {
      const world = await applied({ ignore: [{ paths }, { paths: ["/data/other"] }] });
      await edit(world, { "ignored-key": "outside", other: "outside" });
      await publish(world, "v2", { "ignored-key": "from git", other: "from git", k: "2" });
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "outside", other: "outside", k: "2" });
    });

    test("are corrected again once they are no longer ignored", async () => {
      const world = await applied();
      await edit(world, { "ignored-key": "outside" });
      await world.run("app");
      await world.kustomization("app");
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "from git", k: "1" });
    });

    test("by the labels of the live object are corrected once the object loses them", async () => {
      const world = await applied({ ignore: [{ paths, target: { labelSelector: "tier=web" } }] });
      const ref = configMapRef(world.namespace, "a");
      const body = (tier: string | null) => ({ metadata: { labels: { tier } } });
      const label = (tier: string | null) =>
        world.cluster.patch(ref, { type: "merge", body: body(tier) }, { manager: "another-client" }, world.signal);
      await label("web");
      await edit(world, { "ignored-key": "outside" });
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toMatchObject({ "ignored-key": "outside" });
      await label(null);
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toMatchObject({ "ignored-key": "from git" });
    });

    test("that another client has removed stay removed", async () => {
      const world = await applied();
      await edit(world, { "ignored-key": null });
      await publish(world, "v2", { "ignored-key": "from git", k: "2" });
      await world.run("app");
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ k: "2" });
    });

    test("that kubectl has edited keep its value", async () => {
      const world = await applied();
      await edit(world, { "ignored-key": "by hand", k: "by hand" }, "kubectl-edit");
      const applies = { begun: 0, accepted: 0 };
      world.fault = (call) => {
        if (call === "cluster.apply") applies.begun += 1;
        if (call === "cluster.apply done") applies.accepted += 1;
      };
      await world.run("app");
      world.fault = () => {};
      // What was planned for the version before the takeover would be refused as a conflict.
      expect(applies.accepted).toBe(applies.begun);
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "by hand", k: "1" });
      const settled = await world.get("ConfigMap", "a");
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(settled?.metadata.resourceVersion);
    });

    test("keep values that are written between the plan and the apply", async () => {
      const world = await applied();
      await publish(world, "v2", { "ignored-key": "from git", k: "2" });
      let applies_ = 0;
      world.fault = async (call) => {
        if (call !== "cluster.apply") return;
        applies_ += 1;
        // The first is the dry run.
        if (applies_ === 2) await edit(world, { "ignored-key": "just now" });
      };
      await world.run("app");
      world.fault = () => {};
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "just now", k: "2" });
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("do not include the owner labels, even with all labels ignored, and the object is pruned", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const foreign = { ...configMap("a", { k: "0" }), metadata: { name: "a", namespace, labels: { theirs: "1" } } };
      await world.cluster.apply(foreign, { manager: "another-client", force: true }, world.signal);
      await world.publish("v1", [configMap("a", { k: "1" }, { labels: { ours: "1" } })]);
      await world.kustomization("app", { ignore: [{ paths: ["/metadata/labels"] }] });
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.labels).toEqual({
        theirs: "1",
        "kustomize.toolkit.fluxcd.io/name": "app",
        "kustomize.toolkit.fluxcd.io/namespace": namespace,
      });
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("of one container of several apply to this container, wherever it stands", async () => {
      const world = await newWorld();
      const image = "registry.example.com/app:1";
      const pods = (first: JsonObject, second: JsonObject) => ({
        ...deployment("web"),
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: {
              containers: [
                { name: "one", image, ...first },
                { name: "two", image, ...second },
              ],
            },
          },
        },
      });
      const small = { resources: { requests: { cpu: "10m" } } };
      const large = { resources: { requests: { cpu: "500m" } } };
      await world.publish("v1", [pods(small, small)]);
      await world.kustomization("app", {
        ignore: [
          { paths: ["/spec/template/spec/containers/1/resources"], target: { kind: "Deployment", name: "web" } },
        ],
      });
      await world.run("app");
      const metadata = { name: "web", namespace: world.namespace };
      const spec = { template: { spec: { containers: [{ name: "two", ...large }] } } };
      const theirs = { apiVersion: apps, kind: "Deployment", metadata, spec };
      await world.cluster.apply(theirs, { manager: "vpa", force: true }, world.signal);
      const before = await world.get("Deployment", "web", apps);
      await world.run("app");
      const unchanged = await world.get("Deployment", "web", apps);
      expect(unchanged?.metadata.generation).toBe(before?.metadata.generation);
      await world.publish("v2", [pods(large, small)]);
      await world.run("app");
      const live = await world.get("Deployment", "web", apps);
      expect(live?.["spec"]).toMatchObject({
        template: {
          spec: {
            containers: [
              { name: "one", ...large },
              { name: "two", ...large },
            ],
          },
        },
      });
      const container = ["f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"two"}'];
      expect(applies(live, ours, ...container, "f:image")).toBe(true);
      expect(applies(live, ours, ...container, "f:resources")).toBe(false);
    });

    test.each([
      {
        target: { kind: "Deploy(" },
        text: "invalid kind regex: error parsing regexp: missing closing ): `^(?:Deploy()$`",
      },
      {
        target: { name: "a**" },
        text: "invalid name regex: error parsing regexp: invalid nested repetition operator: `**`",
      },
      {
        target: { labelSelector: "a in b" },
        text: "invalid label selector: unable to parse requirement: found 'b' expected: '('",
      },
      {
        target: { annotationSelector: "=x" },
        text: "invalid annotation selector: found '=', expected: !, identifier, or 'end of string'",
      },
    ])("with an invalid target fail the first apply, and nothing is written: $text", async ({ target, text }) => {
      const world = await applied({ ignore: [{ paths, target }] });
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: failed to create ignore rule selector: ${text}\n`,
      );
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("with invalid paths are refused by name", async () => {
      const world = await applied({ ignore: [{ paths: ["/data/k"] }, { paths: ["data/k", "", "/metadata"] }] });
      expect(await world.ready("app")).toContain(
        `False InvalidSpec: Kustomization/${world.namespace}/app is invalid: ${[
          "spec.ignore[1].paths[0]: is not a JSON pointer, write a path that begins with /, such as /spec/replicas",
          "spec.ignore[1].paths[1]: is more than a field, name one, such as /spec/replicas",
          "spec.ignore[1].paths[2]: is more than a field, name one, such as /spec/replicas",
        ].join("; ")}`,
      );
    });

    test("of an object that its account may not read fail its apply, because they could not be kept", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const rbac = "rbac.authorization.k8s.io";
      const metadata = { name: "writer", namespace };
      const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }];
      const roleRef = { apiGroup: rbac, kind: "Role", name: "writer" };
      const subjects = [{ kind: "ServiceAccount", name: "writer", namespace }];
      for (const manifest of [
        { apiVersion: "v1", kind: "ServiceAccount", metadata },
        { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
        { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata, roleRef, subjects },
      ]) {
        await cluster.apply(manifest, { manager: "test", force: true }, signal);
      }
      const writer = world.as(`system:serviceaccount:${namespace}:writer`);
      const probe = { ...configMap("probe"), metadata: { name: "probe", namespace } };
      await untilAllowed(() => writer.apply(probe, { manager: "test", force: true, dryRun: true }, signal));
      await publish(world, "v1", { "ignored-key": "from git", k: "1" });
      await world.kustomization("app", { serviceAccountName: "writer", ignore: [{ paths }] });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await edit(world, { "ignored-key": "outside" });
      await publish(world, "v2", { "ignored-key": "from git", k: "2" });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: ConfigMap/${namespace}/a spec.ignore is for it, and its account may not get it: the ignored fields cannot be kept; allow get\n`,
      );
      expect(dataOf(await world.get("ConfigMap", "a"))).toEqual({ "ignored-key": "outside", k: "1" });
    });
  });
}
