import { expect, test } from "vitest";
import { formatJson } from "../../../lib/core/json.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { transformPatches } from "../../../lib/manifests/transform-patches.ts";
import { buildFiles, configMap, noEngine, realEngine } from "./build-files.ts";

type Patch = NonNullable<BuildSpec["patches"]>[number];

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: nginx:1
`;
const files = { "a.yaml": configMap("a"), "web.yaml": deployment };
const operations = (...all: readonly object[]) => formatJson(all);

/** The Deployment and the ConfigMap, built without the engine. */
async function built(...patches: readonly Patch[]): Promise<unknown> {
  const { manifests } = await buildFiles(files, { patches: [...patches] }, noEngine);
  return Object.fromEntries(manifests.map(({ kind, spec, data, metadata }) => [kind, { spec, data, ...metadata }]));
}

const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

test("a merge patch that names its object changes only this object, without the engine", async () => {
  const patch = `${head}  annotations: {a: b}\nspec:\n  replicas: 3\n  strategy: {type: Recreate}\n`;
  expect(await built({ patch })).toMatchObject({
    Deployment: { spec: { replicas: 3, strategy: { type: "Recreate" } }, annotations: { a: "b" } },
    ConfigMap: { data: { a: "b" } },
  });
});

test("a merge patch with a target changes the selected objects, whatever name it has itself", async () => {
  const patch = "apiVersion: v1\nkind: Any\nmetadata:\n  name: any\n  labels: {team: a}\n";
  const all = await built({ patch, target: {} });
  expect(all).toMatchObject({
    Deployment: { labels: { app: "web", team: "a" } },
    ConfigMap: { labels: { team: "a" } },
  });
  const one = await built({ patch, target: { group: "apps", version: "v1", kind: "Deployment", name: "web" } });
  expect(one).toMatchObject({
    Deployment: { labels: { team: "a" } },
    ConfigMap: { labels: expect.not.objectContaining({ team: "a" }) },
  });
});

test("operations of a JSON patch are applied in order, and keep digits beyond 2^53", async () => {
  const patch = operations(
    { op: "replace", path: "/spec/replicas", value: 9007199254740993n },
    { op: "add", path: "/spec/template/spec/containers/-", value: { name: "side", image: "app" } },
    { op: "remove", path: "/spec/template/spec/containers/0" },
    { op: "add", path: "/metadata/annotations~1x", value: "y" },
  ).replace('"/metadata/annotations~1x"', '"/metadata/labels/a~1b"');
  expect(await built({ patch, target: { kind: "Deployment" } })).toMatchObject({
    Deployment: {
      spec: { replicas: 9007199254740993n, template: { spec: { containers: [{ name: "side", image: "app" }] } } },
      labels: { app: "web", "a/b": "y" },
    },
  });
});

test("an item is added before the one at its index", async () => {
  const path = "/spec/template/spec/containers/0";
  const patch = operations({ op: "add", path, value: { name: "first", image: "app" } });
  expect(await built({ patch, target: { kind: "Deployment" } })).toMatchObject({
    Deployment: { spec: { template: { spec: { containers: [{ name: "first" }, { name: "web" }] } } } },
  });
});

test("images and namespaces are changed after the patches", async () => {
  const patch = operations({ op: "replace", path: "/spec/template/spec/containers/0/image", value: "app:1" });
  const spec = {
    patches: [{ patch, target: { kind: "Deployment" } }],
    images: [{ name: "app", newTag: "2" }],
    targetNamespace: "dev",
  };
  const { manifests } = await buildFiles(files, spec, noEngine);
  expect(manifests.map(({ metadata }) => metadata.namespace)).toEqual(["dev", "dev"]);
  expect(formatJson(manifests)).toContain('"image":"app:2"');
});

test("the text of a patch is trimmed before it is parsed, so that a literal block at its end loses its line break", async () => {
  const ending = "spec:\n  text: |\n    x\n    y\n\n";
  expect(await built({ patch: `\n${head}${ending}` })).toMatchObject({ Deployment: { spec: { text: "x\ny" } } });
  const patch =
    "- op: add\n  path: /spec/text\n  value: |\n    x\n    y\n- op: add\n  path: /spec/more\n  value: |\n    z\n";
  for (const text of [patch, patch.replaceAll("\n", "\r\n")]) {
    expect(await built({ patch: text, target: { kind: "Deployment" } })).toMatchObject({
      Deployment: { spec: { text: "x\ny\n", more: "z" } },
    });
  }
});

test.each<{ name: string; patch: Patch }>([
  {
    name: "a list in a merge patch",
    patch: { patch: `${head}spec: {template: {spec: {containers: [{name: web, image: x}]}}}\n` },
  },
  { name: "a null", patch: { patch: `${head}spec: {replicas: null}\n` } },
  { name: "a null for a missing field", patch: { patch: `${head}spec: {fresh: null}\n` } },
  { name: "a directive", patch: { patch: `${head}spec: {$patch: replace, replicas: 2}\n` } },
  {
    name: "a number in the place of a text",
    patch: { patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}\n" },
  },
  {
    name: "a target by a pattern",
    patch: { patch: operations({ op: "add", path: "/x", value: "y" }), target: { name: "w.*" } },
  },
  {
    name: "a target by labels",
    patch: { patch: operations({ op: "add", path: "/x", value: "y" }), target: { labelSelector: "app=web" } },
  },
  {
    name: "a move",
    patch: {
      patch: operations({ op: "move", from: "/spec/replicas", path: "/spec/x" }),
      target: { kind: "Deployment" },
    },
  },
  {
    name: "another name",
    patch: { patch: operations({ op: "replace", path: "/metadata/name", value: "x" }), target: { kind: "Deployment" } },
  },
  ...[
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "N",
    "[a, {b: on}]",
    "{on: 1}",
    "{y: 1}",
    "1:30",
    "1_000",
    "012",
    "2001-01-01",
  ].map((value) => ({
    name: `a value that YAML 1.1 reads differently, ${value},`,
    patch: { patch: `- op: add\n  path: /spec/x\n  value: ${value}\n`, target: { kind: "Deployment" } },
  })),
  { name: "a word that YAML 1.1 reads as a boolean in a merge patch", patch: { patch: `${head}spec: {x: yes}\n` } },
  ...["[{op: add, path: /spec/x, value: 1}]", `[{"op":"add","path":"/spec/x","value":1}] # why`].map((patch) => ({
    name: `a JSON patch that is not JSON, ${patch},`,
    patch: { patch, target: { kind: "Deployment" } },
  })),
  { name: "the text <<", patch: { patch: `${head}spec: {x: '<<'}\n` } },
  { name: "an alias", patch: { patch: `${head}spec: {a: &a {b: c}, d: *a}\n` } },
])("$name is left to the engine", async ({ patch }) => {
  await expect(buildFiles(files, { patches: [patch] }, noEngine)).rejects.toThrow("the engine was asked");
});

test.each<{ name: string; patch: Patch; says: string }>([
  {
    name: "a path that does not exist",
    patch: { patch: operations({ op: "replace", path: "/spec/none/x", value: "y" }), target: { kind: "Deployment" } },
    says: "replace operation does not apply",
  },
  { name: "a missing object", patch: { patch: head.replace("web", "none") }, says: "no resource matches" },
  {
    name: "no YAML",
    patch: { patch: "a: [", target: { kind: "Deployment" } },
    says: "unable to parse SM or JSON patch",
  },
])("$name fails with kustomize's text", async ({ patch, says }) => {
  await expect(buildFiles(files, { patches: [patch] }, realEngine)).rejects.toThrow(says);
});

/** Objects that differ in one thing from the first. */
const alike = [
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "n" } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web-old", namespace: "n" } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "my-web", namespace: "n" } },
  { apiVersion: "apps/v1", kind: "DeploymentPlan", metadata: { name: "web", namespace: "n" } },
  { apiVersion: "apps/v1beta1", kind: "Deployment", metadata: { name: "web", namespace: "n" } },
  { apiVersion: "apps.example.com/v1", kind: "Deployment", metadata: { name: "web", namespace: "n" } },
  { apiVersion: "v1", kind: "Deployment", metadata: { name: "web", namespace: "n" } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "n-old" } },
];

/** Which of them a patch changes. */
const changedBy = (patch: Patch): readonly number[] =>
  transformPatches(alike, [patch]).flatMap((object, index) => (object === alike[index] ? [] : [index]));

test.each([
  [{}, [0, 1, 2, 3, 4, 5, 6, 7]],
  [{ name: "web" }, [0, 3, 4, 5, 6, 7]],
  [{ kind: "Deployment" }, [0, 1, 2, 4, 5, 6, 7]],
  [{ version: "v1" }, [0, 1, 2, 3, 5, 6, 7]],
  [{ group: "apps" }, [0, 1, 2, 3, 4, 7]],
  [{ group: "apps", version: "v1", kind: "Deployment", name: "web" }, [0, 7]],
  [{ group: "", version: "", kind: "", name: "web-old" }, [1]],
])(
  "a patch with the target %j changes only objects that match all of it, and none with similar names",
  (target, indexes) => {
    const patch = operations({ op: "add", path: "/metadata/labels", value: { a: "b" } });
    expect(() => changedBy({ patch, target })).toThrow("a patch of other metadata than labels and annotations");
    expect(changedBy({ patch: operations({ op: "add", path: "/data", value: "x" }), target })).toEqual(indexes);
    expect(changedBy({ patch: "apiVersion: v1\nkind: Any\nmetadata: {name: any}\ndata: x\n", target })).toEqual(
      indexes,
    );
  },
);

test("a merge patch without a target changes the object with its group, version, kind, namespace and name", () => {
  for (const [index, object] of alike.entries()) {
    expect(changedBy({ patch: formatJson({ ...object, data: "x" }) })).toEqual([index]);
  }
  const withoutNamespace = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, data: "x" };
  expect(() => changedBy({ patch: formatJson(withoutNamespace) })).toThrow("a patch that names no object, or several");
});
