import type { JsonObject } from "../../../lib/core/json.ts";
import type { Files } from "../../unit/manifests/build-files.ts";
import { canary } from "../canary.ts";

/** A build or an apply with data of a Secret that fails. */
export interface SecretCase {
  readonly name: string;
  readonly files: Files;
  /** Of the Kustomization. */
  readonly spec?: JsonObject;
  /** What Ready says. */
  readonly says: string;
}

const head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: default\n";
const secret = `${head}stringData:\n  password: ${canary}\n`;
const target = { kind: "Secret", name: "s" };
const kustomization = (fields: object): string => JSON.stringify({ resources: ["s.yaml"], ...fields });
const built = (fields: object, others: Files = {}): Files => ({
  "s.yaml": secret,
  "kustomization.yaml": kustomization(fields),
  ...others,
});
const operations = (...list: readonly object[]): string => JSON.stringify(list);
const patch = (stringData: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: default\nstringData${stringData}\n`;
const generator = (fields: object): Files =>
  built({ secretGenerator: [{ name: "g", namespace: "default", ...fields }] });
const replacement = (source: object, targets: object): Files =>
  built({ replacements: [{ source, targets: [targets] }] });
const password = { ...target, fieldPath: "stringData.password" };

const undecoded = "BuildFailed: failed to decode Kubernetes YAML from s.yaml: ";
const unbuilt = "BuildFailed: kustomize build failed: ";
const unconfigured = `${unbuilt}trouble configuring builtin PatchTransformer with config: \``;
const unread = "unable to parse SM or JSON patch from [patch: *****]";
const refused = "ReconciliationFailed: Secret/default/s dry-run failed";

/** In a folder without a kustomization, most of which are built in process. */
const plain: readonly SecretCase[] = [
  {
    name: "plain-no-yaml",
    files: { "s.yaml": `${secret}  more: [${canary}` },
    says: `${undecoded}MalformedYAMLError: yaml: line`,
  },
  {
    name: "plain-a-key-twice",
    files: { "s.yaml": `${secret}  password: ${canary}\n` },
    says: 'kustomize build failed: map[string]interface {}(nil): yaml: unmarshal errors:\n  line 8: mapping key "password"',
  },
  {
    name: "plain-an-alias-for-a-value",
    files: { "s.yaml": `${head}stringData:\n  password: *c4n4ry\n` },
    says: `${undecoded}MalformedYAMLError: yaml: unknown anchor '*****' referenced`,
  },
  {
    name: "plain-a-tag-for-a-value",
    files: { "s.yaml": `${head}stringData:\n  password: !c4n4ry!x y\n` },
    says: `${undecoded}MalformedYAMLError: yaml: line 6: found undefined tag handle`,
  },
  { name: "plain-an-anchor", files: { "s.yaml": `${secret}  more: &c4n4ry [*c4n4ry2]\n` }, says: undecoded },
  { name: "plain-a-separator-with-text", files: { "s.yaml": `${secret}--- ${canary}\n` }, says: undecoded },
  {
    name: "plain-no-kind",
    files: { "s.yaml": secret.replace("kind: Secret\n", "") },
    says: `${undecoded}missing kind in object`,
  },
  {
    name: "plain-no-name",
    files: { "s.yaml": secret.replace("  name: s\n", `  annotations: {last: "${canary}"}\n`) },
    says: `${undecoded}missing metadata.name in object {{v1 Secret} {{ default} map[] map[*****]}}`,
  },
  {
    name: "plain-no-api-version",
    files: { "s.yaml": secret.replace("apiVersion: v1\n", "") },
    says: 'failed to decode Kubernetes apiVersion, kind and name from: {"kind":"Secret"',
  },
  {
    name: "plain-in-a-list",
    files: {
      "s.yaml": `apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {}, stringData: {a: ${canary}}}\n`,
    },
    says: `${undecoded}missing metadata.name`,
  },
  { name: "plain-sops", files: { "s.yaml": `${secret}sops:\n  mac: ${canary}\n` }, says: "is SOPS encrypted" },
  { name: "plain-a-scalar", files: { "s.yaml": canary }, says: `${undecoded}missing Resource metadata` },
];

/** Built, and refused by the API server. */
const applied: readonly SecretCase[] = [
  {
    name: "apply-a-map-for-a-text",
    files: { "s.yaml": `${head}stringData:\n  password: {a: ${canary}}\n` },
    says: refused,
  },
  { name: "apply-a-text-for-a-map", files: { "s.yaml": `${head}stringData: ${canary}\n` }, says: refused },
  { name: "apply-a-list-for-a-map", files: { "s.yaml": `${head}data: [${canary}]\n` }, says: refused },
  { name: "apply-no-base64", files: { "s.yaml": `${head}data:\n  password: "${canary}!"\n` }, says: `${refused}: ` },
  { name: "apply-a-text-for-a-boolean", files: { "s.yaml": `${secret}immutable: ${canary}\n` }, says: refused },
  {
    name: "apply-too-large",
    files: { "s.yaml": `${head}stringData:\n  password: ${canary.repeat(60_000)}\n` },
    says: "Too long: may not be more than 1048576 bytes",
  },
  { name: "apply-a-bad-key", files: { "s.yaml": `${head}stringData:\n  "bad key": ${canary}\n` }, says: refused },
  {
    name: "apply-a-bad-name",
    files: { "s.yaml": secret.replace("name: s", "name: Bad_S") },
    says: "ReconciliationFailed: Secret/default/Bad_S dry-run failed",
  },
  {
    name: "apply-a-bad-label",
    files: { "s.yaml": secret.replace("name: s", `name: s\n  labels: {a: "${canary.length} %"}`) },
    says: refused,
  },
  {
    name: "apply-no-docker-config",
    files: { "s.yaml": `${head}type: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: ${canary}\n` },
    says: refused,
  },
  {
    name: "apply-nowhere",
    files: { "s.yaml": secret.replace("default", "nowhere") },
    says: 'namespaces "nowhere" not found',
  },
  {
    name: "apply-twice",
    files: { "a.yaml": secret, "kustomization.yaml": JSON.stringify({ resources: ["a.yaml"] }) },
    spec: { patches: [{ patch: operations({ op: "replace", path: "/stringData", value: canary }), target }] },
    says: refused,
  },
];

/** Refused by kustomize, which quotes its input. */
const engine: readonly SecretCase[] = [
  { name: "patch-no-yaml", files: built({ patches: [{ patch: patch(`: [${canary}`), target }] }), says: unconfigured },
  {
    name: "patch-no-yaml-in-the-spec",
    files: built({}),
    spec: { patches: [{ patch: patch(`:\n\tpassword: ${canary}`), target }] },
    says: unread,
  },
  { name: "patch-of-text", files: built({}), spec: { patches: [{ patch: canary, target }] }, says: unread },
  {
    name: "patch-in-json",
    files: built({ patches: [{ patch: `[{"op":"add","path":"/data/x","value":"${canary}"`, target }] }),
    says: unread,
  },
  {
    name: "patch-in-json-without-target",
    files: built({ patches: [{ patch: operations({ op: "add", path: "/data/x", value: canary }) }] }),
    says: `${unbuilt}must specify a target for JSON patch [patch: *****]`,
  },
  {
    name: "patch-in-json-of-nothing",
    files: built({}),
    spec: { patches: [{ patch: operations({ op: "replace", path: "/data/absent", value: canary }), target }] },
    says: "/data/absent: missing value",
  },
  {
    name: "patch-in-json-that-tests",
    files: built({
      patches: [{ patch: operations({ op: "test", path: "/stringData/password", value: `${canary}.` }), target }],
    }),
    says: "testing value /stringData/password failed",
  },
  {
    name: "patch-of-a-wrong-shape",
    files: built({ patches: [{ patch: patch(`: [${canary}]`) }] }),
    says: "node contents: (the rest is not shown",
  },
  {
    name: "patch-of-nobody",
    files: built({ patches: [{ patch: secret.replace("name: s", "name: nobody") }] }),
    says: "no resource matches strategic merge patch",
  },
  {
    name: "patch-of-two",
    files: built({ patches: [{ patch: `${secret}---\n${secret.replace("name: s", "name: t")}`, target }] }),
    says: "field: [patch: *****]",
  },
  {
    name: "patch-strategy",
    files: built({ patches: [{ patch: patch(`:\n  $patch: ${canary}`) }] }),
    says: "unknown patch strategy '*****'",
  },
  {
    name: "patch-and-path",
    files: built({ patches: [{ patch: secret, path: "s.yaml" }] }),
    says: "patch and path can't be set at the same time",
  },
  {
    name: "replacement-out-of-bounds",
    files: replacement(
      { ...password, options: { delimiter: "-", index: 9 } },
      { select: target, fieldPaths: ["metadata.annotations.x"], options: { create: true } },
    ),
    says: "options.index 9 is out of bounds for value",
  },
  {
    name: "replacement-into-a-text",
    files: replacement({ ...target, fieldPath: "kind" }, { select: target, fieldPaths: ["stringData.password.x"] }),
    says: "unable to find field",
  },
  {
    name: "replacement-without-source",
    files: replacement({ ...target, fieldPath: "stringData.absent" }, { select: target, fieldPaths: ["kind"] }),
    says: "fieldPath `stringData.absent` is missing",
  },
  {
    name: "replacement-without-target",
    files: replacement(password, { select: target, fieldPaths: ["data.absent"] }),
    says: 'unable to find field "data.absent" in replacement target',
  },
  {
    name: "replacement-of-a-map",
    files: replacement(
      { ...target, fieldPath: "stringData", options: { delimiter: "-" } },
      { select: target, fieldPaths: ["kind"] },
    ),
    says: "delimiter option can only be used with scalar nodes",
  },
  {
    name: "literal-without-key",
    files: generator({ literals: [`${canary.replace("=", "")}`] }),
    says: "invalid literal source *****, expected key=value",
  },
  {
    name: "literal-with-an-empty-key",
    files: generator({ literals: [`=${canary}`] }),
    says: "invalid literal source *****, expected key=value",
  },
  {
    name: "literal-among-files",
    files: generator({ files: [`password=${canary.replace("=", "")}`] }),
    says: "loading KV pairs: file sources: [*****]",
  },
  {
    name: "literal-with-two-separators-among-files",
    files: generator({ files: [`password=x=${canary}`] }),
    says: "key name or file path contains '='",
  },
  {
    name: "literal-among-env-files",
    files: generator({ envs: [`PASSWORD=${canary}`] }),
    says: "loading KV pairs: env source files: [*****]",
  },
  {
    name: "literal-twice",
    files: generator({ literals: [`a=${canary}`, `a=${canary}`] }),
    says: "illegally repeats the key `a`",
  },
  { name: "literal-of-a-map", files: generator({ literals: [{ a: canary }] }), says: "json: cannot unmarshal object" },
  {
    name: "literal-in-a-base",
    files: {
      "kustomization.yaml": JSON.stringify({ resources: ["base"] }),
      "base/kustomization.yaml": JSON.stringify({ secretGenerator: [{ name: "g", literals: [`=${canary}`] }] }),
    },
    says: "invalid literal source *****",
  },
  {
    name: "patch-in-a-component",
    files: built(
      { components: ["part"] },
      {
        "part/kustomization.yaml": JSON.stringify({
          apiVersion: "kustomize.config.k8s.io/v1alpha1",
          kind: "Component",
          patches: [{ patch: canary, target }],
        }),
      },
    ),
    says: "accumulating components: accumulateDirectory:",
  },
  {
    name: "variable-of-nothing",
    files: built({
      vars: [{ name: "PW", objref: { apiVersion: "v1", ...target }, fieldref: { fieldpath: "stringData.absent" } }],
    }),
    says: unbuilt,
  },
  {
    name: "labels-of-text",
    files: built({ commonLabels: { a: "b" } }, { "s.yaml": secret.replace("name: s", `name: s\n  labels: ${canary}`) }),
    says: "considering field 'metadata/labels' of object",
  },
  {
    name: "kustomization-no-yaml",
    files: { "kustomization.yaml": `secretGenerator:\n- name: g\n  literals: [a=${canary}` },
    says: "BuildFailed: ",
  },
  {
    name: "kustomization-an-alias-for-a-literal",
    files: { "kustomization.yaml": "secretGenerator:\n- name: g\n  literals: [*c4n4ry]\n" },
    says: "BuildFailed: ",
  },
];

/**
 * Where a replacement puts the value into another object, which the API server refuses and quotes. Not into a name: requests
 * have that in their path, which the debug log has.
 */
const elsewhere: readonly SecretCase[] = [
  { at: "a-label", fieldPath: "metadata.labels.x", says: 'metadata.labels: Invalid value: "*****"' },
  { at: "the-name-of-a-port", fieldPath: "spec.ports.0.name", says: 'spec.ports[0].name: Invalid value: "*****"' },
  { at: "a-kind", fieldPath: "kind", says: "*****/default/web" },
  { at: "a-version", fieldPath: "apiVersion", says: "*****" },
].map(({ at, fieldPath, says }) => ({
  name: `replacement-into-${at}`,
  files: built(
    {
      resources: ["s.yaml", "service.yaml"],
      replacements: [
        {
          source: password,
          targets: [{ select: { kind: "Service", name: "web" }, fieldPaths: [fieldPath], options: { create: true } }],
        },
      ],
    },
    {
      "service.yaml": JSON.stringify({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: "default" },
        spec: { ports: [{ name: "http", port: 80 }] },
      }),
    },
  ),
  says,
}));

export const secretCases: readonly SecretCase[] = [...plain, ...applied, ...engine, ...elsewhere];
