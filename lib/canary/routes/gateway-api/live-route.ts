import { z } from "zod";
import { equal, toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import type { Routes } from "../router.ts";
import { cookiesAmong, type WrittenCookies } from "../session-cookies.ts";
import { sharesOf } from "../weights.ts";

const Filter = z.looseObject({
  requestMirror: z.looseObject({ backendRef: z.looseObject({ name: z.string() }) }).optional(),
  responseHeaderModifier: z
    .looseObject({ add: z.array(z.object({ name: z.string(), value: z.string() })).default([]) })
    .optional(),
});

const Backend = z.looseObject({
  name: z.string(),
  weight: z.number().default(1),
  filters: z.array(Filter).default([]),
});
type Backend = z.infer<typeof Backend>;

const Rule = z.looseObject({ backendRefs: z.array(Backend).default([]), filters: z.array(Filter).default([]) });

const ParentRef = z.looseObject({
  group: z.string().default("gateway.networking.k8s.io"),
  kind: z.string().default("Gateway"),
  name: z.string(),
});

type Rule = z.infer<typeof Rule>;

const RouteSpec = z.looseObject({ parentRefs: z.array(ParentRef).default([]), rules: z.array(Rule).default([]) });
type RouteSpec = z.infer<typeof RouteSpec>;

/** By route, since a step asks the same one for its weights, its cookies and its parents. */
const specs = new WeakMap<LiveObject, Partial<RouteSpec>>();

/** The parsed spec; empty if it is not valid. */
function specOf(route: LiveObject): Partial<RouteSpec> {
  const known = specs.get(route) ?? RouteSpec.safeParse(route["spec"]).data ?? {};
  specs.set(route, known);
  return known;
}

const ParentStatus = z.looseObject({
  parentRef: ParentRef,
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), observedGeneration: z.number().default(0) }))
    .default([]),
});

const RouteStatus = z.looseObject({ parents: z.array(z.unknown()).default([]) });

/** The traffic settings of a route. Other writers may have changed them. */
export function liveRoutes(route: LiveObject, canary: Canary): Routes | undefined {
  const { rules = [] } = specOf(route);
  const ours = canaryServiceName(canary);
  const weighted = weightedBackends(rules, canary);
  if (weighted === undefined) return undefined;
  const isMirrored = rules.some(({ filters }) =>
    filters.some(({ requestMirror }) => requestMirror?.backendRef.name === ours),
  );
  return { ...sharesOf(weighted.primary?.weight ?? 0, weighted.canary.weight), isMirrored };
}

/** The cookies that its answers set. */
export function liveCookies(route: LiveObject, canary: Canary): WrittenCookies {
  const weighted = weightedBackends(specOf(route).rules ?? [], canary);
  return cookiesAmong(setCookieOf(weighted?.canary), setCookieOf(weighted?.primary), canary.analysis.sessionAffinity);
}

/** The last rule with the canary is the weighted one: rules of cookies are before it. */
function weightedBackends(rules: readonly Rule[], canary: Canary) {
  const backendOf = (rule: Rule, name: string) => rule.backendRefs.find((ref) => ref.name === name);
  const weighted = rules.findLast((rule) => backendOf(rule, canaryServiceName(canary)) !== undefined);
  const ours = weighted === undefined ? undefined : backendOf(weighted, canaryServiceName(canary));
  if (weighted === undefined || ours === undefined) return undefined;
  return { canary: ours, primary: backendOf(weighted, primaryServiceName(canary)) };
}

function setCookieOf(backend: Backend | undefined): string | undefined {
  const added = backend?.filters.flatMap(({ responseHeaderModifier }) => responseHeaderModifier?.add ?? []);
  return added?.find(({ name }) => name === "Set-Cookie")?.value;
}

/**
 * Throws a {@link StepFault} until a Gateway has accepted the present route. Without a status it counts as accepted (reference canary 9).
 */
export function checkAccepted(route: LiveObject, canary: Canary): void {
  const { generation = 0 } = route.metadata;
  const { parentRefs = [] } = specOf(route);
  const parents = (RouteStatus.safeParse(route["status"]).data?.parents ?? []).flatMap(
    (parent) => ParentStatus.safeParse(parent).data ?? [],
  );
  for (const ref of parentRefs) {
    const conditions = parents
      .filter(({ parentRef }) => equal(toJsonObject(parentRef), toJsonObject(ref)))
      .flatMap((parent) => parent.conditions);
    const open = conditions.find(
      ({ type, status, observedGeneration }) =>
        type === "Accepted" && (status !== "True" || observedGeneration < generation),
    );
    if (open === undefined) continue;
    throw new StepFault(
      `${route.kind} ${apexName(canary)}.${canary.namespace} parent ${ref.name} is not ready (status: ${open.status}, ` +
        `observed generation: ${open.observedGeneration}, current generation: ${generation})`,
    );
  }
}
