import { describe, expect, test } from "vitest";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => flowScene(embedded.cluster, `definitions-${scenes++}`, helm);
const definitions = "apiextensions.k8s.io/v1";
const definitionOf = (plural: string, description: string) => ({
  ...{ apiVersion: definitions, kind: "CustomResourceDefinition" },
  metadata: { name: `${plural}.example.test` },
  spec: {
    ...{ group: "example.test", scope: "Namespaced", names: { plural, singular: plural, kind: plural } },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", description } } },
    ],
  },
});
const definition = (plural: string, description = "a test") => JSON.stringify(definitionOf(plural, description));
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h, annotations: {helm.sh/hook: pre-install}}\n";
const refused = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999}]}\n";

const live = (plural: string) =>
  embedded.cluster.get(
    {
      ...{ group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" },
      ...{ namespace: "", name: `${plural}.example.test` },
    },
    new AbortController().signal,
  );
const ids = async (scene: FlowScene) =>
  (await scene.status()).inventory?.entries.map(({ id, v }) => `${id} ${v}`).toSorted();

describe("status.inventory of a HelmRelease", () => {
  const templates = { a: configMap, h: hook };
  const files = {
    "crds/a.yaml": definition("ones"),
    "crds/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no-crd}\n",
  };

  test("23/57: lists the objects of the manifest and of crds/, and no hooks", async () => {
    const scene = await newScene();
    await scene.publish({ version: "1.0.0", templates, files });
    await scene.release({});
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
    expect(await ids(scene)).toEqual([
      "_no-crd__ConfigMap v1",
      "_ones.example.test_apiextensions.k8s.io_CustomResourceDefinition v1",
      `${scene.namespace}_a__ConfigMap v1`,
    ]);
    expect(await scene.get("v1", "ConfigMap", "no-crd")).toBeUndefined();
    expect(await scene.get("v1", "ConfigMap", "h")).toBeDefined();
  });

  test("23/57: is empty after an uninstall for another release name", async () => {
    const scene = await newScene();
    await scene.publish({ version: "1.0.0", templates });
    await scene.release({});
    await scene.run();
    expect(await ids(scene)).toHaveLength(1);
    await scene.release({ releaseName: "other" });
    expect(await scene.run()).toMatchObject({ dueInMs: 0 });
    expect(await scene.revisions()).toEqual([]);
    expect(await ids(scene)).toBeUndefined();
  });

  test("23/57: stays after an uninstall that remediates a failed install", async () => {
    const scene = await newScene();
    await scene.publish({ version: "1.0.0", templates: { a: configMap, s: refused } });
    await scene.release({ install: { remediation: { remediateLastFailure: true } } });
    await scene.run();
    expect(await scene.revisions()).toEqual([]);
    expect(await ids(scene)).toEqual([`${scene.namespace}_a__ConfigMap v1`, `${scene.namespace}_a__Service v1`]);
  });
});

describe("the definitions in crds/ of a chart", () => {
  test("23/58: are neither created nor changed with Skip", async () => {
    const scene = await newScene();
    await scene.apply(definitionOf("theirs", "a test"));
    const files = { "crds/a.yaml": definition("skipped"), "crds/b.yaml": definition("theirs", "changed") };
    await scene.publish({ version: "1.0.0", templates: { a: configMap }, files });
    await scene.release({ install: { crds: "Skip" }, upgrade: { crds: "Skip" } });
    const before = await live("theirs");
    await scene.run();
    await scene.publish({ version: "1.1.0", templates: { a: configMap }, files });
    await scene.run();

    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await live("skipped")).toBeUndefined();
    expect((await live("theirs"))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  test("23/58: are changed with CreateReplace, and never deleted", async () => {
    const scene = await newScene();
    const chart = (version: string, files: Readonly<Record<string, string>>) =>
      scene.publish({ version, templates: { a: configMap }, files });
    await chart("1.0.0", { "crds/a.yaml": definition("kept"), "crds/b.yaml": definition("changes") });
    await scene.release({ install: { crds: "CreateReplace" }, upgrade: { crds: "CreateReplace" } });
    await scene.run();
    expect(await live("kept")).toBeDefined();
    await chart("2.0.0", { "crds/b.yaml": definition("changes", "changed") });
    await scene.run();

    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await live("kept")).toBeDefined();
    expect(JSON.stringify((await live("changes"))?.["spec"])).toContain('"description":"changed"');
    await scene.release({ install: { crds: "CreateReplace" }, releaseName: "other" });
    await scene.run();
    expect(await scene.revisions()).toEqual([]);
    expect(await live("kept")).toBeDefined();
    expect(await live("changes")).toBeDefined();
  });
});
