import { afterAll, describe, expect, test } from "vitest";
import { noTenant } from "../../../lib/core/tenant.ts";
import type { Files } from "../sources/helm/charts.ts";
import { chartYaml, configMap, forever, inputOf, limits, oneHelm, rendering } from "./rendered-charts.ts";

const helm = oneHelm();
const rendered = rendering(helm);
afterAll(() => helm.close());

describe("a chart is rendered", () => {
  test("to the record that Helm stores, its objects, its hooks and its definitions", async () => {
    const crd =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.example.com}\n";
    const hook =
      'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations:\n    helm.sh/hook: pre-install\n    helm.sh/hook-weight: "-5"\n';
    const { bytes, observed, crds } = await rendered(
      {
        "templates/cm.yaml": `${configMap}data: {n: "{{ .Values.n }}"}\n`,
        "templates/job.yaml": hook,
        "crds/a.yaml": crd,
      },
      { inline: { n: 1 }, versionSuffix: "+4f4f4f4f4f4f" },
    );
    expect(observed).toMatchObject({
      name: "app",
      namespace: "retail",
      version: 1,
      status: "unknown",
      applyMethod: "ssa",
      chart: { name: "app", version: "1.0.0+4f4f4f4f4f4f", appVersion: "1.0" },
      values: { n: 1 },
      objects: [{ template: "app/templates/cm.yaml", manifest: { kind: "ConfigMap", data: { n: "1" } } }],
      hooks: [
        {
          name: "migrate",
          kind: "Job",
          events: ["pre-install"],
          weight: -5,
          deletePolicies: [],
          lastRun: { phase: "" },
        },
      ],
    });
    expect(crds).toMatchObject([
      { template: "app/crds/a.yaml", manifest: { metadata: { name: "crontabs.example.com" } } },
    ]);
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      name: "app",
      config: { n: 1 },
      apply_method: "ssa",
    });
  });

  test("with integers in values printed as by Helm: those of a path stay integers, the others are floats", async () => {
    const template = { "templates/cm.yaml": `${configMap}data: {n: "{{ .Values.n }}"}\n` };
    const byPath = await rendered(template, { from: [{ text: "1000000", targetPath: "n" }] });
    expect(byPath.observed.objects[0]?.manifest["data"]).toEqual({ n: "1000000" });
    const inline = await rendered(template, { inline: { n: 1_000_000 } });
    expect(inline.observed.objects[0]?.manifest["data"]).toEqual({ n: "1e+06" });
  });

  test("24/D14: with every digit of a 64-bit integer, from the values to the record and back", async () => {
    const big = 9_007_199_254_740_993n;
    const numbers = ["inline", "yaml", "path"].map((name) => `${name}: {{ .Values.${name} }}`).join("\n  ");
    const files = { "templates/cm.yaml": `${configMap}spec:\n  ${numbers}\n` };
    const from = [{ text: `yaml: ${big}` }, { text: `${big}`, targetPath: "path" }];
    const { bytes, observed } = await rendered(files, { inline: { inline: big }, from });
    const all = { inline: big, yaml: big, path: big };
    expect(observed.values).toEqual(all);
    expect(observed.objects[0]?.manifest["spec"]).toEqual(all);
    const options = { tenant: noTenant, ociDigest: "" };
    expect(await helm.observe(bytes, options, limits, forever)).toEqual(observed);
    const amended = await helm.amend(bytes, { description: "x" }, options, limits, forever);
    expect(amended.observed).toMatchObject({ values: all, configDigest: observed.configDigest });
    const prepared = await helm.prepare(await inputOf(files, { inline: { inline: big }, from }), limits, forever);
    expect(prepared).toMatchObject({ values: all, configDigest: observed.configDigest });
  });

  test("for a version of Kubernetes with a suffix, as on EKS, by its numbers only", async () => {
    const wants = (kubeVersion: string) => ({
      "Chart.yaml": `${chartYaml}kubeVersion: "${kubeVersion}"\n`,
      "templates/cm.yaml": `${configMap}data: {v: "{{ .Capabilities.KubeVersion.Version }}"}\n`,
    });
    const on = { kubeVersion: "v1.33.1-eks-abc" };
    const { observed } = await rendered(wants(">=1.33.0 <1.34.0"), on);
    expect(observed.objects[0]?.manifest["data"]).toEqual({ v: "v1.33.1-eks-abc" });
    await expect(rendered(wants(">=1.34.0"), on)).rejects.toMatchObject({
      reason: "render",
      message: "chart requires kubeVersion: >=1.34.0 which is incompatible with Kubernetes v1.33.1-eks-abc",
    });
  });

  test("over the values of the former release and of its chart, and its digest is known before", async () => {
    const values = ["own", "kept", "big", "old", "new"].map((name) => `.Values.${name}`).join(" ");
    const template = `${configMap}data: {all: {{ list ${values} | toJson | quote }}}\n`;
    const big = 9_007_199_254_740_993n;
    const { bytes: former } = await rendered(
      { "values.yaml": "old: 1\n", "templates/cm.yaml": template },
      { inline: { own: 1, kept: 1, big } },
    );
    const more = { inline: { own: 2 }, action: "upgrade", former } as const;
    const { bytes, observed } = await rendered({ "values.yaml": "new: 1\n", "templates/cm.yaml": template }, more);
    expect(observed.values).toEqual({ own: 2, kept: 1, big });
    // Helm's --reuse-values: what is new in the defaults of the chart is not there.
    expect(observed.objects[0]?.manifest["data"]).toEqual({ all: `[2,1,${big},1,null]` });
    const reused = (inline: object, record: Uint8Array<ArrayBuffer>) =>
      helm.reusedDigest(record, { tenant: noTenant, values: { from: [], inline: { ...inline } } }, limits, forever);
    expect(await reused({ own: 2 }, former)).toBe(observed.configDigest);
    expect(await reused({ own: 2 }, bytes)).toBe(observed.configDigest);
    expect(await reused({ own: 3 }, bytes)).not.toBe(observed.configDigest);
  });

  test("with random numbers, and the next rendering works too", async () => {
    const template = { "templates/cm.yaml": `${configMap}data: {n: "{{ randAlphaNum 8 }}{{ uuidv4 }}"}\n` };
    const [first, second] = [await rendered(template), await rendered(template)];
    expect(first.observed.objects).not.toEqual(second.observed.objects);
  });

  test("23/49: with origin labels on every object, which override common metadata", async () => {
    const { observed } = await rendered(
      { "templates/cm.yaml": configMap },
      {
        postRender: {
          renderers: [],
          commonMetadata: { labels: { "helm.toolkit.fluxcd.io/name": "other", team: "web" } },
          originLabels: { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "retail" },
          strategy: "combined",
        },
      },
    );
    expect(observed.objects[0]?.manifest.metadata.labels).toEqual({
      "helm.toolkit.fluxcd.io/name": "app",
      "helm.toolkit.fluxcd.io/namespace": "retail",
      team: "web",
    });
  });
});

describe("objects after the templates", () => {
  const origin = { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "retail" };
  const web = { app: "web" };
  const deployment = {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
    spec: {
      selector: { matchLabels: web },
      template: { metadata: { labels: web }, spec: { containers: [{ name: "main", image: "i:1" }] } },
    },
  };
  const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h, annotations: {helm.sh/hook: pre-install}}\n";

  test("23/50: get common metadata, but their pod templates and selectors do not", async () => {
    const commonMetadata = { labels: { app: "other", team: "web" }, annotations: { owner: "a" } };
    const files = { "templates/deployment.yaml": JSON.stringify(deployment) };
    const more = { postRender: { renderers: [], commonMetadata, originLabels: origin, strategy: "combined" } } as const;
    const { observed } = await rendered(files, more);
    expect(observed.objects[0]?.manifest).toEqual({
      ...deployment,
      metadata: { name: "web", labels: { app: "other", team: "web", ...origin }, annotations: { owner: "a" } },
    });
  });

  test.each([
    { strategy: "nohooks", what: "untouched", labels: undefined },
    { strategy: "combined", what: "changed like all objects", labels: { team: "web", ...origin } },
    { strategy: "separate", what: "changed like all objects", labels: { team: "web", ...origin } },
  ] as const)("23/51: with postRenderStrategy $strategy hooks are $what", async ({ labels, strategy }) => {
    const patch = '[{"op": "add", "path": "/data", "value": {"patched": "yes"}}]';
    const renderers = [{ kustomize: { patches: [{ target: { kind: "ConfigMap" }, patch }] } }];
    const commonMetadata = { labels: { team: "web" } };
    const postRender = { renderers, commonMetadata, originLabels: origin, strategy };
    const { observed } = await rendered({ "templates/cm.yaml": configMap, "templates/h.yaml": hook }, { postRender });
    const all = { team: "web", ...origin };
    expect(observed.objects[0]?.manifest).toMatchObject({ data: { patched: "yes" }, metadata: { labels: all } });
    expect(observed.hooks[0]?.manifest.metadata.labels).toEqual(labels);
    expect(observed.hooks[0]?.manifest["data"]).toEqual(labels && { patched: "yes" });
  });
});

describe("the definitions of a chart", () => {
  const crd = (name: string) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
  });

  test("are read without rendering, also from lists, but not from disabled dependencies", async () => {
    const dependencies = ["used", "unused"].map(
      (name) => `- {name: ${name}, version: 1.0.0, condition: ${name}.enabled}\n`,
    );
    const subchart = (name: string): Files => ({
      [`charts/${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`,
      [`charts/${name}/crds/a.yaml`]: JSON.stringify(crd(`of-${name}`)),
    });
    const files: Files = {
      "Chart.yaml": `${chartYaml}dependencies:\n${dependencies.join("")}`,
      "crds/list.yaml": JSON.stringify({ apiVersion: "v1", kind: "List", items: [crd("a"), crd("b")] }),
      "crds/typed.yaml": JSON.stringify({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinitionList",
        items: [{ metadata: { name: "c" } }],
      }),
      "templates/broken.yaml": '{{ fail "it is rendered" }}',
      ...subchart("used"),
      ...subchart("unused"),
    };
    const input = await inputOf(files, { inline: { unused: { enabled: false } } });
    expect(await helm.definitions(input, limits, forever)).toEqual([
      { template: "app/charts/used/crds/a.yaml", manifest: crd("of-used") },
      { template: "app/crds/list.yaml", manifest: crd("a") },
      { template: "app/crds/list.yaml", manifest: crd("b") },
      { template: "app/crds/typed.yaml", manifest: crd("c") },
    ]);
  });

  test("are those of a release over the former one if its values are kept", async () => {
    const dependent = {
      "Chart.yaml": `${chartYaml}dependencies:\n- {name: part, version: 1.0.0, condition: part.enabled}\n`,
      "charts/part/Chart.yaml": "apiVersion: v2\nname: part\nversion: 1.0.0\n",
      "charts/part/crds/a.yaml": JSON.stringify(crd("a")),
    };
    const { bytes: former } = await rendered(dependent, { inline: { part: { enabled: false } } });
    const input = await inputOf(dependent);
    expect(await helm.definitions(input, limits, forever)).toHaveLength(1);
    expect(await helm.definitions({ ...input, former }, limits, forever)).toEqual([]);
  });
});

describe("a stored release record", () => {
  const stored = Buffer.from(
    '{"name":"cart","info":{"first_deployed":"2026-03-01T10:00:00Z","last_deployed":"2026-03-02T11:30:00Z","description":"Upgrade complete","status":"deployed"},' +
      '"chart":{"metadata":{"name":"cart","version":"1.4.2","apiVersion":"v2","appVersion":"1.4"},"lock":null,"templates":[],"values":{},"schema":null,"files":[]},"config":{"replicaCount":2},' +
      '"manifest":"---\\n# Source: cart/templates/cm.yaml\\napiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: cart\\n","version":3,"namespace":"retail","apply_method":"ssa"}',
  );
  const options = { tenant: noTenant, ociDigest: "" };

  test("13: has Flux's digest, with and without the digest of an artifact", async () => {
    const plain = await helm.observe(Uint8Array.from(stored), options, limits, forever);
    expect(plain.digest).toBe("sha256:fa07ec8925e3352ad21b783e6cfdd6d218a059849aef2d493be37c61242d32ed");
    const ociDigest = `sha256:${"4f".repeat(32)}`;
    const withArtifact = await helm.observe(Uint8Array.from(stored), { ...options, ociDigest }, limits, forever);
    expect(withArtifact.digest).toBe("sha256:e2088d3f157290cd2810ef4dc9aa16d4ef1d49636b3f795af8ac26eb6afb13b3");
  });

  test("is changed in Helm's order of fields, and keeps the rest", async () => {
    const change = { status: "superseded", version: 4, description: "<gone>" } as const;
    const { bytes, observed } = await helm.amend(Uint8Array.from(stored), change, options, limits, forever);
    const text = Buffer.from(bytes).toString();
    expect(text).toContain('"description":"\\u003cgone\\u003e","status":"superseded"}');
    expect(text).toMatch(/^\{"name":"cart","info":.*,"version":4,"namespace":"retail","apply_method":"ssa"\}$/);
    expect(observed).toMatchObject({ status: "superseded", version: 4, values: { replicaCount: 2 } });
  });

  test("is refused if it is invalid", async () => {
    const refused = helm.observe(Uint8Array.from(Buffer.from('{"name":"x"}')), options, limits, forever);
    await expect(refused).rejects.toMatchObject({ reason: "record" });
  });
});
