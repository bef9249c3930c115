import type { GatewayReference } from "../../../api/canary.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../core/json.ts";
import { apexName, type Canary } from "../../canary.ts";
import type { Routes } from "../router.ts";
import {
  canaryMaxAgeSeconds,
  cookiePattern,
  expiredCookie,
  intervalSeconds,
  type SessionCookies,
  setCookie,
} from "../session-cookies.ts";
import { allToPrimary, type Weights } from "../weights.ts";
import { mirrorFilter, routeFilters, setCookieFilter } from "./route-filters.ts";
import { analysisMatches, type HttpMatch, merged, serviceMatches } from "./route-matches.ts";

interface Rule {
  readonly matches: readonly HttpMatch[];
  readonly filters: readonly JsonObject[];
  readonly backends: readonly JsonObject[];
}

/**
 * The whole spec of the HTTPRoute (reference canary 9): rules of cookies first, then the weighted one, which an A/B test limits to the
 * requests that it is about; then all others go to the primary.
 */
export function routeSpec(canary: Canary, routes: Routes, cookies: SessionCookies | undefined): JsonObject {
  const { service } = canary.spec;
  const { hosts = [] } = service;
  const rules = rulesOf(canary, routes, cookies).map((rule) => written(rule, canary));
  return toJsonObject({
    parentRefs: service.gatewayRefs?.map(parentRef),
    ...(hosts.length === 0 ? {} : { hostnames: hosts }),
    rules,
  });
}

function rulesOf(canary: Canary, routes: Routes, cookies: SessionCookies | undefined): readonly Rule[] {
  const { spec, analysis } = canary;
  const matches = serviceMatches(spec.service.match);
  const filters = routeFilters(spec.service);
  const { match = [] } = analysis;
  const mirror = routes.isMirrored ? [mirrorFilter(canaryName(canary), spec.service.port)] : [];
  const weighted = { matches, filters: [...filters, ...mirror], backends: backends(canary, routes) };
  const rules = withCookies(weighted, matches, cookies, canary);
  if (match.length === 0) return rules;
  const isAbout = merged(analysisMatches(match), matches);
  const tested = rules.map((rule) => (rule.matches === matches ? { ...rule, matches: isAbout } : rule));
  return [...tested, { matches, filters, backends: [backend(primaryName(canary), 100, canary)] }];
}

function withCookies(
  weighted: Rule,
  matches: readonly HttpMatch[],
  cookies: SessionCookies | undefined,
  canary: Canary,
): readonly Rule[] {
  if (cookies === undefined) return [weighted];
  const sticky = (cookie: string, weights: Weights): Rule => ({
    ...weighted,
    matches: merged([cookieMatch(cookie)], matches),
    backends: backends(canary, weights),
  });
  if (cookies.kind === "at rest") {
    if (cookies.previous === undefined) return [weighted];
    const expiring = sticky(cookies.previous, allToPrimary);
    const expired = setCookieFilter(expiredCookie(cookies.previous));
    return [{ ...expiring, filters: [...expiring.filters, expired] }, weighted];
  }
  return [
    sticky(cookies.canary, { primary: 0, canary: 100 }),
    ...(cookies.primary === undefined ? [] : [sticky(cookies.primary, allToPrimary)]),
    { ...weighted, backends: withSetCookies(weighted.backends, cookies, canary) },
  ];
}

/** The weighted rule tells a client where it has been sent. */
function withSetCookies(
  [primary = {}, ours = {}]: readonly JsonObject[],
  cookies: Extract<SessionCookies, { kind: "in run" }>,
  { analysis }: Canary,
): readonly JsonObject[] {
  const affinity = analysis.sessionAffinity ?? {};
  const setting = (cookie: string, maxAge: number) => ({
    filters: [setCookieFilter(setCookie(cookie, affinity, maxAge))],
  });
  return [
    cookies.primary === undefined
      ? primary
      : { ...primary, ...setting(cookies.primary, intervalSeconds(analysis.interval)) },
    { ...ours, ...setting(cookies.canary, canaryMaxAgeSeconds(affinity)) },
  ];
}

function cookieMatch(cookie: string): HttpMatch {
  return { headers: [{ name: "Cookie", type: "RegularExpression", value: cookiePattern(cookie) }] };
}

function backends(canary: Canary, weights: Weights): readonly JsonObject[] {
  return [backend(primaryName(canary), weights.primary, canary), backend(canaryName(canary), weights.canary, canary)];
}

function backend(name: string, weight: number, { spec }: Canary): JsonObject {
  return { group: "", kind: "Service", name, port: spec.service.port, weight };
}

function written({ matches, filters, backends: backendRefs }: Rule, { spec }: Canary): object {
  const { timeout = "", backendTimeout = "" } = spec.service;
  const timeouts = {
    ...(timeout === "" ? {} : { request: timeout }),
    ...(backendTimeout === "" ? {} : { backendRequest: backendTimeout }),
  };
  return {
    matches,
    ...(filters.length === 0 ? {} : { filters }),
    backendRefs,
    ...(timeout === "" && backendTimeout === "" ? {} : { timeouts }),
  };
}

function parentRef({ group, kind, namespace, name, sectionName, port }: GatewayReference): object {
  return { group, kind, namespace, name, sectionName, port };
}

export function primaryName(canary: Canary): string {
  return `${apexName(canary)}-primary`;
}

export function canaryName(canary: Canary): string {
  return `${apexName(canary)}-canary`;
}

/**
 * A spec of an HTTPRoute with what its definition fills in, so that two of them are compared by what they mean: a route with a match
 * of headers alone has a path too once it is stored.
 */
export function withDefaults(spec: JsonObject): JsonObject {
  const { parentRefs = [], rules = [], hostnames = [], ...rest } = spec;
  return {
    ...rest,
    parentRefs: objects(parentRefs).map((ref) => ({ group: "gateway.networking.k8s.io", kind: "Gateway", ...ref })),
    hostnames,
    rules: objects(rules).map(defaultedRule),
  };
}

function defaultedRule({ matches, filters = [], backendRefs = [], ...rest }: JsonObject): JsonObject {
  const matched = objects(matches);
  return {
    ...rest,
    matches: (matched.length === 0 ? [{}] : matched).map(defaultedMatch),
    filters: objects(filters).map(defaultedFilter),
    backendRefs: objects(backendRefs).map(({ filters: own = [], ...ref }) => ({
      group: "",
      kind: "Service",
      weight: 1,
      ...ref,
      filters: own,
    })),
  };
}

function defaultedMatch({ path = {}, headers = [], queryParams = [], ...rest }: JsonObject): JsonObject {
  const exact = (match: JsonObject): JsonObject => ({ type: "Exact", ...match });
  return {
    ...rest,
    path: { type: "PathPrefix", value: "/", ...(isJsonObject(path) ? path : {}) },
    headers: objects(headers).map(exact),
    queryParams: objects(queryParams).map(exact),
  };
}

function defaultedFilter(filter: JsonObject): JsonObject {
  const { requestMirror, cors } = filter;
  if (isJsonObject(cors)) return { ...filter, cors: { maxAge: 5, ...cors } };
  if (!isJsonObject(requestMirror) || !isJsonObject(requestMirror["backendRef"])) return filter;
  const backendRef = { group: "", kind: "Service", ...requestMirror["backendRef"] };
  return { ...filter, requestMirror: { ...requestMirror, backendRef } };
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return list !== undefined && isJsonList(list) ? list.filter(isJsonObject) : [];
}
