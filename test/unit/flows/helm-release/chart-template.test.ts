import { expect, test } from "vitest";
import { chartRefOf } from "../../../../lib/flows/helm-release/chart-template.ts";

const cart = { name: "cart", namespace: "retail" };
const template = { chart: "cart", version: "*", reconcileStrategy: "ChartVersion" } as const;
const repository = { kind: "HelmRepository", name: "charts" } as const;

test("23/6: the HelmChart of a HelmRelease is in the namespace of its source, and its name joins the release's namespace and name", () => {
  const elsewhere = { ...template, sourceRef: { ...repository, namespace: "flux-system" } };
  expect(chartRefOf({ interval: "1h", chart: { spec: elsewhere } }, cart)).toEqual({
    namespace: "flux-system",
    name: "retail-cart",
  });
  const beside = { ...template, sourceRef: repository };
  expect(chartRefOf({ interval: "1h", chart: { spec: beside } }, cart)).toEqual({
    namespace: "retail",
    name: "retail-cart",
  });
});
