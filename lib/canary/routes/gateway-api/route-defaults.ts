import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { objectsOf } from "../../workload/fields.ts";
import type { RouteForm } from "./route-form.ts";

/**
 * The spec of a route with the defaults of its definition, so that two of them are compared by their meaning: an HTTPRoute with a header
 * match alone has a path too once it is stored.
 */
export function withDefaults(spec: JsonObject, kind: RouteForm["kind"]): JsonObject {
  const { parentRefs = [], rules = [], hostnames = [], ...rest } = spec;
  return {
    ...rest,
    parentRefs: objectsOf(parentRefs).map((ref) => ({ group: "gateway.networking.k8s.io", kind: "Gateway", ...ref })),
    hostnames,
    rules: objectsOf(rules).map((rule) => defaultedRule(rule, kind)),
  };
}

function defaultedRule(
  { matches, filters = [], backendRefs = [], ...rest }: JsonObject,
  kind: RouteForm["kind"],
): JsonObject {
  const matched = objectsOf(matches);
  return {
    ...rest,
    matches: (matched.length === 0 ? [{}] : matched).map(kind === "HTTPRoute" ? httpMatch : grpcMatch),
    filters: objectsOf(filters).map(defaultedFilter),
    backendRefs: objectsOf(backendRefs).map(({ filters: own = [], ...ref }) => ({
      group: "",
      kind: "Service",
      weight: 1,
      ...ref,
      filters: own,
    })),
  };
}

function httpMatch({ path = {}, headers = [], queryParams = [], ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    path: { type: "PathPrefix", value: "/", ...(isJsonObject(path) ? path : {}) },
    headers: objectsOf(headers).map(exact),
    queryParams: objectsOf(queryParams).map(exact),
  };
}

function grpcMatch({ method, headers = [], ...rest }: JsonObject): JsonObject {
  const called = method !== undefined && isJsonObject(method) ? { method: exact(method) } : {};
  return { ...rest, ...called, headers: objectsOf(headers).map(exact) };
}

function exact(match: JsonObject): JsonObject {
  return { type: "Exact", ...match };
}

function defaultedFilter(filter: JsonObject): JsonObject {
  const { requestMirror, cors } = filter;
  if (isJsonObject(cors)) return { ...filter, cors: { maxAge: 5, ...cors } };
  if (!isJsonObject(requestMirror) || !isJsonObject(requestMirror["backendRef"])) return filter;
  const backendRef = { group: "", kind: "Service", ...requestMirror["backendRef"] };
  return { ...filter, requestMirror: { ...requestMirror, backendRef } };
}
