import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { canary } from "../canary.ts";
import { configMap, configMapRef, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** How a Kustomization applies, and what it answers if it cannot. */
export function applyStories(name: string, newWorld: () => Promise<World>): void {
  describe(`objects that a Kustomization applies on ${name}`, () => {
    test("lose edits by kubectl and keep those of other managers (74, 75)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const ref = configMapRef(world.namespace, "a");
      const edit = (manager: string, data: JsonObject) =>
        world.cluster.patch(ref, { type: "merge", body: { data } }, { manager }, world.signal);
      await edit("kubectl-edit", { k: "changed", added: "by kubectl" });
      await edit("flux-client-side-apply", { kept: "by another" });
      const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "by another" };
      const note = { type: "merge", body: { metadata: { annotations } } } as const;
      await world.cluster.patch(ref, note, { manager: "flux-client-side-apply" }, world.signal);
      await world.run("app");
      const live = await world.get("ConfigMap", "a");
      expect(live?.["data"]).toEqual({ k: "v", kept: "by another" });
      expect(live?.metadata.annotations).toEqual({ kept: "by another" });
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: ConfigMap/${world.namespace}/a configured`);
    });

    test("with fields that the API server does not know lose these, and an event names them once per revision", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const left = (fields: string) =>
        `Warning UnknownFields: fields that the API server does not know were left out: ${fields}`;
      const warnings = async () => (await world.events("app")).filter((event) => event.startsWith("Warning"));
      await world.publish("v1", [{ ...configMap("a"), extra: 1, more: 2 }, configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const first = left(`ConfigMap/${namespace}/a .extra, ConfigMap/${namespace}/a .more`);
      expect(await warnings()).toEqual([first]);
      // Drift that is mended sends the object again, and is no news of its fields.
      const body = { data: { k: "changed" } };
      await world.cluster.patch(
        configMapRef(namespace, "a"),
        { type: "merge", body },
        { manager: "kubectl-edit" },
        world.signal,
      );
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
      expect(await warnings()).toEqual([first]);
      // Nothing else is new in it, so it is tried and not applied.
      await world.publish("v2", [configMap("a"), { ...configMap("b"), odd: true }]);
      await world.run("app");
      expect(await warnings()).toEqual([first, left(`ConfigMap/${namespace}/b .odd`)]);
    });

    test("an encrypted Secret marked as intended reaches the API server, which refuses it (67)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const metadata = { name: "x", annotations: { [`${kustomizeGroup}/decrypt`]: "Disabled" } };
      const data = { password: "ENC[AES256_GCM,data:abc,iv:def=,tag:ghi=,type:str]" };
      await world.publish("v1", [{ apiVersion: "v1", kind: "Secret", metadata, data, sops: { version: "3.13.2" } }]);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: Secret/${namespace}/x dry-run failed: failed to create typed patch object (${namespace}/x; /v1, Kind=Secret): .sops: field not declared in schema\n`,
      );
    });

    test("a value that another manager forced is reverted, a deleted object is recreated", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      const namespace = world.namespace;
      const forced = { ...configMap("a", { k: "theirs" }), metadata: { name: "a", namespace } };
      await world.cluster.apply(forced, { manager: "another-client", force: true }, world.signal);
      const ref = configMapRef(namespace, "b");
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
      expect((await world.events("app")).at(-2)).toBe(
        `Normal Progressing: ConfigMap/${namespace}/a configured\nConfigMap/${namespace}/b created`,
      );
    });

    test("with IfNotPresent are created once and kept; with Ignore never created (78, 79)", async () => {
      const world = await newWorld();
      const marked = (name: string, value: string, data: Record<string, string>) =>
        configMap(name, data, { annotations: { [`${kustomizeGroup}/ssa`]: value } });
      await world.publish("v1", [marked("once", "IfNotPresent", { k: "1" }), marked("never", "Ignore", { k: "1" })]);
      await world.kustomization("app", { wait: true });
      await world.run("app");
      await world.publish("v2", [marked("once", "IfNotPresent", { k: "2" }), marked("never", "Ignore", { k: "2" })]);
      await world.run("app");
      expect((await world.get("ConfigMap", "once"))?.["data"]).toEqual({ k: "1" });
      expect(await world.get("ConfigMap", "never")).toBeUndefined();
      expect(await world.ready("app")).toMatch(/^True/);
      await world.publish("v3", []);
      await world.run("app");
      expect(await world.get("ConfigMap", "once")).toBeUndefined();
    });

    test("created with IfNotPresent keep every later edit, and are deleted with the Kustomization (78)", async () => {
      const world = await newWorld();
      const annotations = { [`${kustomizeGroup}/ssa`]: "IfNotPresent" };
      await world.publish("v1", [configMap("once", { k: "1" }, { annotations })]);
      await world.kustomization("app");
      await world.run("app");
      const body = { metadata: { annotations: { [`${kustomizeGroup}/ssa`]: null } }, data: { k: "edited" } };
      const ref = configMapRef(world.namespace, "once");
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl-edit" }, world.signal);
      await world.run("app");
      expect(await world.get("ConfigMap", "once")).toMatchObject({ data: { k: "edited" } });
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "once")).toBeUndefined();
    });

    test("an immutable change fails without force and recreates the object with it (81)", async () => {
      const world = await newWorld();
      const secret = (value: string) => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        immutable: true,
        data: { k: Buffer.from(value).toString("base64") },
      });
      await world.publish("v1", [secret("one")]);
      await world.kustomization("app");
      await world.run("app");
      const first = await world.get("Secret", "s");
      await world.publish("v2", [secret("two")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Secret\/.*dry-run failed \(Invalid\).*immutable/s,
      );
      expect((await world.events("app")).at(-1)).toMatch(
        /^Warning ReconciliationFailed: Secret\/\S+\/s dry-run failed \(Invalid\): .*field is immutable/s,
      );
      expect((await world.get("Secret", "s"))?.metadata.uid).toBe(first?.metadata.uid);
      await world.kustomization("app", { force: true });
      await world.run("app");
      expect(await world.get("Secret", "s")).toMatchObject({ data: secret("two").data });
      expect((await world.get("Secret", "s"))?.metadata.uid).not.toBe(first?.metadata.uid);
      expect(await world.inventory("app")).toMatchObject([{ desired: expect.stringMatching(/^hmac-sha256:/) }]);
    });

    test("an immutable change recreates only the object whose annotation allows it (81)", async () => {
      const world = await newWorld();
      const secret = (name: string, value: string, annotations = {}) => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, annotations },
        immutable: true,
        data: { k: Buffer.from(value).toString("base64") },
      });
      const forced = { [`${kustomizeGroup}/force`]: "Enabled" };
      await world.publish("v1", [secret("forced", "one", forced), secret("kept", "one")]);
      await world.kustomization("app");
      await world.run("app");
      const uids = async () =>
        Promise.all(["forced", "kept"].map(async (name) => (await world.get("Secret", name))?.metadata.uid));
      const [forcedBefore, keptBefore] = await uids();
      await world.publish("v2", [secret("forced", "two", forced), secret("kept", "two")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Secret\/\S+\/kept dry-run failed \(Invalid\)/,
      );
      expect(await uids()).toEqual([forcedBefore, keptBefore]);
      await world.publish("v3", [secret("forced", "two", forced), secret("kept", "one")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const [forcedAfter, keptAfter] = await uids();
      expect(await world.get("Secret", "forced")).toMatchObject({ data: secret("", "two").data });
      expect([forcedAfter === forcedBefore, keptAfter]).toEqual([false, keptBefore]);
    });

    test.each([
      { stringData: canary },
      { stringData: `one line\n${canary}` },
      { data: [canary] },
      { data: { k: 1 }, immutable: canary },
    ])("no message shows the content of a Secret: %j", async (content) => {
      const world = await newWorld();
      await world.publish("v1", [{ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, ...content }]);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: Secret\/.*\/s dry-run failed/);
    });

    test("force never deletes an object whose successor would be refused", async () => {
      const world = await newWorld();
      const bad = (port: number, clusterIP: string) => ({
        ...service(port),
        spec: { ...service(port).spec, clusterIP },
      });
      await world.publish("v1", [bad(80, "None")]);
      await world.kustomization("app", { force: true });
      await world.run("app");
      const uid = (await world.get("Service", "s"))?.metadata.uid;
      await world.publish("v2", [bad(800_000, "10.0.0.77")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False ReconciliationFailed/);
      expect((await world.get("Service", "s"))?.metadata.uid).toBe(uid);
    });

    test("an object without a namespace is refused (85)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { targetNamespace: undefined });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        "False ReconciliationFailed: ConfigMap/a namespace not specified: the server could not find the requested resource\n",
      );
    });

    test("bad objects fail the revision before anything is written, and are all named at once (86)", async () => {
      const world = await newWorld();
      const first = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const before = await world.inventory("app");
      await world.publish("v2", [
        configMap("a", { k: "new" }),
        configMap("new"),
        service(800_000),
        { apiVersion: "nowhere.example.com/v1", kind: "Thing", metadata: { name: "t" } },
      ]);
      await world.run("app");
      expect(await world.ready("app")).toContain('no matches for kind "Thing" in version "nowhere.example.com/v1"');
      const second = { ...service(800_000), metadata: { name: "second" } };
      await world.publish("v3", [configMap("a", { k: "new" }), configMap("new"), service(800_000), second]);
      await world.run("app");
      const refusals = ["s", "second"].map(
        (name) =>
          `Service/${world.namespace}/${name} dry-run failed (Invalid): Service "${name}" is invalid: [spec.ports[0].port: Invalid value: 800000: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 800000: must be between 1 and 65535, inclusive]\n`,
      );
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusals.join("")}`);
      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
      expect(await world.get("ConfigMap", "new")).toBeUndefined();
      expect(await world.inventory("app")).toEqual(before);
      const status = await world.status("app");
      expect(status).toMatchObject({ lastAppliedRevision: first });
      expect(status["conditions"]).toContainEqual(
        expect.objectContaining({ type: "Reconciling", reason: "ProgressingWithRetry" }),
      );
    });
  });
}
