import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { crdFiles } from "../../../infra/crd-files.ts";
import { definedKinds as kinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { customResourceDefinition } from "../../../lib/definitions/custom-resource-definition.ts";

const folder = join(import.meta.dirname, "../../../infra/crds");

describe("the custom resource definitions", () => {
  test("checked in are generated from the schemas; otherwise run: node infra/write-crds.ts", async () => {
    const files = await crdFiles();
    expect((await readdir(folder)).toSorted()).toEqual([...files.keys()].toSorted());
    for (const [name, text] of files) expect(await readFile(join(folder, name), "utf8")).toBe(text);
  });

  test.each(kinds)("of $kind is the same as the YAML of its file", async (kind) => {
    const text = (await crdFiles()).get(`${kind.plural}.${kind.group}.yaml`) ?? "";
    expect(parse(text)).toEqual(JSON.parse(JSON.stringify(await customResourceDefinition(kind))));
  });

  test("of HelmRelease takes a targetPath with an escaped dot and a slash, as in `podAnnotations.prometheus\\.io/scrape`", async () => {
    const text = (await crdFiles()).get("helmreleases.helm.toolkit.fluxcd.io.yaml") ?? "";
    const [, pattern = ""] = /targetPath:[^]*?pattern: (\S+)/.exec(text) ?? [];
    expect("podAnnotations.prometheus\\.io/scrape").toMatch(new RegExp(pattern));
    expect("a[b").not.toMatch(new RegExp(pattern));
  });

  test.each([
    {
      kind: "Kustomization",
      versions: ["v1", "v1beta2", "v1beta1"],
      shortNames: ["ks"],
      categories: ["all", "fluxcd", "fluxcd-appliers"],
      columns: ["Age", "Ready", "Status"],
      required: ["interval", "prune", "sourceRef"],
    },
    {
      kind: "OCIRepository",
      versions: ["v1", "v1beta2"],
      shortNames: ["ocirepo"],
      categories: ["all", "fluxcd", "fluxcd-sources"],
      columns: ["URL", "Ready", "Status", "Age"],
      required: ["interval", "url"],
    },
  ])("of $kind has the same names and columns as in Flux, in every version", async (expected) => {
    const definition = await definitionOf(expected.kind);
    expect(definition).toMatchObject({
      metadata: {
        annotations: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" },
        labels: {
          "app.kubernetes.io/instance": "flux-system",
          "app.kubernetes.io/part-of": "flux",
          "app.kubernetes.io/version": expect.stringMatching(/^v2\.9\.\d+$/),
        },
      },
      spec: {
        scope: "Namespaced",
        names: { shortNames: expected.shortNames, categories: expected.categories },
        versions: expected.versions.map((name) => ({
          name,
          served: true,
          storage: name === "v1",
          subresources: { status: {} },
          additionalPrinterColumns: expected.columns.map((column) => ({ name: column })),
          schema: {
            openAPIV3Schema: {
              properties: {
                spec: { required: expected.required },
                status: { default: { observedGeneration: -1 } },
              },
            },
          },
        })),
      },
    });
  });

  test("have Flux's rules and defaults in the schema itself (2, 3, 5)", async () => {
    expect(await specOf("Kustomization")).toMatchObject({
      interval: { type: "string", pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$" },
      targetNamespace: { minLength: 1, maxLength: 63 },
      force: { type: "boolean", default: false },
      kubeConfig: {
        "x-kubernetes-validations": [
          { rule: "has(self.configMapRef) || has(self.secretRef)" },
          { rule: "!has(self.configMapRef) || !has(self.secretRef)" },
        ],
      },
    });
    expect(await specOf("OCIRepository")).toMatchObject({
      url: { pattern: "^oci://.*$" },
      timeout: { pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m))+$", default: "60s" },
      provider: { default: "generic", enum: ["generic", "aws", "azure", "gcp"] },
    });
  });

  test.each([
    {
      kind: "Canary",
      columns: ["Status", "Weight", "LastTransitionTime"],
      wide: ["Suspended", "FailedChecks", "Interval", "Mirror", "StepWeight", "StepWeights", "MaxWeight"],
      required: ["targetRef", "analysis"],
      hasStatus: true,
    },
    { kind: "MetricTemplate", columns: ["Provider"], wide: [], required: ["provider", "query"], hasStatus: false },
    { kind: "AlertProvider", columns: ["Type"], wide: [], required: undefined, hasStatus: false },
  ])("of $kind has the same columns as in Flagger, and is not listed by flux", async (expected) => {
    const definition = await definitionOf(expected.kind);
    expect(at(definition, "metadata", "labels")).toBeUndefined();
    expect(at(definition, "spec", "names")).toMatchObject({ shortNames: [], categories: ["all"] });
    const [version, ...others] = listAt(definition, "spec", "versions");
    expect(others).toEqual([]);
    expect(version).toMatchObject({ name: "v1beta1", served: true, storage: true });
    const columns = listAt(version, "additionalPrinterColumns");
    const named = (priority: number | undefined) =>
      columns.filter((one) => at(one, "priority") === priority).map((one) => at(one, "name"));
    expect(named(undefined)).toEqual(expected.columns);
    expect(named(1)).toEqual(expected.wide);
    expect(at(version, "subresources")).toEqual(expected.hasStatus ? { status: {} } : {});
    const schema = at(version, "schema", "openAPIV3Schema", "properties");
    expect(at(schema, "spec", "required")).toEqual(expected.required);
    expect(at(schema, "status", "default")).toBeUndefined();
  });

  test("of Canary has Flagger's rules and defaults in the schema itself", async () => {
    expect(await specOf("Canary")).toMatchObject({
      analysis: {
        oneOf: [
          { required: ["interval", "threshold", "iterations"] },
          { required: ["interval", "threshold", "stepWeight"] },
          { required: ["interval", "threshold", "stepWeights"] },
        ],
        properties: {
          interval: { pattern: "^[0-9]+(m|s)" },
          sessionAffinity: { required: ["cookieName"], properties: { maxAge: { default: 86_400 } } },
        },
      },
      service: {
        required: ["port"],
        properties: {
          targetPort: { "x-kubernetes-int-or-string": true },
          gatewayRefs: { maxItems: 32, items: { properties: { kind: { default: "Gateway" } } } },
        },
      },
    });
    expect(at(await specOf("Canary"), "analysis", "required")).toBeUndefined();
    expect(at(await specOf("Canary"), "service", "default")).toBeUndefined();
  });

  test.each(kinds)("of $kind is structural: every field has a type or is deliberately free", async (kind) => {
    expect(untyped(schemaOf(await customResourceDefinition(kind)), "")).toEqual([]);
  });
});

async function definitionOf(name: string): Promise<JsonObject> {
  const kind = kinds.find((each) => each.kind === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  return customResourceDefinition(kind);
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, key) => (Array.isArray(part) ? part[Number(key)] : isJsonObject(part) ? part[key] : undefined),
    value,
  );
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

function schemaOf(definition: JsonObject): unknown {
  return at(definition, "spec", "versions", 0, "schema", "openAPIV3Schema");
}

async function specOf(name: string): Promise<unknown> {
  return at(schemaOf(await definitionOf(name)), "properties", "spec", "properties");
}

/** The paths of schema nodes that a structural schema may not have. */
function untyped(schema: unknown, path: string): string[] {
  if (!isJsonObject(schema)) return [path];
  const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const nested = [
    ...properties.map(([name, value]) => untyped(value, `${path}.${name}`)),
    ...(schema["items"] === undefined ? [] : [untyped(schema["items"], `${path}[]`)]),
    ...(schema["additionalProperties"] === undefined ? [] : [untyped(schema["additionalProperties"], `${path}.*`)]),
  ].flat();
  const free = schema["x-kubernetes-preserve-unknown-fields"] === true || schema["x-kubernetes-int-or-string"] === true;
  return schema["type"] === undefined && !free ? [path, ...nested] : nested;
}
