import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { HelmReleaseStatus } from "../../../lib/api/helm-release-status.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type HelmHost, helmHost } from "../recorded-flux/helm-host.ts";

const never = new AbortController().signal;
let world: CliWorld;
let charts: HelmHost;
beforeAll(async () => {
  charts = await helmHost();
  world = await cliWorld();
  await charts.publish("2. /charts: charts", {
    "nginx-1.0.0.tgz": {
      "nginx/Chart.yaml": "apiVersion: v2\nname: nginx\nversion: 1.0.0\n",
      "nginx/values.yaml": "color: blue\n",
      "nginx/values-aks.yaml": "color: green\n",
      "nginx/templates/configmap.yaml":
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {color: "{{ .Values.color }}"}\n',
    },
  });
  const entry = "apiVersion: v2\n      name: nginx\n      urls:\n      - nginx-1.0.0.tgz\n      version: 1.0.0\n";
  await charts.publish("1. /charts/index.yaml", {
    "index.yaml": `apiVersion: v1\nentries:\n  nginx:\n    - ${entry}generated: "2026-01-01T00:00:00Z"\n`,
  });
});
afterAll(async () => {
  await world.close();
  await charts[Symbol.asyncDispose]();
});

/** As AKS's examples have them: a namespace of its own for each version. */
function written(namespace: string, repository: string): readonly Manifest[] {
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      ...{ apiVersion: `source.toolkit.fluxcd.io/${repository}`, kind: "HelmRepository" },
      metadata: { name: "ingress", namespace },
      spec: { interval: "30m", url: `http://${charts.address}/charts` },
    },
    {
      ...{ apiVersion: "helm.toolkit.fluxcd.io/v2beta1", kind: "HelmRelease" },
      metadata: { name: "nginx", namespace },
      spec: {
        ...{ interval: "30m", releaseName: "nginx" },
        chart: {
          spec: {
            ...{ chart: "nginx", version: "1.x", valuesFile: "values-aks.yaml" },
            sourceRef: { kind: "HelmRepository", name: "ingress", namespace },
          },
        },
        install: { skipCRDs: true, remediation: { retries: 3 } },
        postRenderers: [
          {
            kustomize: {
              patchesStrategicMerge: [
                { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "nginx" }, data: { merged: "yes" } },
              ],
              patchesJson6902: [
                {
                  target: { version: "v1", kind: "ConfigMap", name: "nginx" },
                  patch: [{ op: "add", path: "/data/json6902", value: "yes" }],
                },
              ],
            },
          },
        ],
      },
    },
  ];
}

describe("objects of former API versions", () => {
  test.each(["v1beta1", "v1beta2"])(
    "a HelmRepository %s and a HelmRelease v2beta1 with fields that v2 lacks are accepted unchanged, and reconciled",
    async (repository) => {
      const namespace = `former-${repository}`;
      for (const manifest of written(namespace, repository)) {
        await world.cluster.apply(manifest, { manager: "test", force: true }, never);
      }
      const ref = {
        group: "helm.toolkit.fluxcd.io",
        version: "v2beta1",
        kind: "HelmRelease",
        namespace,
        name: "nginx",
      };
      const ready = async () => {
        const { conditions = [] } = HelmReleaseStatus.parse((await world.cluster.get(ref, never))?.["status"] ?? {});
        const found = findCondition(conditions, "Ready");
        return `${found?.status} ${found?.reason}: ${found?.message}`;
      };
      await expect.poll(ready).toMatch(/^True InstallSucceeded: .*nginx\.v1 with chart nginx@1\.0\.0/);
      const place = { group: "", version: "v1", kind: "ConfigMap", namespace, name: "nginx" };
      expect(await world.cluster.get(place, never)).toMatchObject({
        data: { color: "green", merged: "yes", json6902: "yes" },
      });
      expect((await world.cluster.get(ref, never))?.["spec"]).toMatchObject(
        written(namespace, repository)[2]?.["spec"] ?? {},
      );
    },
  );
});
