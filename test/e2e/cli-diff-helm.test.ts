import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { LiveObject, Manifest } from "../../lib/core/manifest.ts";
import { pushChart } from "../../local/demo/push-chart.ts";
import { type Files, packed } from "../unit/sources/helm/charts.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";
import { type HelmHost, helmHost } from "./recorded-flux/helm-host.ts";

const { signal } = new AbortController();
const configMap = (name: string, data: string, annotations = "{}") =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, annotations: ${annotations}}\ndata: ${data}\n`;
const chart = {
  "Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
  "values.yaml": "color: blue\n",
  "templates/web.yaml": configMap("web", '{color: "{{ .Values.color }}", size: small}'),
  "templates/secret.yaml":
    'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: "{{ .Values.password }}"}\n',
  "templates/old.yaml": configMap("web-old", "{}"),
  "templates/kept.yaml": configMap("web-kept", "{}", "{helm.sh/resource-policy: keep}"),
};

let world: CliWorld;
let charts: HelmHost;
beforeAll(async () => {
  charts = await helmHost();
  world = await cliWorld();
  const archive = Object.fromEntries(Object.entries(chart).map(([name, text]) => [`app/${name}`, text]));
  await charts.publish("2. /charts: charts", { "app-1.0.0.tgz": archive });
  const entry = "apiVersion: v2\n      name: app\n      urls:\n      - app-1.0.0.tgz\n      version: 1.0.0\n";
  await charts.publish("1. /charts/index.yaml", {
    "index.yaml": `apiVersion: v1\nentries:\n  app:\n    - ${entry}generated: "2026-01-01T00:00:00Z"\n`,
  });
  const values = { apiVersion: "v1", kind: "Secret", metadata: { name: "values", namespace: "default" } };
  await world.cluster.apply(
    { ...values, stringData: { "values.yaml": "password: s3cret\n" } },
    { manager: "test", force: true },
    signal,
  );
  await sh("create", "source", "helm", "charts", "--url", `http://${charts.address}/charts`);
  const { code, err } = await sh("create", "helmrelease", "web", ...ofChart, "--values-from", "Secret/values");
  if (code !== 0) throw new Error(err);
});
afterAll(async () => {
  await world.close();
  await charts[Symbol.asyncDispose]();
});

const ofChart = ["--source", "HelmRepository/charts", "--chart", "app", "--interval", "1h"];
const sh = (...args: readonly string[]) => world.sh("-n", "default", ...args);

let folders = 0;

/** Writes a chart to a folder, and answers its path. */
async function written(files: Files): Promise<string> {
  const folder = join(world.folder, `chart-${folders++}`);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

const diff = async (files: Files, name = "web") => sh("diff", "helmrelease", name, "--chart", await written(files));

/** Everything in the namespace that a diff could write to. */
async function everything(): Promise<readonly string[]> {
  const found: LiveObject[] = [];
  for (const kind of ["ConfigMap", "Secret", "Service"]) {
    found.push(...(await world.cluster.list({ group: "", version: "v1", kind, namespace: "default" }, signal)));
  }
  return found.map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`);
}

describe("sluice diff helmrelease", () => {
  test("prints no changes for the installed chart, and exits with 0", async () => {
    expect(await diff(chart)).toEqual({
      code: 0,
      out: "",
      err: "✔ no changes: this chart leaves all objects of HelmRelease web as they are\n",
    });
  });

  test("prints created, changed and deleted objects, exits with 1, and writes nothing", async () => {
    const before = await everything();
    const { "templates/old.yaml": _old, "templates/kept.yaml": _kept, ...rest } = chart;
    const { code, err, out } = await diff({
      ...rest,
      "templates/web.yaml": configMap("web", '{color: "{{ .Values.color }}", weight: "1"}').replace(
        "metadata: {",
        "metadata: {labels: {team: a}, ",
      ),
      "templates/new.yaml": configMap("web-new", "{}"),
      "values.yaml": "color: green\n",
    });
    expect(out.split("\n").toSorted()).toEqual(
      [
        "► ConfigMap/default/web changed",
        '    ~ /data/color: "blue" → "green"',
        '    - /data/size: "small"',
        '    + /data/weight: "1"',
        '    + /metadata/labels/team: "a"',
        "► ConfigMap/default/web-new created",
        "► ConfigMap/default/web-old deleted",
        "",
      ].toSorted(),
    );
    expect([code, err]).toEqual([1, "⚠️ identified at least one change, exiting with non-zero exit code\n"]);
    expect(await everything()).toEqual(before);
  });

  test("shows no value of a Secret", async () => {
    const changed =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: "{{ .Values.password }}2"}\n';
    const { code, out } = await diff({ ...chart, "templates/secret.yaml": changed });
    expect([code, out]).toEqual([1, "► Secret/default/web changed\n    ~ /data/password: ***** → *****\n"]);
  });

  test("hides a value of a Secret in other objects and in errors too", async () => {
    const used = configMap("web", '{color: "{{ .Values.color }}", size: "{{ .Values.password }}"}');
    const { code, out } = await diff({ ...chart, "templates/web.yaml": used });
    expect([code, out]).toEqual([1, '► ConfigMap/default/web changed\n    ~ /data/size: "small" → "*****"\n']);
    const failing = await diff({ ...chart, "templates/bad.yaml": "{{ fail .Values.password }}" });
    expect(failing).toMatchObject({ code: 2, out: "", err: expect.stringContaining("*****") });
    expect(failing.err).not.toContain("s3cret");
    const port = "spec: {ports: [{port: 80, targetPort: '{{ .Values.password }}!'}]}";
    const service = `apiVersion: v1\nkind: Service\nmetadata: {name: web}\n${port}\n`;
    const refused = await diff({ ...chart, "templates/service.yaml": service });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("*****!") });
    expect(refused.err).not.toContain("s3cret");
  });

  test("renders with the values of the release, and of its chart, where upgrade.preserveValues keeps them", async () => {
    const inline = join(world.folder, "kept.yaml");
    await writeFile(inline, "password: x\ncolor: red\n");
    const sized = (size: string) => ({
      ...{ "Chart.yaml": chart["Chart.yaml"], "values.yaml": `color: blue\nsize: ${size}\n` },
      "templates/kept.yaml": configMap("kept", '{color: "{{ .Values.color }}", size: "{{ .Values.size }}"}'),
    });
    await pushChart(
      new Map(Object.entries(sized("small"))),
      { host: world.registry, repository: "charts/kept" },
      signal,
    );
    const url = `oci://${world.registry}/charts/kept`;
    await world.cluster.apply(ociChart("kept", url), { manager: "test", force: true }, signal);
    const args = ["kept", "--chart-ref", "OCIRepository/kept", "--values", inline];
    expect(await sh("create", "hr", ...args)).toMatchObject({ code: 0 });
    const { spec, ...rest } = suspended((await sh("create", "hr", ...args, "--export")).out);
    const preserving = (preserveValues: boolean) =>
      world.cluster.apply(
        { ...rest, spec: { ...spec, suspend: true, values: { weight: "1" }, upgrade: { preserveValues } } },
        { manager: "test", force: true },
        signal,
      );
    await preserving(true);
    expect(await diff(sized("large"), "kept")).toMatchObject({ code: 0, out: "" });
    await preserving(false);
    const { out } = await diff(sized("large"), "kept");
    expect(out).toContain("    ~ /data/color: ");
    expect(out).toContain('    ~ /data/size: "small" → "large"\n');
  });

  test("compares an installed chart of an OCIRepository with a local chart of the same version without the digest", async () => {
    const versioned = (version: string) => ({
      "Chart.yaml": `apiVersion: v2\nname: oci\nversion: ${version}\n`,
      "templates/all.yaml": configMap("oci", "{version: {{ .Chart.Version | quote }}}"),
    });
    const files = new Map(Object.entries(versioned("1.0.0")));
    await pushChart(files, { host: world.registry, repository: "charts/oci" }, signal);
    const url = `oci://${world.registry}/charts/oci`;
    await world.cluster.apply(ociChart("oci", url), { manager: "test", force: true }, signal);
    expect(await sh("create", "hr", "oci", "--chart-ref", "OCIRepository/oci")).toMatchObject({ code: 0 });
    expect(await diff(versioned("1.0.0"), "oci")).toMatchObject({ code: 0, out: "" });
    const { code, out } = await diff(versioned("1.0.1"), "oci");
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/~ \/data\/version: "1\.0\.0\+[0-9a-f]{12}" → "1\.0\.1"\n$/),
    ]);
  });

  test("names the hooks that would run, which do not count as changes", async () => {
    const hook = configMap("web-hook", "{}", "{helm.sh/hook: pre-upgrade}");
    const { code, out } = await diff({ ...chart, "templates/hook.yaml": hook });
    expect([code, out]).toEqual([0, "► ConfigMap/default/web-hook runs as pre-upgrade hook\n"]);
  });

  test("names objects that the API server refuses, next to the other changes, and exits with 2", async () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 99999}]}\n";
    const { code, err, out } = await diff({ ...chart, "templates/service.yaml": service });
    expect([code, out]).toEqual([2, "► Service/default/web refused\n"]);
    expect(err).toContain("✗ Service/default/web dry-run failed (Invalid): ");
  });

  test("shows a release that is not installed yet as created, also from a packed chart", async () => {
    const file = join(world.folder, "app-1.0.0.tgz");
    await writeFile(file, await packed({ ...chart, "templates/web.yaml": configMap("other", "{}") }));
    const inline = join(world.folder, "inline.yaml");
    await writeFile(inline, "password: x\n");
    const stopped = await sh("create", "hr", "new", ...ofChart, "--values", inline, "--export");
    await world.cluster.apply(suspended(stopped.out), { manager: "test", force: true }, signal);
    const { code, out } = await sh("diff", "hr", "new", "--chart", file);
    expect(code).toBe(1);
    expect(out).toContain("► ConfigMap/default/other created\n");
    expect(out).not.toContain("hook");
  });

  test.each([
    ["a folder without a chart", { "README.md": "" }, "is not a chart: it has no Chart.yaml"],
    [
      "a missing dependency",
      {
        ...chart,
        "Chart.yaml": `${chart["Chart.yaml"]}dependencies: [{name: db, version: 1.0.0, repository: "https://x"}]\n`,
      },
      "the chart has no db in its folder charts",
    ],
    ["a template that cannot be rendered", { ...chart, "templates/bad.yaml": '{{ fail "no" }}' }, "no"],
  ])("exits with 2 for %s", async (_, files, message) => {
    const { code, err, out } = await diff(files);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
  });

  test("exits with 2 for a missing HelmRelease", async () => {
    expect(await diff(chart, "none")).toMatchObject({
      code: 2,
      err: expect.stringContaining("HelmRelease object 'none' not found"),
    });
  });
});

/** An OCIRepository with the chart at this address. */
function ociChart(name: string, url: string): Manifest {
  const layerSelector = { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" };
  return {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: { name, namespace: "default" },
    spec: { interval: "1h", url, insecure: true, ref: { semver: "1.x" }, layerSelector },
  };
}

/** The HelmRelease of this YAML, which is not to be reconciled. */
function suspended(yaml: string): Manifest {
  const manifest = Written.parse(load(yaml));
  return { ...manifest, spec: { ...manifest.spec, suspend: true } };
}

const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({}),
});
