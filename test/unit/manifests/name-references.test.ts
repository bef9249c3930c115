import { expect, test } from "vitest";
import { nameReferences } from "../../../lib/manifests/name-references.ts";
import { transformNames } from "../../../lib/manifests/transform-names.ts";
import { kustomizeTable, segmentsOf } from "../../property/referring-tree.ts";
import { buildFiles, configMap, noEngine, realEngine } from "./build-files.ts";

const all = [...nameReferences.values()].flat();
const written = ({ kind, version = "", group = "" }: Selector): string => `${kind}/${version}/${group}`;

interface Selector {
  readonly kind: string;
  readonly version?: string | undefined;
  readonly group?: string | undefined;
}

test("the table of name references is the same as kustomize's", () => {
  const theirs = kustomizeTable.flatMap(({ fieldSpecs, ...target }) =>
    fieldSpecs.map(({ path, ...referrer }) => `${written(referrer)} ${segmentsOf(path).join(" ")}: ${written(target)}`),
  );
  const ours = all.flatMap(({ referrer, path, targets }) =>
    targets.map((target) => `${written(referrer)} ${path.join(" ")}: ${written(target)}`),
  );
  expect(ours.toSorted()).toEqual([...new Set(theirs)].toSorted());
});

test("each field is in one row, because the kinds that it may name are searched together", () => {
  const fields = all.map(({ referrer, path }) => `${referrer.kind} ${path.join(" ")}`);
  expect(fields).toEqual([...new Set(fields)]);
});

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: web
        envFrom:
        - configMapRef: {name: settings}
        - secretRef: {name: elsewhere}
        env:
        - {name: A, value: settings}
        - {name: B, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
      volumes:
      - {name: settings, projected: {sources: [{configMap: {name: settings}}]}}
`;
const scaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`;
const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n";
const files = { "a.yaml": deployment, "b.yaml": scaler, "c.yaml": configMap("settings"), "d.yaml": account };
const renames = { namePrefix: "p-", nameSuffix: "-s", targetNamespace: "team" };

test("references to renamed objects are renamed without the engine, with kustomize's result", async () => {
  const { manifests, digest } = await buildFiles(files, renames, noEngine);
  const kustomization = `resources: [${Object.keys(files).join(", ")}]\n`;
  const byEngine = await buildFiles({ ...files, "kustomization.yaml": kustomization }, renames, realEngine);
  expect(digest).toBe(byEngine.digest);
  expect(manifests).toEqual(byEngine.manifests);
  const specs = Object.fromEntries(manifests.map(({ kind, spec }) => [kind, spec]));
  expect(specs).toMatchObject({
    HorizontalPodAutoscaler: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "p-web-s" } },
    Deployment: {
      template: {
        spec: {
          serviceAccountName: "p-web-s",
          containers: [
            {
              name: "web",
              image: "web",
              envFrom: [{ configMapRef: { name: "p-settings-s" } }, { secretRef: { name: "elsewhere" } }],
              env: [
                { name: "A", value: "settings" },
                { name: "B", valueFrom: { configMapKeyRef: { name: "p-settings-s", key: "a" } } },
              ],
            },
          ],
          volumes: [{ name: "settings", projected: { sources: [{ configMap: { name: "p-settings-s" } }] } }],
        },
      },
    },
  });
});

const bindings = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: web}
subjects:
- {kind: ServiceAccount, name: web, namespace: default}
- {kind: User, name: web}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v}
webhooks:
- name: v.example.com
  clientConfig: {service: {name: web, namespace: default}}
`;

test("bindings and webhooks are built without the engine if nothing is renamed, patched or moved to a namespace", async () => {
  const plain = { "a.yaml": bindings, "d.yaml": account };
  const { digest } = await buildFiles(plain, {}, noEngine);
  const byEngine = await buildFiles(
    { ...plain, "kustomization.yaml": "resources: [a.yaml, d.yaml]\n" },
    {},
    realEngine,
  );
  expect(digest).toBe(byEngine.digest);
  const bare = { "a.yaml": bindings.replace(/subjects:[^]*/, "") };
  await expect(buildFiles(bare, { namePrefix: "p-" }, noEngine)).rejects.toThrow("the engine was asked");
  for (const spec of [{ namePrefix: "p-" }, { nameSuffix: "-s" }, { targetNamespace: "team" }]) {
    await expect(buildFiles(plain, spec, noEngine)).rejects.toThrow("the engine was asked");
  }
});

test.each([
  { what: "a subject without a name", odd: ["name: web}", "x: web}"] },
  { what: "a subject of an odd namespace", odd: ["namespace: default}", "namespace: 1}"] },
  { what: "a subject that is a text", odd: ["{kind: User, name: web}", "web"] },
  { what: "a subject that is null", odd: ["{kind: User, name: web}", "null"] },
  { what: "a binding of another group", odd: ["rbac.authorization.k8s.io/v1", "x.test/v1"] },
])("$what is left to the engine", async ({ odd: [text = "", instead = ""] }) => {
  const odd = bindings.replaceAll(text, instead);
  await expect(buildFiles({ "a.yaml": odd }, {}, noEngine)).rejects.toThrow("the engine was asked");
});

test("an object of another namespace does not match", async () => {
  const elsewhere = configMap("settings").replace("name: settings", "name: settings\n  namespace: elsewhere");
  const built = await buildFiles({ "a.yaml": deployment, "c.yaml": elsewhere }, { namePrefix: "p-" }, noEngine);
  expect(JSON.stringify(built.manifests)).not.toContain('{"name":"p-settings"}');
});

test("an object is found by its name with only the prefix or only the suffix applied", async () => {
  const scaled = scaler.replace("name: web}}", "name: p-web}}");
  const { manifests } = await buildFiles({ "a.yaml": deployment, "b.yaml": scaled }, renames, noEngine);
  expect(JSON.stringify(manifests)).toContain(
    '"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"p-web-s"}',
  );
});

const set = deployment.replace("kind: Deployment", "kind: StatefulSet").replace("name: web}", "name: p-web}");
test.each([
  { what: "may mean several objects", more: { "e.yaml": set }, spec: { namePrefix: "p-" } },
  {
    what: "is a mapping",
    more: { "e.yaml": scaler.replace("Ref: {", "Ref: {name: {a: b}, x: {").replace("name: web}}}", "}}}") },
  },
  {
    what: "kustomize never finds, and is a mapping",
    more: {
      "e.yaml":
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: e}\nspec: {ingressClassName: {a: b}}\n",
    },
  },
  {
    what: "is a mapping that gets a namespace",
    more: {
      "e.yaml":
        "apiVersion: v1\nkind: Node\nmetadata: {name: e}\nspec: {configSource: {configMap: {name: settings}}}\n",
    },
    spec: { targetNamespace: "team" },
  },
  {
    what: "is a number",
    more: { "e.yaml": scaler.replace("name: web}}", "name: 1}}").replace("name: web", "name: e") },
  },
  {
    what: "lies in a scalar",
    more: { "e.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: e}\nspec: {volumes: [a]}\n" },
  },
  { what: "could be a list of names", more: { "e.yaml": configMap("'a,b'") } },
])("a reference that $what is left to the engine", async ({ more, spec = {} }) => {
  await expect(buildFiles({ ...files, ...more }, spec, noEngine)).rejects.toThrow("the engine was asked");
});

const namespaces = [undefined, "default", "team", "team-old"];
test.each(namespaces.flatMap((from) => namespaces.map((to) => ({ from, to }))))(
  "a reference from namespace $from to a name in $to is renamed only if they are equal, as no namespace is default",
  ({ from, to }) => {
    const metadata = (name: string, namespace: string | undefined) => ({
      name,
      ...(namespace === undefined ? {} : { namespace }),
    });
    const referrer = (name: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: metadata("web", from),
      spec: { volumes: [{ configMap: { name } }] },
    });
    const target = { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("settings", to) };
    const [pod] = transformNames([referrer("settings"), target], { prefix: "p-", suffix: "", isUntouched: false });
    const isOne = (from ?? "default") === (to ?? "default");
    expect(pod).toEqual({ ...referrer(isOne ? "p-settings" : "settings"), metadata: metadata("p-web", from) });
  },
);
