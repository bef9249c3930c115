import { expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { buildFiles, configMap, type Files } from "./build-files.ts";
import { builtByKubectl } from "./built-by-kubectl.ts";

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  template:
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: web:1
        envFrom:
        - configMapRef: {name: settings}
`;
const base: Files = {
  "base/kustomization.yaml": 'resources:\n- web.yaml\n- sa.yaml\ncommonAnnotations:\n  note: "yes"\n',
  "base/web.yaml": deployment,
  "base/sa.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: web\n",
};

const top = `# everything that a kustomization is likely to hold
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
sortOptions: {order: fifo}
namespace: &ns team
namePrefix: dev-
resources: [base, extra.yaml]
components: [component]
configMapGenerator:
- name: settings
  files: [config.ini, renamed.txt=config.ini]
  envs: [names.env]
  literals:
  - A=1
  - B=x=y
  options: {labels: {made: "here"}, immutable: yes}
secretGenerator:
- name: token
  type: Opaque
  literals: [password=0755]
generatorOptions:
  annotations: {generated: 'true'}
labels:
- pairs: {team: *ns}
  includeSelectors: on
images:
- name: web
  newTag: "1.10"
replicas:
- {name: web, count: 0x3}
patches:
- path: patch.yaml
- target: {kind: Deployment}
  patch: |-
    - op: add
      path: /metadata/annotations/patched
      value: "on"
    - op: add
      path: /spec/revisionHistoryLimit
      value: 1_0
replacements:
- path: replacement.yaml
transformers:
- |
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata: {name: inline}
  annotations:
    site: https://example.test/path
    zero: "007"
  fieldSpecs:
  - {path: metadata/annotations, create: true}
- transformer.yaml
`;

const files: Files = {
  ...base,
  "kustomization.yaml": top,
  "extra.yaml": configMap("extra"),
  "component/kustomization.yaml":
    "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [more.yaml]\n",
  "component/more.yaml": configMap("more"),
  "config.ini": "[a]\nb = c\n",
  "names.env": "# a comment\nC=3\n",
  "patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  paused: true\n",
  "replacement.yaml":
    "source: {kind: ServiceAccount, name: web, fieldPath: metadata.name}\ntargets:\n- select: {kind: ConfigMap, name: extra}\n  fieldPaths: [data.a]\n",
  "transformer.yaml":
    "apiVersion: builtin\nkind: LabelTransformer\nmetadata:\n  name: file\nlabels:\n  from: file\nfieldSpecs:\n- path: metadata/labels\n  create: true\n",
};

test("a kustomization that uses every feature builds to the output of kubectl", async () => {
  const text = await builtByKubectl(files);
  expect(text).toContain("password: MDc1NQ==");
  const { digest, manifests } = await buildFiles(files);
  expect(manifests.map(({ metadata }) => metadata.name.replace(/-[a-z0-9]{10}$/, ""))).toEqual([
    "dev-web",
    "dev-web",
    "dev-extra",
    "dev-settings",
    "dev-token",
    "dev-more",
  ]);
  expect(digest).toBe(digestOf(text));
});

test("a missing resource is reported by kustomize, with its path in the artifact", async () => {
  await expect(buildFiles({ "kustomization.yaml": "resources: [absent.yaml]\n" })).rejects.toMatchObject({
    reason: "BuildFailed",
    message:
      "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'absent.yaml': open absent.yaml: no such file or directory': must build at directory: not a valid directory: evalsymlink failure on 'absent.yaml' : lstat absent.yaml: no such file or directory",
  });
});
