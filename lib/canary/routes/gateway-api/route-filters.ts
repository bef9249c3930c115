import { z } from "zod";
import type { CanaryService } from "../../../api/canary.ts";
import { parseDuration } from "../../../core/duration.ts";
import type { JsonObject } from "../../../core/json.ts";

type HeaderOperations = NonNullable<NonNullable<CanaryService["headers"]>["request"]>;

const Mirror = z.looseObject({
  backendRef: z.looseObject({
    group: z.string().default(""),
    kind: z.string().default("Service"),
    namespace: z.string().optional(),
    name: z.string(),
    port: z.number().optional(),
  }),
});

const Cors = z.looseObject({
  allowOrigin: z.array(z.string()).default([]),
  allowMethods: z.array(z.string()).default([]),
  allowHeaders: z.array(z.string()).default([]),
  exposeHeaders: z.array(z.string()).default([]),
  allowCredentials: z.boolean().default(false),
  maxAge: z.string().default(""),
});

/** The filters that a route applies to each request, in Flagger's order (reference canary 9). */
export function routeFilters({ headers, rewrite, mirror = [], corsPolicy }: CanaryService): readonly JsonObject[] {
  return [
    ...headerFilter("RequestHeaderModifier", "requestHeaderModifier", headers?.request),
    ...headerFilter("ResponseHeaderModifier", "responseHeaderModifier", headers?.response),
    ...rewriteFilter(rewrite),
    ...mirror.flatMap(userMirror),
    ...corsFilter(corsPolicy),
  ];
}

/** Adds `Set-Cookie` to answers. */
export function setCookieFilter(value: string): JsonObject {
  return {
    type: "ResponseHeaderModifier",
    responseHeaderModifier: { add: [{ name: "Set-Cookie", value }] },
  };
}

/** Sends each request to this Service too; its answers are dropped. */
export function mirrorFilter(name: string, port: number): JsonObject {
  return { type: "RequestMirror", requestMirror: { backendRef: { group: "", kind: "Service", name, port } } };
}

function headerFilter(type: string, field: string, operations: HeaderOperations | undefined): readonly JsonObject[] {
  if (operations === undefined) return [];
  const { add = {}, set = {}, remove = [] } = operations;
  const modifier = {
    ...(Object.keys(add).length === 0 ? {} : { add: sortedHeaders(add) }),
    ...(Object.keys(set).length === 0 ? {} : { set: sortedHeaders(set) }),
    ...(remove.length === 0 ? {} : { remove }),
  };
  return [{ type, [field]: modifier }];
}

function sortedHeaders(headers: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(headers)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, value }));
}

function rewriteFilter(rewrite: CanaryService["rewrite"]): readonly JsonObject[] {
  if (rewrite === undefined) return [];
  const { authority = "", uri = "", type } = rewrite;
  const isPrefix = type === "ReplacePrefixMatch";
  const path = isPrefix
    ? { type: "ReplacePrefixMatch", replacePrefixMatch: uri }
    : { type: "ReplaceFullPath", replaceFullPath: uri };
  const urlRewrite = {
    ...(authority === "" ? {} : { hostname: authority }),
    ...(uri === "" ? {} : { path }),
  };
  return [{ type: "URLRewrite", urlRewrite }];
}

/** One filter of `service.mirror`; the definition of Canary refuses one without a backend. */
function userMirror(mirror: unknown): readonly JsonObject[] {
  if (mirror === undefined) return [];
  const parsed = Mirror.safeParse(mirror);
  if (!parsed.success) return [];
  const { group, kind, namespace, name, port } = parsed.data.backendRef;
  const backendRef = {
    group,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(port === undefined ? {} : { port }),
  };
  return [{ type: "RequestMirror", requestMirror: { backendRef } }];
}

function corsFilter(policy: unknown): readonly JsonObject[] {
  // A failed parse costs far more than one that succeeds, and hardly any Canary has a policy.
  if (policy === undefined) return [];
  const parsed = Cors.safeParse(policy);
  if (!parsed.success) return [];
  const { allowOrigin, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAge } = parsed.data;
  const seconds = wholeSeconds(maxAge);
  const cors = {
    ...(allowOrigin.length === 0 ? {} : { allowOrigins: allowOrigin }),
    ...(allowMethods.length === 0 ? {} : { allowMethods }),
    ...(allowHeaders.length === 0 ? {} : { allowHeaders }),
    ...(exposeHeaders.length === 0 ? {} : { exposeHeaders }),
    ...(allowCredentials ? { allowCredentials } : {}),
    ...(seconds === 0 ? {} : { maxAge: seconds }),
  };
  return [{ type: "CORS", cors }];
}

/** 0 for a text that is not a duration, as in Flagger. */
function wholeSeconds(text: string): number {
  try {
    return Math.trunc(parseDuration(text) / 1000);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 0;
  }
}
