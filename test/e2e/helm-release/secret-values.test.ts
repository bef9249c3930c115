import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const password = "HUNTER2-x";
const rotated = "ROTATED3-y";

const service = (port: string) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, targetPort: "${port}"}]}\n`;
const fine = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";

const named = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.password }}}\n";

/** A HelmRelease with this template, whose value `password` comes from a Secret. */
async function withTemplate(
  template: string,
  spec: JsonObject = {},
  text = `password: ${password}\n`,
): Promise<FlowScene> {
  const scene = await flowScene(embedded.cluster, `secret-values-${scenes++}`, helm);
  await putSecret(scene, { "values.yaml": text });
  await scene.publish({ version: "1.0.0", templates: { a: template } });
  await scene.release({ valuesFrom: [{ kind: "Secret", name: "db" }], ...spec });
  return scene;
}

const putSecret = (scene: FlowScene, stringData: JsonObject) =>
  scene.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, stringData });

/** Everything that the run has told: the status, the events, and the descriptions that `helm history` shows. */
async function told(scene: FlowScene): Promise<string> {
  const versions = (await scene.revisions()).length;
  const names = Array.from({ length: versions }, (_, at) => `sh.helm.release.v1.app.v${at + 1}`);
  const secrets = await Promise.all(names.map((name) => scene.get("v1", "Secret", name)));
  const descriptions = secrets.map((secret) => {
    const data = secret?.["data"];
    const text = isJsonObject(data) && typeof data["release"] === "string" ? data["release"] : "";
    const record = gunzipSync(Buffer.from(Buffer.from(text, "base64").toString(), "base64")).toString();
    return /"description":"(?:[^"\\]|\\.)*"/.exec(record)?.[0];
  });
  return JSON.stringify([(await scene.live())["status"], await scene.told(), descriptions]);
}

describe("a value of a Secret is shown in no status, event and record, whatever quotes it", () => {
  test.each([
    ["fail of a template", '{{ fail (printf "bad %s" .Values.password) }}'],
    ["required of a template, in quotes", '{{ required (printf "%q" .Values.password) nil }}'],
    ["a function of a template", '{{ mustToDate "2006" .Values.password }}'],
    ["a dump of all values", "{{ fail (toJson .Values) }}"],
    ["the base64 of a login", '{{ fail (printf "u:%s" .Values.password | b64enc) }}'],
    ["a post-renderer", `${named}---\n${named}`],
    ["the API server", service("{{ .Values.password }}!")],
    ["the API server, for a composed value", service("postgres://u:{{ .Values.password }}@db")],
  ])("%s", async (_, template) => {
    const scene = await withTemplate(template);
    expect(await scene.run()).toMatchObject({ outcome: "failed" });
    const text = await told(scene);
    expect(text).toContain("*****");
    expect(text).not.toContain(password.slice(0, 6));
    expect(text).not.toContain(Buffer.from(`u:${password}`).toString("base64").slice(4, -4));
  });

  test("a template that fails with a Secret that it has looked up", async () => {
    const lookup = '{{ fail (index (lookup "v1" "Secret" .Release.Namespace "db").data "values.yaml" | b64dec) }}';
    const scene = await withTemplate(lookup, { valuesFrom: [] });
    await scene.run();
    expect(await scene.condition("Ready")).toContain(": *****");
    expect(await told(scene)).not.toContain(password);
  });

  test("the API server, for a Secret that a template has looked up", async () => {
    const port = '{{ index (lookup "v1" "Secret" .Release.Namespace "db").data "key" | b64dec }}!';
    const scene = await withTemplate(service(port), { valuesFrom: [] });
    await putSecret(scene, { key: password });
    await scene.run();
    const text = await told(scene);
    expect(text).toContain("*****!");
    expect(text).not.toContain(password);
  });

  test("the API server, for a Secret that the chart renders with a value of its own", async () => {
    const own = (name: string) => `apiVersion: v1\nkind: ${name}\nmetadata: {name: web}\n`;
    const template = `${own("Secret")}stringData: {a: OWN-of-chart}\n---\n${own("Service")}spec: {ports: [{port: 80, targetPort: OWN-of-chart!}]}\n`;
    const scene = await withTemplate(template);
    await scene.run();
    const text = await told(scene);
    expect(text).toContain("*****!");
    expect(text).not.toContain("OWN-of");
  });

  test("an upgrade that keeps the former values and fails with one of a Secret that has another value by now", async () => {
    const scene = await withTemplate(fine, {}, `password: ${password}\nuser: someone\n`);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True /);
    await putSecret(scene, { "values.yaml": `user: ${rotated}\n` });
    await scene.release({
      ...{ valuesFrom: [{ kind: "Secret", name: "db" }], values: { color: "green" } },
      upgrade: { preserveValues: true },
    });
    await scene.publish({ version: "1.1.0", templates: { a: "{{ fail (toYaml .Values) }}" } });
    await scene.run();
    const text = await told(scene);
    expect(text).toContain("color: green");
    for (const value of [password, rotated, "someone"]) expect(text).not.toContain(value);
  });

  test("a value that is no part of the values, since they cannot be composed", async () => {
    const scene = await withTemplate(fine, {}, `[${password}]\n`);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False ValuesError: /);
    expect(await told(scene)).not.toContain(password);
  });
});

test("a message about a release keeps the values that came from a ConfigMap or spec.values", async () => {
  const scene = await withTemplate('{{ fail (printf "color %s, password %s" .Values.color .Values.password) }}', {
    values: { color: "greenish" },
  });
  await scene.run();
  expect(await scene.condition("Ready")).toContain("color greenish, password *****");
});
