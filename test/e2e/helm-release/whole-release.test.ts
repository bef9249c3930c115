import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findCondition } from "../../../lib/api/condition.ts";
import { HelmReleaseStatus } from "../../../lib/api/helm-release-status.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../../lib/core/json.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type HelmHost, helmHost } from "../recorded-flux/helm-host.ts";

const never = new AbortController().signal;
let world: CliWorld;
let charts: HelmHost;
beforeAll(async () => {
  charts = await helmHost();
  world = await cliWorld();
  await publish("1.0.0");
  await apply("source.toolkit.fluxcd.io/v1", "HelmRepository", "charts", {
    ...{ interval: "1h", url: `http://${charts.address}/charts` },
  });
});
afterAll(async () => {
  await world.close();
  await charts[Symbol.asyncDispose]();
});

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {color: "{{ .Values.color }}", chart: "{{ .Chart.Version }}"}
`;
const extra = `{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-extra"}
{{- end }}
`;
const refused = `{{- if .Values.refused }}
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {ports: [{port: 99999}]}
{{- end }}
`;

async function publish(version: string): Promise<void> {
  await charts.publish("2. /charts: charts", {
    [`app-${version}.tgz`]: {
      "app/Chart.yaml": `apiVersion: v2\nname: app\nversion: ${version}\nappVersion: "1.0"\n`,
      "app/values.yaml": "color: blue\n",
      "app/templates/configmap.yaml": configMap,
      "app/templates/extra.yaml": extra,
      "app/templates/service.yaml": refused,
    },
  });
  const entry = `apiVersion: v2\n      name: app\n      urls:\n      - app-${version}.tgz\n      version: ${version}\n`;
  await charts.publish("1. /charts/index.yaml", {
    "index.yaml": `apiVersion: v1\nentries:\n  app:\n    - ${entry}generated: "2026-01-01T00:00:00Z"\n`,
  });
}

async function apply(apiVersion: string, kind: string, name: string, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
  await world.cluster.apply(manifest, { manager: "test", force: true }, never);
}

async function release(name: string, spec: JsonObject): Promise<void> {
  const chart = { spec: { chart: "app", sourceRef: { kind: "HelmRepository", name: "charts" } } };
  await apply("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, { interval: "1h", chart, ...spec });
}

async function status(name: string): Promise<HelmReleaseStatus> {
  const ref = { group: "helm.toolkit.fluxcd.io", version: "v2", kind: "HelmRelease", namespace: "default", name };
  return HelmReleaseStatus.parse((await world.cluster.get(ref, never))?.["status"] ?? {});
}

async function ready(name: string): Promise<string> {
  const found = findCondition((await status(name)).conditions ?? [], "Ready");
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

async function configMapNamed(name: string) {
  return world.cluster.get({ group: "", version: "v1", kind: "ConfigMap", namespace: "default", name }, never);
}

/** The revisions once this generation is reconciled. */
async function versionsOnceSettled(name: string, generation: number): Promise<readonly unknown[]> {
  await expect.poll(async () => (await status(name)).observedGeneration).toBe(generation);
  expect(await ready(name)).toMatch(/^True /);
  return (await records(name)).map(({ version }) => version);
}

const Stored = z.looseObject({ info: z.looseObject({ description: z.string() }) });

async function records(name: string) {
  const query = {
    group: "",
    version: "v1",
    kind: "Secret",
    namespace: "default",
    labelSelector: `owner=helm,name=${name}`,
  };
  const found = await world.cluster.list(query, never);
  return found.map(({ data }) => {
    const text = isJsonObject(data) && typeof data["release"] === "string" ? data["release"] : "";
    return Stored.parse(
      parseJson(gunzipSync(Buffer.from(Buffer.from(text, "base64").toString(), "base64")).toString()),
    );
  });
}

describe("a HelmRelease", () => {
  test("23/21: installs its chart, upgrades with its values, prunes, and uninstalls when it is deleted", async () => {
    await release("web", { values: { color: "red", extra: true } });
    await expect
      .poll(() => ready("web"))
      .toBe("True InstallSucceeded: Helm install succeeded for release default/web.v1 with chart app@1.0.0");
    const { history, inventory } = await status("web");
    expect(history).toMatchObject([{ version: 1, status: "deployed", action: "install", chartVersion: "1.0.0" }]);
    expect(inventory?.entries.map(({ id }) => id).toSorted()).toEqual([
      "default_web-extra__ConfigMap",
      "default_web__ConfigMap",
    ]);
    expect(await configMapNamed("web")).toMatchObject({
      data: { color: "red", chart: "1.0.0" },
      metadata: {
        labels: {
          "app.kubernetes.io/managed-by": "Helm",
          "helm.toolkit.fluxcd.io/name": "web",
          "helm.toolkit.fluxcd.io/namespace": "default",
        },
        annotations: { "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "default" },
      },
    });

    await release("web", { values: { color: "green" } });
    await expect.poll(() => ready("web")).toMatch(/^True UpgradeSucceeded: .*web\.v2 /);
    expect(await configMapNamed("web")).toMatchObject({ data: { color: "green" } });
    expect(await configMapNamed("web-extra")).toBeUndefined();
    expect(await records("web")).toMatchObject([
      { version: 1, info: { status: "superseded", description: "Install complete" } },
      { version: 2, info: { status: "deployed", description: "Upgrade complete" }, apply_method: "ssa" },
    ]);

    const ref = {
      group: "helm.toolkit.fluxcd.io",
      version: "v2",
      kind: "HelmRelease",
      namespace: "default",
      name: "web",
    };
    await world.cluster.delete(ref, { propagation: "Background" }, never);
    await expect.poll(() => world.cluster.get(ref, never)).toBeUndefined();
    expect(await configMapNamed("web")).toBeUndefined();
    expect(await records("web")).toEqual([]);
  });

  test("2.4: with preserveValues keeps former values, and is not upgraded again while nothing changes", async () => {
    await release("kept", { values: { color: "red", extra: true } });
    await expect.poll(() => ready("kept")).toMatch(/^True InstallSucceeded/);
    const spec = { values: { color: "green" }, upgrade: { preserveValues: true } };
    await release("kept", spec);
    await expect.poll(() => ready("kept")).toMatch(/^True UpgradeSucceeded: .*kept\.v2 /);
    expect(await configMapNamed("kept")).toMatchObject({ data: { color: "green" } });
    expect(await configMapNamed("kept-extra")).toBeDefined();
    // As Flux has it: of the values of the release, which are more than those that were attempted.
    const { history, lastAttemptedConfigDigest } = await status("kept");
    expect(history?.[0]?.configDigest).not.toBe(lastAttemptedConfigDigest);

    // A new generation: the release is compared again.
    await release("kept", { ...spec, interval: "2h" });
    expect(await versionsOnceSettled("kept", 3)).toEqual([1, 2]);
    await release("kept", { ...spec, interval: "2h", values: { color: "blue" } });
    await expect.poll(() => ready("kept")).toMatch(/^True UpgradeSucceeded: .*kept\.v3 /);
  });

  test("24/D14: a whole number above 2^53 by targetPath is released once", async () => {
    const data = { n: "9007199254740993" };
    const numbers = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "numbers", namespace: "default" }, data };
    await world.cluster.apply(numbers, { manager: "test", force: true }, never);
    const spec = { valuesFrom: [{ kind: "ConfigMap", name: "numbers", valuesKey: "n", targetPath: "color" }] };
    await release("long", spec);
    await expect.poll(() => ready("long")).toMatch(/^True InstallSucceeded/);
    expect(await configMapNamed("long")).toMatchObject({ data: { color: "9007199254740993" } });
    const { history, lastAttemptedConfigDigest } = await status("long");
    expect(history).toMatchObject([{ version: 1, configDigest: lastAttemptedConfigDigest }]);

    await release("long", { ...spec, interval: "2h" });
    expect(await versionsOnceSettled("long", 2)).toEqual([1]);
    expect((await status("long")).history).toEqual(history);
    expect(await records("long")).toMatchObject([{ config: { color: 9_007_199_254_740_993n } }]);
  });

  test("23/26: an upgrade that fails is rolled back, and stalls without retries left", async () => {
    await release("back", { values: { color: "red" } });
    await expect.poll(() => ready("back")).toMatch(/^True InstallSucceeded/);
    await release("back", {
      ...{ values: { color: "red", refused: true } },
      upgrade: { remediation: { retries: 1 } },
    });
    await expect
      .poll(async () => findCondition((await status("back")).conditions ?? [], "Stalled")?.message)
      .toBe("Failed to upgrade after 2 attempt(s)");
    expect(await ready("back")).toBe(
      "False RollbackSucceeded: Helm rollback to previous release default/back.v3 with chart app@1.0.0 succeeded",
    );
    expect((await records("back")).map(({ info }) => info.description)).toMatchObject([
      "Install complete",
      expect.stringMatching(/^Upgrade "back" failed: /),
      "Rollback to 1",
      expect.stringMatching(/^Upgrade "back" failed: /),
      "Rollback to 3",
    ]);
  });

  test("23/22: an install that fails stays failed and stalls", async () => {
    await release("bad", { values: { refused: true } });
    await expect
      .poll(async () => findCondition((await status("bad")).conditions ?? [], "Stalled")?.message)
      .toBe("Failed to install after 1 attempt(s)");
    expect(await ready("bad")).toMatch(
      /^False InstallFailed: Helm install failed for release default\/bad with chart app@1\.0\.0: server-side apply failed for object default\/bad \/v1, Kind=Service: /,
    );
    expect(await records("bad")).toMatchObject([{ version: 1, info: { status: "failed" } }]);
    expect(await status("bad")).toMatchObject({ failures: 1, installFailures: 1 });
  });

  test("23/15: waits for missing values, and names them", async () => {
    await release("values", { valuesFrom: [{ kind: "ConfigMap", name: "missing" }] });
    await expect
      .poll(() => ready("values"))
      .toBe(
        "False ValuesError: could not resolve ConfigMap chart values reference 'default/missing' with key 'values.yaml': configmaps \"missing\" not found",
      );
  });
});
