import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { formatJson } from "../../../lib/core/json.ts";
import { buildFiles, configMap, type Files } from "./build-files.ts";
import { builtByKubectl } from "./built-by-kubectl.ts";

const sorted = "sortOptions: {order: fifo}\n";

async function before(files: Files): Promise<string> {
  return builtByKubectl(files).catch((error: Error) => error.message);
}

async function now(files: Files): Promise<string> {
  return buildFiles(files).then(
    ({ manifests }) => formatJson(manifests),
    (error: Error) => error.message,
  );
}

describe("differences between kustomize 5.8.1 and 5.7.1", () => {
  test("a replacement's target is selected by a regular expression", async () => {
    const files = {
      "kustomization.yaml": `${sorted}resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: from, fieldPath: data.a}\n  targets: [{select: {kind: ConfigMap, name: to.*}, fieldPaths: [data.a]}]\n`,
      "a.yaml": [configMap("from", "a: found"), configMap("to-one", "a: old")].join("---\n"),
    };
    expect(await before(files)).toContain("a: old");
    expect(await now(files)).not.toContain("old");
  });

  test("a replacement can change JSON or YAML inside a string", async () => {
    const files = {
      "kustomization.yaml": `${sorted}resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: from, fieldPath: data.a}\n  targets: [{select: {kind: ConfigMap, name: to}, fieldPaths: [data.config.port]}]\n`,
      "a.yaml": [configMap("from", "a: '8080'"), configMap("to", `config: '{"port":"80"}'`)].join("---\n"),
    };
    expect(await before(files)).toContain("expected");
    expect(await now(files)).toContain('{\\"port\\":\\"8080\\"}');
  });

  test("unknown options of a patch are refused", async () => {
    const patch = '[{"op": "add", "path": "/data/a", "value": "patched"}]';
    const files = {
      "kustomization.yaml": "resources: [base]\n",
      "base/kustomization.yaml": `resources: [a.yaml]\npatches: [{patch: '${patch}', target: {kind: ConfigMap}, options: {odd: true}}]\n`,
      "base/a.yaml": configMap("a"),
    };
    expect(await before(files)).toContain("a: patched");
    expect(await now(files)).toContain('unknown field "odd"');
  });

  test("an integer beyond 2^53 keeps its digits in an object that a JSON patch changes", async () => {
    const patch = '[{"op": "add", "path": "/data/a", "value": 1.50}]';
    const files = {
      "kustomization.yaml": `resources: [a.yaml]\npatches: [{patch: '${patch}', target: {kind: ConfigMap}}]\n`,
      "a.yaml": `${configMap("a")}spec: {odd: 9007199254740993, even: 9007199254740994, tiny: 0.10}\n`,
    };
    expect(await before(files)).toContain("  even: 9007199254740994\n  odd: 9007199254740992\n  tiny: 0.1\n");
    expect(await now(files)).toContain('{"even":9007199254740994,"odd":9007199254740993,"tiny":0.1}');
  });

  test("each is listed in docs/kustomize-versions.md", async () => {
    const page = await readFile(new URL("../../../docs/kustomize-versions.md", import.meta.url), "utf8");
    for (const words of ["regular expressions", "inside JSON or YAML", "`options` of a patch", "digits, up to 64 bits"])
      expect(page).toContain(words);
  });
});
