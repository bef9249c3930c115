import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HelmReleaseStatus } from "../../lib/api/helm-release-status.ts";
import { type CliWorld, cliWorld } from "./cli-world.ts";
import { type HelmHost, helmHost } from "./recorded-flux/helm-host.ts";

const { signal } = new AbortController();
let world: CliWorld;
let charts: HelmHost;
beforeAll(async () => {
  charts = await helmHost();
  world = await cliWorld();
  await publish("1.0.0");
});
afterAll(async () => {
  await world.close();
  await charts[Symbol.asyncDispose]();
});

const templates = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {color: "{{ .Values.color }}"}
{{- if .Values.refused }}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {ports: [{port: 99999}]}
{{- end }}
`;

async function publish(version: string): Promise<void> {
  await charts.publish("2. /charts: charts", {
    [`app-${version}.tgz`]: {
      "app/Chart.yaml": `apiVersion: v2\nname: app\nversion: ${version}\n`,
      "app/values.yaml": "color: blue\n",
      "app/templates/all.yaml": templates,
    },
  });
  const entry = `apiVersion: v2\n      name: app\n      urls:\n      - app-${version}.tgz\n      version: ${version}\n`;
  await charts.publish("1. /charts/index.yaml", {
    "index.yaml": `apiVersion: v1\nentries:\n  app:\n    - ${entry}generated: "2026-01-01T00:00:00Z"\n`,
  });
}

const sh = (...args: readonly string[]) => world.sh("-n", "default", ...args);

/** Creates a HelmRelease of the chart with these values. */
async function create(name: string, values: string, ...more: readonly string[]) {
  const file = join(world.folder, `${name}.yaml`);
  await writeFile(file, values);
  const of = ["--source", "HelmRepository/charts", "--chart", "app", "--interval", "1h", "--values", file];
  return sh("create", "helmrelease", name, ...of, ...more);
}

/** Revisions and their states, newest first. */
async function history(name: string): Promise<readonly string[]> {
  const ref = { group: "helm.toolkit.fluxcd.io", version: "v2", kind: "HelmRelease", namespace: "default", name };
  const status = HelmReleaseStatus.parse((await world.cluster.get(ref, signal))?.["status"] ?? {});
  return (status.history ?? []).map(({ version, status: state }) => `v${version} ${state}`);
}

describe("the command line and HelmReleases on a running Sluice", () => {
  test("create adds source and release, and waits until the chart is installed", async () => {
    const source = ["source", "helm", "charts", "--url", `http://${charts.address}/charts`, "--interval", "1h"];
    expect(await sh("create", ...source)).toMatchObject({ code: 0 });
    const { code, err } = await create("web", "color: red\n");
    expect([code, err]).toEqual([0, expect.stringContaining("✔ HelmRelease web is ready\n✔ applied revision 1.0.0\n")]);
    const { out } = await sh("get", "helmreleases", "web", "--no-header");
    expect(out).toMatch(/^web\t1\.0\.0\tFalse\s*\tTrue\s*\tHelm install succeeded for release default\/web\.v1 with/);
    expect((await sh("get", "values", "web", "--no-header")).out).toBe('color\tinline\t"red"\t\n');
  });

  test("create source chart waits for the chart, and says which version it has", async () => {
    const chart = ["source", "chart", "app", "--source", "helmrepository/charts", "--chart", "app", "--interval", "1h"];
    expect(await sh("create", ...chart)).toEqual({
      code: 0,
      out: "",
      err: [
        "✚ generating HelmChart source",
        "► applying HelmChart source",
        "✔ source created",
        "◎ waiting for HelmChart source reconciliation",
        "✔ HelmChart source reconciliation completed",
        "✔ fetched revision: 1.0.0",
        "",
      ].join("\n"),
    });
  });

  test("reconcile --force upgrades without a change, and reconcile alone does not (9)", async () => {
    expect(await sh("reconcile", "helmrelease", "web")).toMatchObject({ code: 0 });
    expect(await history("web")).toEqual(["v1 deployed"]);
    expect(await sh("reconcile", "hr", "web", "--force")).toMatchObject({ code: 0 });
    expect(await history("web")).toEqual(["v2 deployed", "v1 superseded"]);
  });

  test("reconcile --with-source brings a newer version of the chart (8)", async () => {
    await publish("1.1.0");
    const { code, err } = await sh("reconcile", "hr", "web", "--with-source");
    expect([code, err.split("\n").filter((line) => line.startsWith("►"))]).toEqual([
      0,
      [
        "► annotating HelmRepository charts in default namespace",
        "► annotating HelmChart default-web in default namespace",
        "► annotating HelmRelease web in default namespace",
      ],
    ]);
    expect(err).toContain("✔ applied revision 1.1.0\n");
  });

  test("reconcile --reset retries a release without retries left, and reconcile alone ends at once with the reason (9)", async () => {
    const refused = await create("bad", "refused: true\n");
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining("attempt(s): Helm install failed for release default/bad"),
    ]);
    const once = await history("bad");
    const alone = await sh("reconcile", "hr", "bad");
    expect([alone.code, await history("bad")]).toEqual([1, once]);
    expect((await sh("reconcile", "hr", "bad", "--reset")).code).toBe(1);
    expect((await history("bad"))[0]).not.toBe(once[0]);
  });

  test("suspend and resume, export and events work as for other kinds", async () => {
    expect(await sh("suspend", "helmrelease", "web")).toMatchObject({ code: 0 });
    expect((await sh("reconcile", "hr", "web")).err).toContain("✗ resource is suspended");
    const resumed = await sh("resume", "helmrelease", "web");
    expect([resumed.code, resumed.err]).toEqual([0, expect.stringContaining("✔ applied revision 1.1.0")]);
    expect((await sh("export", "hr", "web")).out).toContain("kind: HelmRelease\n");
    const { out } = await sh("events", "--for", "HelmRelease/web");
    expect(out).toContain("InstallSucceeded");
    expect(out).toContain("HelmChart/default-web");
  });
});
