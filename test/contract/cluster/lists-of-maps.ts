import { describe, expect, test } from "vitest";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

/** How applies of several managers merge: lists by key, sets by value, atomic lists and maps as a whole. */
export function listsOfMapsContract(start: StartCluster): void {
  describe("lists and maps under server-side apply", () => {
    const space = workspace(start);
    const { apply, get, configMap, deployment } = space;

    const bare = (metadata = {}): Manifest => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: space.namespace, ...metadata },
    });
    const withContainers = (containers: readonly object[], pod = {}): Manifest => {
      const { apiVersion, kind, metadata } = deployment();
      return { apiVersion, kind, metadata, spec: { template: { spec: { containers, ...pod } } } };
    };
    const containersOf = async () => {
      const live = await get(refOf(deployment()));
      return valueAt(live, ["spec", "template", "spec", "containers"]);
    };
    const service = (ports: readonly object[], spec = {}): Manifest => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a", namespace: space.namespace },
      spec: { ports, ...spec },
    });
    const role = (...verbs: readonly string[]): Manifest => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "a", namespace: space.namespace },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs }],
    });

    test("a list item with keys is removed when its only manager no longer sends it", async () => {
      await apply(deployment());
      await apply(withContainers([{ name: "side", image: "example.test/side:1" }]), "beta");
      await apply(withContainers([{ name: "other", image: "example.test/other:1" }]), "beta");
      expect(await containersOf()).toMatchObject([{ name: "app" }, { name: "other" }]);
    });

    test("a list item that another manager partly owns stays, without the fields that no manager sends any more", async () => {
      const side = { name: "side", image: "example.test/side:1" };
      await apply(deployment());
      await apply(withContainers([{ ...side, workingDir: "/w" }]), "beta");
      await apply(withContainers([side]), "gamma");
      await apply(withContainers([{ name: "other", image: "example.test/other:1" }]), "beta");
      const containers = await containersOf();
      expect(containers).toMatchObject([{ name: "app" }, side, { name: "other" }]);
      expect(JSON.stringify(containers)).not.toContain("/w");
    });

    test("fields of one item may belong to several managers", async () => {
      await apply(deployment());
      await apply(withContainers([{ name: "app", env: [{ name: "A", value: "1" }] }]), "beta");
      await apply(withContainers([{ name: "app", env: [{ name: "B", value: "2" }] }]), "gamma");
      const env = [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ];
      expect(await containersOf()).toMatchObject([{ name: "app", image: "example.test/app:1", env }]);
    });

    test("a conflict in an item names the path with its keys", async () => {
      await apply(deployment());
      const error = await faultOf(apply(withContainers([{ name: "app", image: "example.test/app:2" }]), "beta"));
      expect(error.causes).toMatchObject([{ field: '.spec.template.spec.containers[name="app"].image' }]);
    });

    test("items have the combined order of the live and the applied list", async () => {
      await apply(deployment());
      const image = "example.test/x:1";
      await apply(withContainers(["b", "app"].map((name) => ({ name, image }))), "beta", { force: true });
      await apply(withContainers(["c", "app"].map((name) => ({ name, image }))), "gamma", { force: true });
      expect(await containersOf()).toMatchObject([{ name: "b" }, { name: "c" }, { name: "app" }]);
    });

    test("the same key twice in one apply is refused", async () => {
      const twice = ["1", "2"].map((tag) => ({ name: "app", image: `example.test/app:${tag}` }));
      const error = await faultOf(apply(withContainers(twice)));
      expect(error).toMatchObject({ code: 500, reason: "" });
      expect(error.message).toContain('duplicate entries for key [name="app"]');
    });

    test("an item without its key is invalid", async () => {
      await apply(deployment());
      const error = await faultOf(apply(withContainers([{ image: "example.test/x:1" }]), "beta"));
      expect(error.code).toBe(422);
      expect(error.message).toContain("spec.template.spec.containers[1].name: Required value");
    });

    test("a key of several fields uses the default of a missing one", async () => {
      await apply(service([{ name: "web", port: 80 }]));
      const { object } = await apply(service([{ name: "dns", port: 80, protocol: "UDP" }]), "beta");
      expect(object["spec"]).toMatchObject({ ports: [{ protocol: "TCP" }, { protocol: "UDP" }] });
      const error = await faultOf(apply(service([{ name: "www", port: 80, protocol: "TCP" }]), "gamma"));
      expect(error.causes).toMatchObject([{ field: '.spec.ports[port=80,protocol="TCP"].name' }]);
    });

    test("an item with a changed key is another item", async () => {
      await apply(service([{ port: 80 }]));
      const { object } = await apply(service([{ port: 81 }]));
      expect(object["spec"]).toMatchObject({ ports: [{ port: 81, targetPort: 81 }] });
      expect(valueAt(object, ["spec", "ports"])).toHaveLength(1);
    });

    test("finalizers are a set, each with its own owner", async () => {
      await apply(bare({ finalizers: ["example.test/b", "example.test/a"] }));
      await apply(bare({ finalizers: ["example.test/c", "example.test/a"] }), "beta");
      const { object } = await apply(bare());
      expect(object.metadata.finalizers).toEqual(["example.test/c", "example.test/a"]);
      await apply(bare(), "beta");
    });

    test("an atomic list is one field", async () => {
      await apply(role("get"));
      const error = await faultOf(apply(role("get", "list"), "beta"));
      expect(error.causes).toMatchObject([{ field: ".rules" }]);
      const { object } = await apply(role("list"), "beta", { force: true });
      expect(object["rules"]).toMatchObject([{ verbs: ["list"] }]);
    });

    test("an atomic list with equal value is owned by both managers", async () => {
      await apply(role("get"));
      await apply(role("get"), "beta");
      expect((await faultOf(apply(role("list")))).causes).toMatchObject([{ message: 'conflict with "beta"' }]);
    });

    test("an atomic map is one field", async () => {
      await apply(service([{ port: 80 }], { selector: { app: "a" } }));
      const error = await faultOf(apply(service([], { selector: { app: "a", tier: "b" } }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".spec.selector" }]);
      const { object } = await apply(service([], { selector: { tier: "b" } }), "beta", { force: true });
      expect(valueAt(object, ["spec", "selector"])).toEqual({ tier: "b" });
    });

    test("labels and annotations are owned by key, whatever characters a key has", async () => {
      await apply(bare({ labels: { "a.b/c": "1" }, annotations: { "x/y": "1" } }));
      const { object } = await apply(bare({ labels: { "a.b/d": "2" } }), "beta");
      expect(object.metadata.labels).toEqual({ "a.b/c": "1", "a.b/d": "2" });
      const error = await faultOf(apply(bare({ labels: { "a.b/c": "2" } }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".metadata.labels.a.b/c" }]);
    });

    test("owner references are owned by their uid", async () => {
      const { object: owner } = await apply(configMap("owner"));
      const { uid } = owner.metadata;
      const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
      const { object } = await apply(bare({ ownerReferences: [reference] }));
      expect(object.metadata.ownerReferences).toEqual([reference]);
      expect(object.metadata.managedFields?.[0]?.fieldsV1).toMatchObject({
        "f:metadata": { "f:ownerReferences": { [`k:{"uid":"${uid}"}`]: {} } },
      });
      const blocking = { ...reference, blockOwnerDeletion: true };
      const error = await faultOf(apply(bare({ ownerReferences: [blocking] }), "beta"));
      expect(error.causes).toMatchObject([{ field: `.metadata.ownerReferences[uid="${uid}"]` }]);
    });
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = isRecord(at) ? at[key] : undefined;
  return at;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
