import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Engine } from "../../../lib/core/ports/engine.ts";
import { buildFiles, configMap, type Files, noEngine } from "./build-files.ts";

const deploy = {
  "app/a.yaml": configMap("a"),
  "base/kustomization.yaml": "resources: [b.yaml]\n",
  "base/b.yaml": configMap("b"),
};

function kustomization(text: string): Files {
  return { ...deploy, "app/kustomization.yaml": text };
}

describe("nothing reaches out of the artifact (47 to 49)", () => {
  const remote = "remote bases and files are not allowed: put a copy into the artifact";
  const absolute = "fs-security-constraint: an absolute path leads out of the artifact";
  const escape = "fs-security-constraint: the path leads out of the artifact";
  const program = "plugins that run a program or a container are not allowed";
  const helm = "helm charts are not inflated during a build";
  test.each([
    { text: "resources: ['https://example.test/base']", why: `resources 'https://example.test/base': ${remote}` },
    { text: "resources: ['HTTPS://example.test/base']", why: `resources 'HTTPS://example.test/base': ${remote}` },
    { text: "resources: ['git::ssh://example.test/x']", why: `resources 'git::ssh://example.test/x': ${remote}` },
    { text: "resources: ['github.com/o/r//d?ref=v1']", why: `resources 'github.com/o/r//d?ref=v1': ${remote}` },
    { text: "resources: ['git@example.test:o/r']", why: `resources 'git@example.test:o/r': ${remote}` },
    { text: "resources: ['example.test/o/r.git']", why: `resources 'example.test/o/r.git': ${remote}` },
    { text: "resources: ['oci://example.test/o/r']", why: `resources 'oci://example.test/o/r': ${remote}` },
    { text: "bases: [/etc]", why: `bases '/etc': ${absolute}` },
    { text: "Resources: [/etc/passwd]", why: `resources '/etc/passwd': ${absolute}` },
    { text: "resources: [../../x]", why: `resources '../../x': ${escape}` },
    { text: "resources: [file:///etc/passwd]", why: `resources 'file:///etc/passwd': ${remote}` },
    { text: "components: [../../../x]", why: `components '../../../x': ${escape}` },
    { text: "crds: [/x]", why: `crds '/x': ${absolute}` },
    { text: "configurations: [/x]", why: `configurations '/x': ${absolute}` },
    { text: "openapi: {path: /x}", why: `openapi '/x': ${absolute}` },
    { text: "patches: [{path: 'http://x.test/p'}]", why: `patches 'http://x.test/p': ${remote}` },
    { text: "patches: [{PATH: /x}]", why: `patches '/x': ${absolute}` },
    { text: "patchesStrategicMerge: [/x]", why: `patchesStrategicMerge '/x': ${absolute}` },
    {
      text: "patchesJson6902: [{path: ../../x, target: {kind: x, name: y}}]",
      why: `patchesJson6902 '../../x': ${escape}`,
    },
    { text: "replacements: [{path: /x}]", why: `replacements '/x': ${absolute}` },
    {
      text: "configMapGenerator: [{name: x, files: [k=/etc/passwd]}]",
      why: `configMapGenerator '/etc/passwd': ${absolute}`,
    },
    {
      text: "configMapGenerator: [{name: x, envs: [/proc/self/environ]}]",
      why: `configMapGenerator '/proc/self/environ': ${absolute}`,
    },
    {
      text: "secretGenerator: [{name: x, env: /proc/self/environ}]",
      why: `secretGenerator '/proc/self/environ': ${absolute}`,
    },
    { text: "helmCharts: [{name: x}]", why: `helmCharts: ${helm}` },
    { text: "helmChartInflationGenerator: [{chartName: x}]", why: `helmChartInflationGenerator: ${helm}` },
    { text: "re\u017fources: [/etc/passwd]", why: "re\u017fources: is no field of a kustomization" },
    { text: "generators: [../base]", why: "generators '../base': name the files of the plugins, not a folder" },
    {
      text: "transformers: ['{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, path: /x}']",
      why: `transformers '/x': ${absolute}`,
    },
    {
      text: "validators: ['{apiVersion: v1, kind: X, metadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: ./x}\"}}}']",
      why: `validators '{apiVersion: v1, kind: X, metadata: {name: x, annotations: {config.kubernetes.io/function: "exec: {path: ./x}"}}}': ${program}`,
    },
  ])("$text", async ({ text, why }) => {
    await expect(buildFiles(kustomization(text), { path: "app" }, noEngine)).rejects.toMatchObject({
      reason: "BuildFailed",
      message: `kustomize build failed: app/kustomization.yaml: ${why}`,
    });
  });

  test("a kustomization that does not parse is told by file and line", async () => {
    const building = buildFiles(kustomization("resources: [../base]\nx: [a"), { path: "app" }, noEngine);
    await expect(building).rejects.toThrow("invalid Kustomization: app/kustomization.yaml: yaml: line 2: ");
  });

  test("a plugin in a file is looked at as one that is inline", async () => {
    const files = {
      ...kustomization("generators: [gen.yaml]\n"),
      "app/gen.yaml":
        "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: x\nenvs:\n- /proc/self/environ\n",
    };
    await expect(buildFiles(files, { path: "app" }, noEngine)).rejects.toThrow(
      "generators '/proc/self/environ': fs-security",
    );
    const chart = {
      ...files,
      "app/gen.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata:\n  name: x\n",
    };
    await expect(buildFiles(chart, { path: "app" }, noEngine)).rejects.toThrow(helm);
  });

  test("a base is scanned as the folder that names it, and from a folder that Flux would write a file for", async () => {
    const files = { ...deploy, "base/kustomization.yaml": "resources: [b.yaml, /etc/passwd]\n" };
    await expect(
      buildFiles({ ...files, "app/kustomization.yaml": "resources: [../base]\n" }, { path: "app" }, noEngine),
    ).rejects.toThrow("base/kustomization.yaml: resources '/etc/passwd': fs-security-constraint");
    await expect(buildFiles(files, {}, noEngine)).rejects.toThrow(
      "base/kustomization.yaml: resources '/etc/passwd': fs-security-constraint",
    );
  });

  test("the engine reads what was scanned, not the artifact's own bytes", async () => {
    let seen = "";
    const engine: Engine = {
      async build(folder) {
        seen = await readFile(join(folder, "kustomization.yaml"), "utf8");
        return "";
      },
    };
    const text = "# a comment\nresources: [a.yaml]\nnamespace: &n team\nnamePrefix: *n\n";
    await buildFiles(kustomization(text), { path: "app" }, engine);
    expect(JSON.parse(seen)).toMatchObject({ resources: ["a.yaml"], namespace: "team", namePrefix: "team" });
  });

  test("files of sibling folders may be used, inside the artifact", async () => {
    const files = kustomization(
      "resources: [../base, a.yaml]\nconfigMapGenerator: [{name: c, files: [../base/b.yaml]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
    );
    const { manifests } = await buildFiles(files, { path: "app" });
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(["b", "a", "c"]);
  });
});

describe("the engine", () => {
  test("nothing of the environment reaches an output", async () => {
    process.env["SLUICE_CANARY"] = "canary-in-the-mine";
    try {
      const files = kustomization(
        "configMapGenerator:\n- name: leak\n  envs: [names.env]\n- name: more\n  literals: [SLUICE_CANARY]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
      );
      const building = buildFiles({ ...files, "app/names.env": "SLUICE_CANARY\nPATH\nHOME\n" }, { path: "app" });
      const said = await building.then(
        ({ manifests }) => JSON.stringify(manifests),
        (error: Error) => error.message,
      );
      expect(said).not.toContain("canary-in-the-mine");
      const env = kustomization(
        "configMapGenerator: [{name: leak, envs: [names.env]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
      );
      const { manifests } = await buildFiles(
        { ...env, "app/names.env": "SLUICE_CANARY\nPATH\nHOME\n" },
        { path: "app" },
      );
      expect(manifests[0]?.["data"]).toEqual({ SLUICE_CANARY: "", PATH: "", HOME: "" });
    } finally {
      delete process.env["SLUICE_CANARY"];
    }
  });

  test("a folder of a run is gone at its end, however it ends", async () => {
    const seen: string[] = [];
    const engine: Engine = {
      build(folder) {
        seen.push(folder);
        return seen.length === 1 ? Promise.resolve("") : Promise.reject(new Error("boom"));
      },
    };
    const files = kustomization("resources: [a.yaml]\n");
    await buildFiles(files, { path: "app" }, engine);
    await expect(buildFiles(files, { path: "app" }, engine)).rejects.toThrow("boom");
    for (const folder of seen) await expect(writeFile(join(folder, "x"), "")).rejects.toThrow("ENOENT");
  });
});
