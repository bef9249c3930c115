import type { GatewayReference } from "../../../api/canary.ts";
import { type JsonObject, toJsonObject } from "../../../core/json.ts";
import { type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { type RouteRule, routeRules } from "../route-rules.ts";
import type { Routes } from "../router.ts";
import { cookiePattern, type SessionCookies } from "../session-cookies.ts";
import { mirrorFilter, routeFilters, setCookieFilter } from "./route-filters.ts";
import { type GatewayMatch, merged } from "./route-matches.ts";
import type { RouteForm } from "./route-form.ts";

/** The whole spec of the route (reference canary 9). */
export function routeSpec(
  form: RouteForm,
  canary: Canary,
  routes: Routes,
  cookies: SessionCookies | undefined,
): JsonObject {
  const { service } = canary.spec;
  const { hosts = [], gatewayRefs = [] } = service;
  const matches = form.serviceMatches(service.match);
  const tested = form.analysisMatches(canary.analysis.match ?? []);
  const filters = routeFilters(service);
  return toJsonObject({
    parentRefs: gatewayRefs.map(parentRef),
    ...(hosts.length === 0 ? {} : { hostnames: hosts }),
    rules: routeRules(canary, routes, cookies).map((rule) => written(rule, { matches, tested, filters }, canary)),
  });
}

interface Common {
  readonly matches: readonly GatewayMatch[];
  readonly tested: readonly GatewayMatch[];
  readonly filters: readonly JsonObject[];
}

function written(rule: RouteRule, { filters, ...conditions }: Common, canary: Canary): object {
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
    ...writtenMatches(matchesOf(rule, conditions)),
    ...(all.length === 0 ? {} : { filters: all }),
    backendRefs: backends(rule, canary),
    ...(timeout === "" && backendTimeout === "" ? {} : { timeouts }),
  };
}

/** In a GRPCRoute, no match means every call. */
function writtenMatches(matches: readonly GatewayMatch[]): object {
  return matches.every((match) => Object.keys(match).length === 0) ? {} : { matches };
}

function matchesOf({ requests }: RouteRule, { matches, tested }: Omit<Common, "filters">): readonly GatewayMatch[] {
  switch (requests.kind) {
    case "all":
      return matches;
    case "tested":
      return merged(tested, matches);
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
