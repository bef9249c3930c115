import { describe, expect, test } from "vitest";
import type { MigrationFacts } from "../../../../cli/migration-facts.ts";
import { needsOf } from "../../../../cli/migration-needs.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";

const nothing: MigrationFacts = {
  controllers: [],
  objects: [],
  accounts: new Map(),
  configMaps: new Map(),
  definitions: [],
  unreconciled: [],
  operators: [],
  unread: [],
};

function canary(spec: object): LiveObject {
  const metadata = { name: "web", namespace: "shop", uid: "1" };
  return { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata, spec };
}

const servicesFor = (spec: object, metricsServer: string) =>
  needsOf(
    { ...nothing, objects: [canary(spec)] },
    { defaultServiceAccount: "", settings: { "metrics-server": metricsServer } },
  ).settings;

describe("what has to be prepared", () => {
  test("lists the namespace of Flagger's metrics server, which every Canary without its own asks", () => {
    expect(servicesFor({}, "http://prometheus.istio-system:9090")).toEqual({
      "canary-service-namespaces": ["istio-system"],
    });
    expect(servicesFor({ metricsServer: "https://prom.example.com" }, "http://prometheus.istio-system:9090")).toEqual(
      {},
    );
  });

  test("is the rights of an administrator for a Canary, unless a service account holds for all", () => {
    const rightsFor = (defaultServiceAccount: string) =>
      needsOf({ ...nothing, objects: [canary({})] }, { defaultServiceAccount, settings: {} }).installation;
    expect(rightsFor("")).toMatchObject({ clusters: [{ rights: "clusterAdmin" }] });
    expect(rightsFor("deploys")).toMatchObject({ clusters: [{ rights: "namespaces" }] });
  });

  test("names the ResourceSets, which only the Flux Operator reconciles, apart from what starts Flux", () => {
    const operators = ["FluxInstance/flux-system/flux", "ResourceSet/apps/tenants"];
    const { needs } = needsOf({ ...nothing, operators }, { defaultServiceAccount: "", settings: {} });
    expect(needs).toEqual([
      { what: "operator", objects: ["FluxInstance/flux-system/flux"], text: expect.stringContaining("starts Flux") },
      { what: "operator", objects: ["ResourceSet/apps/tenants"], text: expect.stringContaining("only the Flux Op") },
    ]);
  });
});
