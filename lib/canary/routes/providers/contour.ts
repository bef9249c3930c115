import { z } from "zod";
import type { RouteMatch } from "../../../api/canary.ts";
import { toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata } from "../apex-metadata.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { allToPrimary, nonZero, sharesOf, type Weights } from "../weights.ts";

const ProxySpec = z.looseObject({
  routes: z.array(
    z.looseObject({
      services: z.array(z.looseObject({ name: z.string(), weight: z.number().default(0) })).default([]),
    }),
  ),
});

const Retries = z.looseObject({
  attempts: z.number().default(0),
  perTryTimeout: z.string().default(""),
  retryOn: z.string().default(""),
});

/** Routes by an HTTPProxy of the apex name. */
export function contourRouter(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const name = apexName(canary);
  const text = `HTTPProxy ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  return objectRouter(
    {
      ref: { group: "projectcontour.io", version: "v1", kind: "HTTPProxy", namespace: canary.namespace, name },
      resource: "httpproxies.projectcontour.io",
      failed: (doing, cause) => {
        const words = { find: "get query error:", read: "get query error", create: "create error:" };
        return `${text} ${{ ...words, mend: "update error:", set: "update error:" }[doing]} ${cause}`;
      },
      begin: () => refuseLacking(canary, "contour"),
      traffic: (live) => liveRoutes(live, canary),
      missing: `${text} services not found`,
      wanted: async (routes) => ({ ...(await metadata()), spec: proxySpec(canary, routes, deps) }),
    },
    canary,
    deps,
  );
}

function proxySpec(canary: Canary, routes: Routes, { settings }: StepDeps) {
  const { ingressClass } = settings;
  const prefix = prefixOf(canary);
  const { match = [] } = canary.analysis;
  const others = route([{ prefix }], match.length === 0 ? routes : allToPrimary, canary);
  const tested = match.map((one, index) => route(conditions(one, index, prefix), routes, canary));
  return toJsonObject({
    ...(ingressClass === "" ? {} : { ingressClassName: ingressClass }),
    routes: [...tested, others],
  });
}

function route(conditionList: readonly object[], weights: Weights, canary: Canary): object {
  return {
    conditions: conditionList,
    ...timeoutPolicy(canary),
    ...retryPolicy(canary),
    services: [
      service(primaryServiceName(canary), weights.primary, canary),
      service(canaryServiceName(canary), weights.canary, canary),
    ],
  };
}

/** Where Linkerd is behind Contour, the header tells it which of both is meant. */
function service(name: string, weight: number, { namespace, spec }: Canary): object {
  const { port } = spec.service;
  const value = `${name}.${namespace}.svc.cluster.local:${port}`;
  return { name, port, ...nonZero(weight), requestHeadersPolicy: { set: [{ name: "l5d-dst-override", value }] } };
}

/** All conditions of one route must match, so each match has a route of its own. */
function conditions({ headers = {} }: RouteMatch, index: number, prefix: string): readonly object[] {
  const list = Object.entries(headers).map(([name, { exact = "", prefix: begin = "", suffix = "" }]) => {
    const contains = begin === "" ? suffix : begin;
    if (contains !== "") return { name, contains };
    if (exact !== "") return { name, exact };
    throw new StepFault(
      `provider contour cannot match spec.analysis.match[${index}].headers.${name}: give it exact, prefix or suffix`,
    );
  });
  if (list.length === 0) {
    throw new StepFault(`provider contour matches requests by headers only: spec.analysis.match[${index}] has none`);
  }
  return list.map((header, position) => (position === 0 ? { prefix, header } : { header }));
}

function prefixOf({ spec }: Canary): string {
  const prefix = spec.service.match?.[0]?.uri?.prefix ?? "";
  return prefix === "" ? "/" : prefix;
}

function timeoutPolicy({ spec }: Canary): object {
  const { timeout = "" } = spec.service;
  return timeout === "" ? {} : { timeoutPolicy: { response: timeout, idle: "5m" } };
}

function retryPolicy({ spec }: Canary): object {
  const retries = Retries.safeParse(spec.service.retries).data;
  if (retries === undefined) return {};
  const { attempts, perTryTimeout, retryOn } = retries;
  return {
    retryPolicy: {
      count: attempts,
      ...(perTryTimeout === "" ? {} : { perTryTimeout }),
      ...(retryOn === "" ? {} : { retryOn: retryOn.split(",") }),
    },
  };
}

/** The first route with both is the weighted one: the route of an A/B test comes before that of all other requests. */
function liveRoutes(proxy: LiveObject, canary: Canary): Routes | undefined {
  const { routes = [] } = ProxySpec.safeParse(proxy["spec"]).data ?? {};
  const services = routes.find((one) => one.services.length > 1)?.services;
  const weightOf = (name: string) => services?.find((one) => one.name === name)?.weight;
  const [from, to] = [weightOf(primaryServiceName(canary)), weightOf(canaryServiceName(canary))];
  return from === undefined || to === undefined ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
