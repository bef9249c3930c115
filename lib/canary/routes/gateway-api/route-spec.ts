import type { GatewayReference } from "../../../api/canary.ts";
import { type JsonObject, toJsonObject } from "../../../core/json.ts";
import { type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { type RouteRule, routeRules } from "../route-rules.ts";
import type { Routes } from "../router.ts";
import { cookiePattern, type SessionCookies } from "../session-cookies.ts";
import { mirrorFilter, routeFilters, setCookieFilter } from "./route-filters.ts";
import { analysisMatches, type HttpMatch, merged, serviceMatches } from "./route-matches.ts";

/** The whole spec of the HTTPRoute (reference canary 9). */
export function routeSpec(canary: Canary, routes: Routes, cookies: SessionCookies | undefined): JsonObject {
  const { service } = canary.spec;
  const { hosts = [], gatewayRefs = [] } = service;
  const matches = serviceMatches(service.match);
  const filters = routeFilters(service);
  return toJsonObject({
    parentRefs: gatewayRefs.map(parentRef),
    ...(hosts.length === 0 ? {} : { hostnames: hosts }),
    rules: routeRules(canary, routes, cookies).map((rule) => written(rule, matches, filters, canary)),
  });
}

function written(
  rule: RouteRule,
  matches: readonly HttpMatch[],
  filters: readonly JsonObject[],
  canary: Canary,
): object {
  const { timeout = "", backendTimeout = "", port } = canary.spec.service;
  const all = [
    ...filters,
    ...(rule.isMirrored ? [mirrorFilter(canaryServiceName(canary), port)] : []),
    ...(rule.expiring === undefined ? [] : [setCookieFilter(rule.expiring)]),
  ];
  const timeouts = {
    ...(timeout === "" ? {} : { request: timeout }),
    ...(backendTimeout === "" ? {} : { backendRequest: backendTimeout }),
  };
  return {
    matches: matchesOf(rule, matches, canary),
    ...(all.length === 0 ? {} : { filters: all }),
    backendRefs: backends(rule, canary),
    ...(timeout === "" && backendTimeout === "" ? {} : { timeouts }),
  };
}

function matchesOf({ requests }: RouteRule, matches: readonly HttpMatch[], { analysis }: Canary): readonly HttpMatch[] {
  switch (requests.kind) {
    case "all":
      return matches;
    case "tested":
      return merged(analysisMatches(analysis.match ?? []), matches);
    case "with cookie": {
      const header = { name: "Cookie", type: "RegularExpression", value: cookiePattern(requests.cookie) };
      return merged([{ headers: [header] }], matches);
    }
  }
}

function backends({ weights, setCookie }: RouteRule, canary: Canary): readonly JsonObject[] {
  const { port } = canary.spec.service;
  const [primary, ours] = [primaryServiceName(canary), canaryServiceName(canary)];
  if (weights === undefined) return [backend(primary, 100, port)];
  return [
    backend(primary, weights.primary, port, setCookie?.primary),
    backend(ours, weights.canary, port, setCookie?.canary),
  ];
}

function backend(name: string, weight: number, port: number, setCookie?: string): JsonObject {
  const filters = setCookie === undefined ? {} : { filters: [setCookieFilter(setCookie)] };
  return { group: "", kind: "Service", name, port, weight, ...filters };
}

function parentRef({ group, kind, namespace, name, sectionName, port }: GatewayReference): object {
  return { group, kind, namespace, name, sectionName, port };
}
