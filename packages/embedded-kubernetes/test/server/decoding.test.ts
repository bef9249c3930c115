import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { type Kubernetes, startKubernetes } from "../../src/start-kubernetes.ts";
import { askKubernetes } from "./ask-kubernetes.ts";

// Every expectation was read from kube-apiserver v1.35.4.

let folder: string;
let kubernetes: Kubernetes;
const configMaps = "/api/v1/namespaces/default/configmaps";
const applyType = "application/apply-patch+yaml";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubernetes-decoding-"));
  kubernetes = await startKubernetes({ stateFolder: folder, controllers: false });
});
afterAll(async () => {
  await kubernetes.close();
  await rm(folder, { recursive: true });
});

async function send(method: string, path: string, type: string, body: string) {
  const response = await fetch(`${kubernetes.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${kubernetes.token}`, "content-type": type },
    body,
  });
  const answer: unknown = await response.json();
  const warnings = response.headers.get("warning")?.split(/, (?=299 - )/) ?? [];
  return { status: response.status, warnings, answer: isJsonObject(answer) ? answer : {} };
}

const apply = (name: string, body: string, query = "") =>
  send("PATCH", `${configMaps}/${name}?fieldManager=m${query}`, applyType, body);

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isJsonObject(metadata) ? metadata : {};
}

describe("a deletionTimestamp in a body", () => {
  const body = (data: string, more = "") =>
    `{apiVersion: v1, kind: ConfigMap, metadata: {name: dying${more}}, data: {a: ${data}}}`;
  const times = '"deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5';

  test("is kept by an apply that creates the object, and by later applies, until the object is deleted", async () => {
    const created = await apply("dying", body("one", `, ${times}`));
    expect([created.status, metadataOf(created.answer)]).toMatchObject([
      201,
      { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 },
    ]);
    for (const more of ['"deletionTimestamp": "2020-01-01T00:00:00Z"', ""]) {
      const next = await apply("dying", body("two", more === "" ? "" : `, ${more}`));
      expect([next.status, metadataOf(next.answer)["deletionTimestamp"]]).toEqual([200, "2020-01-01T00:00:00Z"]);
    }
    await askKubernetes(kubernetes, "DELETE", `${configMaps}/dying`);
    expect(await askKubernetes(kubernetes, "GET", `${configMaps}/dying`)).toMatchObject({ code: 404 });
  });

  test("is dropped by POST", async () => {
    const metadata = { name: "posted", deletionTimestamp: "2020-01-01T00:00:00Z" };
    const created = await askKubernetes(kubernetes, "POST", configMaps, { metadata });
    expect(metadataOf(created)["deletionTimestamp"]).toBeUndefined();
  });
});

describe("a duplicate key in YAML", () => {
  const text = (name: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  a: b
  a: c
  x: "y"
  x: z
data:
  q: r
`;
  const found = (line: number, key: string) => `line ${line}: key "${key}" already set in map`;
  const lines = [found(7, "a"), found(9, "x"), found(11, "data")];
  const warnings = lines.map((line) => `299 - "${line.replaceAll('"', '\\"')}"`);
  const problem = `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  const post = (query: string) => send("POST", `${configMaps}?dryRun=All${query}`, "application/yaml", text("twice"));

  test.each(["", "&fieldValidation=Warn"])("gives one warning each, and the last one counts%s", async (query) => {
    for (const sent of [await apply("twice", text("twice"), `&dryRun=All${query}`), await post(query)]) {
      expect(sent).toMatchObject({ status: 201, warnings, answer: { data: { q: "r" } } });
      expect(sent.answer["data"]).toEqual({ q: "r" });
    }
  });

  test("is ignored with fieldValidation Ignore", async () => {
    const query = "&fieldValidation=Ignore";
    for (const sent of [await apply("twice", text("twice"), `&dryRun=All${query}`), await post(query)]) {
      expect(sent).toMatchObject({ status: 201, warnings: [] });
    }
  });

  test("is refused with fieldValidation Strict", async () => {
    const query = "&fieldValidation=Strict";
    expect(await apply("twice", text("twice"), `&dryRun=All${query}`)).toMatchObject({
      status: 400,
      answer: { message: `error strict decoding YAML: error converting YAML to JSON: ${problem}` },
    });
    expect(await post(query)).toMatchObject({
      status: 400,
      answer: {
        message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${problem}`,
      },
    });
  });
});

describe("a null in a custom resource", () => {
  const path = "/apis/example.com/v1/namespaces/default/things";
  beforeAll(async () => {
    const text = { type: "string" };
    const properties = {
      plain: text,
      nullable: { ...text, nullable: true },
      both: { ...text, nullable: true, default: "d" },
      filled: { ...text, default: "d" },
      inner: { type: "object", properties: { plain: text } },
      map: { type: "object", additionalProperties: text },
    };
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
    await askKubernetes(kubernetes, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", singular: "thing", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    });
  });

  test.each([
    { sent: { plain: null }, kept: {} },
    { sent: { nullable: null }, kept: { nullable: null } },
    { sent: { both: null }, kept: { both: null } },
    { sent: { filled: null }, kept: {} },
    { sent: { inner: { plain: null } }, kept: { inner: {} } },
    { sent: { map: { a: null, b: "x" } }, kept: { map: { b: "x" } } },
  ])("is kept in a nullable field, and counts as unset in any other: $sent", async ({ sent, kept }) => {
    const body = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: sent };
    const created = await askKubernetes(kubernetes, "POST", `${path}?dryRun=All`, body);
    expect(created["spec"]).toEqual({ both: "d", filled: "d", ...kept });
  });
});

describe("an owner reference to an Event", () => {
  const owned = (apiVersion: string) =>
    askKubernetes(kubernetes, "POST", `${configMaps}?dryRun=All`, {
      metadata: { name: "owned", ownerReferences: [{ apiVersion, kind: "Event", name: "x", uid: "u" }] },
    });

  test("is refused in v1", async () => {
    const shown = '{"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}';
    expect(await owned("v1")).toMatchObject({
      code: 422,
      message: `ConfigMap "owned" is invalid: metadata.ownerReferences: Invalid value: ${shown}: /v1, Kind=Event is disallowed from being an owner`,
    });
  });

  test("is accepted in events.k8s.io/v1", async () => {
    expect(await owned("events.k8s.io/v1")).toMatchObject({ metadata: { name: "owned" } });
  });
});
