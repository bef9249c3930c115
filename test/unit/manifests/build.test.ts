import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { buildManifests } from "../../../lib/manifests/build/build.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { untilDeadline } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { tarOf } from "../sources/tar-of.ts";
import { buildFiles, configMap, type Files, noEngine, owner } from "./build-files.ts";

const ownerLabels = {
  "kustomize.toolkit.fluxcd.io/name": owner.name,
  "kustomize.toolkit.fluxcd.io/namespace": owner.namespace,
};

async function namesOf(files: Files, spec: BuildSpec = {}): Promise<readonly string[]> {
  return (await buildFiles(files, spec)).manifests.map(({ metadata }) => metadata.name);
}

function deployment(image: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: ${image}
          ports:
            - containerPort: 80
`;
}

function imageOf(manifest: Manifest | undefined): string | undefined {
  return /"image":"([^"]*)"/.exec(JSON.stringify(manifest))?.[1];
}

test("a literal block at the end of a file without a line break has none either, as in kustomize", async () => {
  const content = configMap("a", "a: |\n    x\n    y").trimEnd();
  const { manifests } = await buildFiles(
    { "a.yaml": content, "b.yaml": `${content.replace("name: a", "name: b")}\n` },
    {},
    noEngine,
  );
  expect(manifests.map((manifest) => manifest["data"])).toEqual([{ a: "x\ny" }, { a: "x\ny\n" }]);
});

describe("the files that are built", () => {
  test("are all YAML files below the path in walk order, a folder with a kustomization as a unit, and no other files (36)", async () => {
    const files = {
      "app/z.yaml": configMap("z"),
      "app/b.yml": configMap("b"),
      "app/b/inner.yaml": configMap("inner"),
      "app/.hidden/h.yaml": configMap("hidden"),
      "app/data.json": "{}",
      "app/sub/kustomization.yml": "resources: [x.yaml]\nnamePrefix: sub-\n",
      "app/sub/x.yaml": configMap("x"),
      "app/sub/unlisted.yaml": configMap("unlisted"),
      "other/o.yaml": configMap("o"),
    };
    expect(await namesOf(files, { path: "./app" })).toEqual(["hidden", "inner", "b", "sub-x", "z"]);
    expect(await namesOf(files, { path: "/../app/b/" })).toEqual(["inner"]);
  });

  describe("links in an artifact", () => {
    const built = async (members: Parameters<typeof tarOf>[0], skipLinks: boolean) => {
      const deps = { engine: noEngine, log: silentLog, skipLinks };
      const signal = untilDeadline();
      const { manifests } = await buildManifests(gzipSync(tarOf(members)), { spec: {}, owner }, deps, signal);
      return manifests.map(({ metadata }) => metadata.name);
    };
    const outside = [
      { name: "a.yaml", content: configMap("a") },
      { name: "passwd.yaml", type: "2", link: "/etc/passwd" },
      { name: "up.yaml", type: "2", link: "../../up.yaml" },
    ];

    test("are skipped without an error with skip-links, as in Flux (26)", async () => {
      expect(await built(outside, true)).toEqual(["a"]);
    });

    test("out of the artifact are refused by name", async () => {
      await expect(built(outside, false)).rejects.toThrow(
        "failed to extract archive (check whether file size exceeds max download size): 'passwd.yaml' is a link to '/etc/passwd', which leads out of the archive: put a file in its place",
      );
    });

    test("inside of the artifact are followed", async () => {
      const members = [
        { name: "elsewhere/a", content: configMap("a") },
        { name: "a.yaml", type: "2", link: "elsewhere/a" },
      ];
      expect(await built(members, false)).toEqual(["a"]);
    });
  });

  test("every name of a kustomization file is supported, and the first that exists is used", async () => {
    const files = {
      Kustomization: "resources: [a.yaml]\nnameSuffix: -1\n",
      "a.yaml": configMap("a"),
      "b.yaml": configMap("b"),
    };
    expect(await namesOf(files)).toEqual(["a-1"]);
  });

  test("of a duplicate field the last one is used, of several documents the first", async () => {
    const text = "resources: [b.yaml]\nresources: [a.yaml]\n---\nresources: [b.yaml]\n";
    expect(await namesOf({ "kustomization.yaml": text, "a.yaml": configMap("a"), "b.yaml": configMap("b") })).toEqual([
      "a",
    ]);
  });

  test("an empty kustomization builds to nothing", async () => {
    expect(await namesOf({ "kustomization.yaml": "", "a.yaml": configMap("a") })).toEqual([]);
  });

  test("unknown fields are ignored in the kustomization file of the path, as in Flux", async () => {
    const text = "resources: [a.yaml]\nowner: team-a\nimages: [{name: x, newTag: v1, note: why}]\n";
    expect(await namesOf({ "kustomization.yaml": text, "a.yaml": configMap("a") })).toEqual(["a"]);
  });
});

describe("the build options in the spec", () => {
  const plain = { "cm.yaml": configMap("cm") };
  const file = { "kustomization.yaml": "resources: [cm.yaml]\nnamePrefix: old-\nnamespace: old\n", ...plain };

  test.each([
    { where: "a plain folder", files: plain, engine: noEngine },
    { where: "a kustomization", files: file, engine: undefined },
  ])("namespace, prefix and suffix in $where (40)", async ({ files, engine }) => {
    const spec = { targetNamespace: "team", namePrefix: "prefix-", nameSuffix: "-suffix" };
    const { manifests } = await buildFiles(files, spec, engine);
    expect(manifests.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      "team/prefix-cm-suffix",
    ]);
  });

  test("patches come after those of the file, one text may hold several (41, 42)", async () => {
    const files = {
      "kustomization.yaml":
        "resources: [a.yaml, b.yaml, c.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: file}}'}]\n",
      "a.yaml": configMap("a"),
      "b.yaml": configMap("b").replace("metadata:", "metadata:\n  labels:\n    app: b"),
      "c.yaml": configMap("c"),
    };
    const patches = [
      { patch: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: spec\n" },
      {
        patch: '[{"op": "add", "path": "/data/j", "value": "son"}]',
        target: { kind: "ConfigMap", labelSelector: "app=b" },
      },
    ];
    const { manifests } = await buildFiles(files, { patches });
    expect(manifests.map(({ data }) => data)).toEqual([{ a: "spec" }, { a: "b", j: "son" }, { a: "b" }]);
    const gone = ["a", "c"].map(
      (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n$patch: delete\n`,
    );
    expect(await namesOf(files, { patches: [{ patch: gone.join("---\n") }] })).toEqual(["b"]);
  });

  test.each([
    { file: "newTag: v1.2.3", image: { newName: "reg/web" }, result: "reg/web:v1.2.3" },
    { file: "digest: 'sha256:abc'", image: { newTag: "v2" }, result: "web:v2" },
    { file: "newTag: 1.5", image: {}, result: "web:1.5" },
    { file: "newTag: v1", image: { newTag: "v2", digest: "sha256:d" }, result: "web:v2@sha256:d" },
  ])("image with $file in the file and $image in the spec is $result (43)", async ({ file: text, image, result }) => {
    const files = {
      "kustomization.yaml": `resources: [d.yaml]\nimages: [{name: web, ${text}}]\n`,
      "d.yaml": deployment("web:1.0"),
    };
    const { manifests } = await buildFiles(files, { images: [{ name: "web", ...image }] });
    expect(imageOf(manifests[0])).toBe(result);
  });

  test("images of a plain folder are replaced without the engine", async () => {
    const images = [{ name: "reg.test:5000/web", newTag: "v2" }];
    const { manifests } = await buildFiles({ "d.yaml": deployment("reg.test:5000/web:v1") }, { images }, noEngine);
    expect(imageOf(manifests[0])).toBe("reg.test:5000/web:v2");
  });

  test("components are local, and missing ones are ignored on request (44)", async () => {
    const files = {
      "app/cm.yaml": configMap("cm"),
      "a/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: a-\n",
    };
    const spec = { path: "app", components: ["../a", "../missing"] };
    await expect(buildFiles(files, spec)).rejects.toThrow(/kustomize build failed: .*missing/);
    expect(await namesOf(files, { ...spec, ignoreMissingComponents: true })).toEqual(["a-cm"]);
    for (const remote of ["https://example.test/c", "GIT@example.test:c", "/abs", "file:///x"]) {
      const building = buildFiles(files, { path: "app", components: [remote] });
      await expect(building).rejects.toMatchObject({
        reason: "BuildFailed",
        message: `component path '${remote}' must be local and relative`,
      });
    }
  });

  test("build metadata of the spec is added to the objects (45)", async () => {
    const { manifests } = await buildFiles(plain, { buildMetadata: ["originAnnotations"] });
    expect(manifests[0]?.metadata.annotations).toEqual({ "config.kubernetes.io/origin": "path: cm.yaml\n" });
    const [without] = (await buildFiles(plain)).manifests;
    expect(without?.metadata.annotations).toBeUndefined();
    const generated = { "kustomization.yaml": "configMapGenerator: [{name: g, literals: [a=b]}]\n" };
    const [first] = (await buildFiles(generated)).manifests;
    expect(Object.keys(first?.metadata.annotations ?? {})).toEqual(["config.kubernetes.io/origin"]);
  });

  test("every object has owner labels and common metadata, which the digest does not cover (46, 72)", async () => {
    const commonMetadata = {
      labels: { tenant: "t", "kustomize.toolkit.fluxcd.io/name": "mine" },
      annotations: { tenant: "t" },
    };
    const files = {
      "cm.yaml": configMap("cm").replace("metadata:", "metadata:\n  labels:\n    tenant: old\n    keep: me"),
    };
    const [bare, common] = [
      await buildFiles(files, {}, noEngine),
      await buildFiles(files, { commonMetadata }, noEngine),
    ];
    expect(bare.manifests[0]?.metadata.labels).toEqual({ tenant: "old", keep: "me", ...ownerLabels });
    expect(common.manifests[0]?.metadata).toMatchObject({
      labels: { ...ownerLabels, keep: "me", ...commonMetadata.labels },
      annotations: { tenant: "t" },
    });
    expect(common.digest).toBe(bare.digest);
  });
});
