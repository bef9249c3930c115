import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { builtInQueries } from "../../../../lib/canary/metrics/built-in-queries.ts";

const file = new URL("../../../fixtures/canary-metrics/built-in-queries.json", import.meta.url);
const Queries = z.record(z.string(), z.object({ "request-success-rate": z.string(), "request-duration": z.string() }));
const recorded = Queries.parse(JSON.parse(readFileSync(file, "utf8")));

const model = {
  ...{ name: "canary", namespace: "apps", target: "web", interval: "1m", variables: {} },
  ...{ service: "shop-front", ingress: "shop.in", route: "edge" },
};

test.each([
  ["apisix", "apisix", 1],
  ["appmesh", "appmesh", 1],
  ["appmesh:v1beta2", "appmesh", 1],
  ["contour", "contour", 1],
  ["gatewayapi:v1", "http", 1_000],
  ["gatewayapi:v1beta1", "http", 1_000],
  ["gloo", "gloo", 1],
  ["istio", "istio", 1],
  ["istio:service", "istio", 1],
  ["knative", "knative", 1],
  ["kubernetes", "http", 1_000],
  // Another name than kubernetes, so those of Istio.
  ["kubernetes:service", "istio", 1],
  ["kuma", "kuma", 1],
  ["linkerd", "linkerd", 1],
  ["nginx", "nginx", 1],
  ["osm", "osm", 1],
  ["skipper", "skipper", 1],
  ["smi:v1alpha3", "istio", 1],
  ["traefik", "traefik", 1],
  ["anything else", "istio", 1],
])("provider %s has the built-in queries of %s", (provider, observer, msPerUnit) => {
  const queries = builtInQueries(provider);
  expect({
    "request-success-rate": queries.successRate(model),
    "request-duration": queries.duration(model),
    msPerUnit: queries.msPerUnit,
  }).toEqual({ ...recorded[observer], msPerUnit });
});
