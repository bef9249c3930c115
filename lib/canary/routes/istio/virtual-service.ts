import type { RouteMatch } from "../../../api/canary.ts";
import { type JsonObject, toJsonObject } from "../../../core/json.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { type RouteRule, routeRules } from "../route-rules.ts";
import type { Routes } from "../router.ts";
import { cookiePattern, type SessionCookies } from "../session-cookies.ts";

/** Whether connections are routed instead of requests. */
export function isTcp({ spec }: Canary): boolean {
  return spec.service.appProtocol?.toLowerCase() === "tcp";
}

/** The whole spec of the VirtualService of the apex name. */
export function virtualServiceSpec(canary: Canary, routes: Routes, cookies: SessionCookies | undefined): JsonObject {
  const { service } = canary.spec;
  return toJsonObject({ ...reach(canary), ...(isTcp(canary) ? tcpRoutes() : httpRoutes()) });

  function tcpRoutes() {
    const match = (service.match ?? []).map(({ port }) => (port === undefined ? {} : { port }));
    const route = [
      destination(primaryServiceName(canary), routes.primary, canary),
      destination(canaryServiceName(canary), routes.canary, canary),
    ];
    return { tcp: [{ ...(match.length === 0 ? {} : { match }), route }] };
  }

  function httpRoutes() {
    return { http: routeRules(canary, routes, cookies).map((rule) => httpRoute(rule, canary)) };
  }
}

/** Hosts and gateways. A VirtualService that is a delegate of another one has none. */
function reach(canary: Canary): object {
  const { hosts = [], gateways = [], delegation } = canary.spec.service;
  const apex = apexName(canary);
  if (delegation === true) return { hosts: [] };
  return {
    hosts: hosts.includes(apex) || hosts.includes("*") ? hosts : [...hosts, apex],
    gateways: gateways.length === 0 ? ["mesh"] : gateways,
  };
}

function httpRoute(rule: RouteRule, canary: Canary): object {
  const { rewrite, timeout = "", retries, corsPolicy } = canary.spec.service;
  const match = matchesOf(rule, canary);
  const { uri = "", authority = "" } = rewrite ?? {};
  const rewritten = { ...(uri === "" ? {} : { uri }), ...(authority === "" ? {} : { authority }) };
  return {
    ...(match.length === 0 ? {} : { match }),
    ...(rewrite === undefined ? {} : { rewrite: rewritten }),
    ...(timeout === "" ? {} : { timeout }),
    ...(retries === undefined ? {} : { retries }),
    ...(corsPolicy === undefined ? {} : { corsPolicy }),
    ...headersOf(rule, canary),
    route: destinations(rule, canary),
    ...mirrorOf(rule, canary),
  };
}

function headersOf({ expiring }: RouteRule, { spec }: Canary): object {
  const { headers } = spec.service;
  if (expiring === undefined) return headers === undefined ? {} : { headers };
  const response = { ...headers?.response, add: { ...headers?.response?.add, "Set-Cookie": expiring } };
  return { headers: { ...headers, response } };
}

function mirrorOf({ isMirrored }: RouteRule, canary: Canary): object {
  const { mirrorWeight = 0 } = canary.analysis;
  if (!isMirrored) return {};
  const mirror = { host: canaryServiceName(canary) };
  return { mirror, ...(mirrorWeight > 0 ? { mirrorPercentage: { value: mirrorWeight } } : {}) };
}

function matchesOf({ requests }: RouteRule, { spec, analysis }: Canary): readonly RouteMatch[] {
  const { match = [] } = spec.service;
  switch (requests.kind) {
    case "all":
      return match;
    case "tested":
      return merged(analysis.match ?? [], match);
    case "with cookie":
      return merged([{ headers: { Cookie: { regex: cookiePattern(requests.cookie) } } }], match);
  }
}

/** Matches requests that meet a condition of the first list and one of the second. A field of the first replaces that of the second. */
function merged(first: readonly RouteMatch[], second: readonly RouteMatch[]): readonly RouteMatch[] {
  if (second.length === 0) return first;
  return first.flatMap((one) => second.map((other) => ({ ...other, ...one })));
}

function destinations({ weights, setCookie }: RouteRule, canary: Canary): readonly object[] {
  const [primary, ours] = [primaryServiceName(canary), canaryServiceName(canary)];
  if (weights === undefined) return [destination(primary, 100, canary)];
  return [
    destination(primary, weights.primary, canary, setCookie?.primary),
    destination(ours, weights.canary, canary, setCookie?.canary),
  ];
}

function destination(host: string, weight: number, { spec }: Canary, setCookie?: string): object {
  const { portDiscovery, gateways = [], delegation, port } = spec.service;
  const isBehindGateway = (gateways.length > 0 && gateways[0] !== "mesh") || delegation === true;
  // With other ports beside it, a gateway does not know which one is meant.
  const isPortNamed = portDiscovery === true && isBehindGateway;
  return {
    destination: { host, ...(isPortNamed ? { port: { number: port } } : {}) },
    weight,
    ...(setCookie === undefined ? {} : { headers: { response: { add: { "Set-Cookie": setCookie } } } }),
  };
}

/** Throws a {@link StepFault} for a delegate that says where it is reached. */
export function checkDelegation(canary: Canary): void {
  const { delegation, hosts = [], gateways = [] } = canary.spec.service;
  if (delegation !== true || hosts.length + gateways.length === 0) return;
  throw new StepFault(
    `reconcileVirtualService failed: VirtualService ${apexName(canary)}.${canary.namespace} cannot have hosts and gateways when delegation enabled`,
  );
}
