import { describe, expect, test } from "vitest";
import { z } from "zod";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;

const image = "podinfo:1";

async function world(podSpec: JsonObject): Promise<WorkloadWorld> {
  const one = await workloadWorld(embedded.cluster, `configs-${spaces++}`);
  const spec = {
    selector: { matchLabels: { app: "podinfo" } },
    template: {
      metadata: { labels: { app: "podinfo" } },
      spec: { containers: [{ name: "podinfod", image }], ...podSpec },
    },
  };
  await one.put({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "podinfo" }, spec });
  return one;
}

async function putConfig(one: WorkloadWorld, name: string, more: JsonObject = {}): Promise<void> {
  const { metadata, ...rest } = { metadata: {}, data: { key: name }, ...more };
  await one.put({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, ...rest });
}

async function putSecret(one: WorkloadWorld, name: string, more: JsonObject = {}): Promise<void> {
  await one.put({ apiVersion: "v1", kind: "Secret", metadata: { name }, data: { key: "dmFsdWU=" }, ...more });
}

const reading = (configMapRef: JsonObject) => ({
  containers: [{ name: "podinfod", image, envFrom: [{ configMapRef }] }],
});
const copyOf = async (one: WorkloadWorld, name: string, kind = "ConfigMap") =>
  await one.get("v1", kind, `${name}-primary`);
const primarySpec = async (one: WorkloadWorld) =>
  objectAt(await one.get("apps/v1", "Deployment", "podinfo-primary"), "spec", "template", "spec");

describe("the configs of a target", () => {
  test("canary/13, 15: are copied, tracked and used by the primary wherever a pod template can refer to one", async () => {
    const from = (config: string, secret: string) => ({
      env: [
        { name: "A", valueFrom: { configMapKeyRef: { name: `${config}-env`, key: "key" } } },
        { name: "B", valueFrom: { secretKeyRef: { name: `${secret}-env`, key: "key" } } },
      ],
      envFrom: [{ configMapRef: { name: `${config}-all` } }, { secretRef: { name: `${secret}-all` } }],
    });
    const podSpec = (suffix: string) => ({
      containers: [{ name: "podinfod", image, ...from("c", "s") }],
      initContainers: [{ name: "init", image, ...from("ic", "is") }],
      volumes: [
        { name: "one", configMap: { name: `cv${suffix}` } },
        { name: "two", secret: { secretName: `sv${suffix}` } },
        {
          name: "all",
          projected: { sources: [{ configMap: { name: `cp${suffix}` } }, { secret: { name: `sp${suffix}` } }] },
        },
      ],
    });
    const one = await world(podSpec(""));
    const configs = ["c-env", "c-all", "ic-env", "ic-all", "cv", "cp"];
    const secrets = ["s-env", "s-all", "is-env", "is-all", "sv", "sp"];
    for (const name of configs) await putConfig(one, name);
    for (const name of secrets) await putSecret(one, name);
    const step = one.step();
    await step.ensurePrimary();
    const tracked = (await step.revision()).configs;
    const keys = [...configs.map((name) => `configmap/${name}`), ...secrets.map((name) => `secret/${name}`)];
    expect(Object.keys(tracked).toSorted()).toEqual(keys.toSorted());
    for (const hash of Object.values(tracked)) expect(hash).toMatch(/^[0-9a-f]{16}$/);
    for (const name of configs) expect((await copyOf(one, name))?.["data"]).toEqual({ key: name });
    for (const name of secrets)
      expect(await copyOf(one, name, "Secret")).toMatchObject({ type: "Opaque", data: { key: "dmFsdWU=" } });
    const text = JSON.stringify(await primarySpec(one));
    for (const name of [...configs, ...secrets]) expect(text).toContain(`"${name}-primary"`);
    expect(one.reads).toHaveLength(2 + 2 * keys.length);
  });

  test("canary/14: one that opts out is not copied, tracked or renamed", async () => {
    const one = await world(reading({ name: "shared" }));
    await putConfig(one, "shared", { metadata: { annotations: { "flagger.app/config-tracking": "disabled" } } });
    const step = one.step();
    await step.ensurePrimary();
    expect((await step.revision()).configs).toEqual({});
    expect(await copyOf(one, "shared")).toBeUndefined();
    expect(JSON.stringify(await primarySpec(one))).toContain('"configMapRef":{"name":"shared"}');
  });

  test("a ConfigMap or Secret of a user with the name of a copy is not overwritten", async () => {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings");
    await putConfig(one, "settings-primary", { data: { key: "precious" } });
    await expect(one.step().ensurePrimary()).rejects.toThrow(
      `CreatePrimaryConfigs failed: ConfigMap settings-primary.${one.namespace} exists, and Canary ` +
        `podinfo.${one.namespace} has not made it, so it is not overwritten: delete or rename it, or set the annotation ` +
        "flagger.app/config-tracking: disabled on settings",
    );
    expect(one.writes).toEqual([]);
    await putConfig(one, "settings-primary", { data: { key: "settings" } });
    await one.step().ensurePrimary();
    expect((await copyOf(one, "settings"))?.metadata.ownerReferences).toMatchObject([{ kind: "Canary" }]);
  });

  test("a Secret of another type, such as a registry login, is not copied", async () => {
    const one = await world({ volumes: [{ name: "login", secret: { secretName: "login" } }] });
    await putSecret(one, "login", { type: "example.com/login" });
    expect((await one.step().revision()).configs).toEqual({});
  });

  test("none is tracked if tracking is disabled in the installation, and none counts as changed", async () => {
    const one = await world(reading({ name: "settings" }));
    const trackedConfigs = { "configmap/settings": "0123456789abcdef" };
    const step = one.step({ status: { trackedConfigs } }, { tracksConfigs: false });
    await step.ensurePrimary();
    expect((await step.revision()).configs).toEqual(trackedConfigs);
    expect(one.reads).toEqual(["Deployment/podinfo", "Deployment/podinfo-primary"]);
  });

  test("a missing required config ends the step, a missing optional one does not", async () => {
    const one = await world(reading({ name: "settings" }));
    const query = `configmap settings.${one.namespace} get query error`;
    const text = `GetTargetConfigs failed: ${query}: ${query}: configmaps "settings" not found`;
    await expect(one.step().revision()).rejects.toThrow(text);
    await expect(one.step().ensurePrimary()).rejects.toThrow(`createPrimaryDeployment failed: ${text}`);
    expect(one.writes).toEqual([]);
    await one.change("apps/v1", "Deployment", "podinfo", {
      spec: { template: { spec: reading({ name: "settings", optional: true }) } },
    });
    const step = one.step();
    await step.ensurePrimary();
    expect((await step.revision()).configs).toEqual({});
    expect(JSON.stringify(await primarySpec(one))).toContain('"name":"settings"');
  });

  test("binaryData of a ConfigMap is copied too, and a change of it counts", async () => {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings", { binaryData: { logo: "AAEC" } });
    const step = one.step();
    await step.ensurePrimary();
    expect(await copyOf(one, "settings")).toMatchObject({ binaryData: { logo: "AAEC" } });
    const { configs } = await step.revision();
    await one.change("v1", "ConfigMap", "settings", { binaryData: { logo: "AAED" } });
    expect((await one.step().revision()).configs).not.toEqual(configs);
  });
});

describe("the copy of a config", () => {
  test("is written again only for a promotion, if it differs, and keeps what other clients added", async () => {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings", { metadata: { labels: { "team/name": "web", other: "label" } } });
    await one.step({}, { includeLabelPrefixes: ["team/"] }).ensurePrimary();
    expect((await copyOf(one, "settings"))?.metadata.labels).toEqual({ "team/name": "web" });
    await one.change("v1", "ConfigMap", "settings-primary", { metadata: { annotations: { of: "others" } } });
    await one.change("v1", "ConfigMap", "settings", { data: { key: null, other: "value" } });
    await one.step().ensurePrimary();
    expect(one.writes).toEqual([]);
    await one.step().promote();
    expect(await copyOf(one, "settings")).toMatchObject({ data: { other: "value" } });
    expect((await copyOf(one, "settings"))?.["data"]).toEqual({ other: "value" });
    expect((await copyOf(one, "settings"))?.metadata.annotations).toEqual({ of: "others" });
    await one.step().promote();
    expect(one.writes).toEqual([]);
  });

  test("is owned by both Canaries that use the config, and controlled by the one that wrote it last", async () => {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings");
    await one.step().ensurePrimary();
    await one.remove("apps/v1", "Deployment", "podinfo-primary");
    await one.step({ name: "second" }).ensurePrimary();
    const owners = async () => objectAt(await copyOf(one, "settings"), "metadata")["ownerReferences"];
    expect(await owners()).toMatchObject([
      { name: "second", controller: true },
      { name: "podinfo", controller: false },
    ]);
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "podinfo", uid: "of-another-kind" };
    const ownerReferences = [other, ...z.array(z.custom<JsonObject>(isJsonObject)).parse(await owners())];
    await one.change("v1", "ConfigMap", "settings-primary", { metadata: { ownerReferences } });
    await one.step().promote();
    expect(await owners()).toMatchObject([
      { name: "podinfo", kind: "Canary", controller: true },
      { name: "podinfo", kind: "ConfigMap", controller: false },
      { name: "second", controller: false },
    ]);
  });

  /** A Canary was deleted without its objects, and the config has changed since. */
  async function left() {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings");
    await one.step().ensurePrimary();
    const body = { metadata: { ownerReferences: null } };
    await one.change("v1", "ConfigMap", "settings-primary", body);
    await one.change("apps/v1", "Deployment", "podinfo-primary", body);
    await one.change("v1", "ConfigMap", "settings", { data: { key: "new" } });
    return one;
  }

  test("that an earlier Canary left behind is adopted: the primary's pods keep its data until the promotion", async () => {
    const one = await left();
    const owned = { metadata: { ownerReferences: [{ kind: "Canary", name: "podinfo" }] } };
    // The primary last, so that a step that is cut off is taken again.
    await expect(one.step({}, {}, { dieAfter: 1 }).ensurePrimary()).rejects.toThrow("killed");
    expect(one.writes).toEqual(["patch ConfigMap/settings-primary"]);
    await one.step().ensurePrimary();
    expect(one.writes).toEqual(["patch Deployment/podinfo-primary"]);
    expect(await copyOf(one, "settings")).toMatchObject({ ...owned, data: { key: "settings" } });
    await one.step().promote();
    expect(await copyOf(one, "settings")).toMatchObject({ ...owned, data: { key: "new" } });
  });

  test("is not adopted if the primary does not use it, or the target uses it by its own name", async () => {
    const unread = await left();
    await unread.change("apps/v1", "Deployment", "podinfo-primary", {
      spec: { template: { spec: { containers: [{ name: "podinfod", image }] } } },
    });
    const shared = await left();
    await shared.change("v1", "ConfigMap", "settings-primary", {
      metadata: { annotations: { "flagger.app/config-tracking": "disabled" } },
    });
    const volumes = [{ name: "shared", configMap: { name: "settings-primary" } }];
    await shared.change("apps/v1", "Deployment", "podinfo", { spec: { template: { spec: { volumes } } } });
    for (const one of [unread, shared]) {
      await one.step().ensurePrimary();
      await expect(one.step().promote()).rejects.toThrow("has not made it, so it is not overwritten");
      expect((await copyOf(one, "settings"))?.metadata.ownerReferences).toBeUndefined();
    }
  });

  test("that differs when the initialisation ends leaves no revision, so that a run brings the config", async () => {
    const one = await world(reading({ name: "settings" }));
    await putConfig(one, "settings");
    await one.step().ensurePrimary();
    expect((await one.step({ status: { phase: "Initializing" } }).revision()).spec).not.toBe("");
    await one.change("v1", "ConfigMap", "settings", { data: { key: "new" } });
    expect((await one.step({ status: { phase: "Initializing" } }).revision()).spec).toBe("");
  });

  test("is written before the template that names it: a killed step is completed by the next one, and nothing is done twice", async () => {
    const volumes = ["a", "b"].map((name) => ({ name, configMap: { name } }));
    const one = await world({ volumes });
    await putConfig(one, "a");
    await putConfig(one, "b");
    const cutOff = async (work: "ensurePrimary" | "promote"): Promise<string[]> => {
      const writes: string[] = [];
      for (const dieAfter of [0, 1, 1]) {
        await expect(one.step({}, {}, { dieAfter })[work]()).rejects.toThrow("killed");
        writes.push(...one.writes);
      }
      await one.step()[work]();
      return [...writes, ...one.writes];
    };
    const objects = ["ConfigMap/a-primary", "ConfigMap/b-primary", "Deployment/podinfo-primary"];
    expect(await cutOff("ensurePrimary")).toEqual(objects.map((object) => `create ${object}`));
    await one.change("v1", "ConfigMap", "a", { data: { key: "new" } });
    await one.change("v1", "ConfigMap", "b", { data: { key: "new" } });
    expect(await cutOff("promote")).toEqual(objects.map((object) => `patch ${object}`));
    expect(await copyOf(one, "b")).toMatchObject({ data: { key: "new" } });
  });
});
