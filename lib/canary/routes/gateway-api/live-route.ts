import { z } from "zod";
import { equal, toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import type { Routes } from "../router.ts";
import { cookieNamed, type WrittenCookies } from "../session-cookies.ts";
import { allToPrimary, sharesOf } from "../weights.ts";
import { canaryName, primaryName } from "./route-spec.ts";

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

const RouteSpec = z.looseObject({ parentRefs: z.array(ParentRef).default([]), rules: z.array(Rule).default([]) });

const ParentStatus = z.looseObject({
  parentRef: ParentRef,
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), observedGeneration: z.number().default(0) }))
    .default([]),
});

const RouteStatus = z.looseObject({ parents: z.array(z.unknown()).default([]) });

/** What an HTTPRoute says of its traffic. Others may have written it. */
export interface LiveTraffic extends Routes {
  readonly cookies: WrittenCookies;
  /** Whether the weights that are written sum to 100. */
  readonly isWhole: boolean;
}

/** The last rule with both backends is the weighted one: rules of cookies are before it. */
export function liveTraffic(route: LiveObject, canary: Canary): LiveTraffic {
  const rules = RouteSpec.safeParse(route["spec"]).data?.rules ?? [];
  const [ours, primarys] = [canaryName(canary), primaryName(canary)];
  const backendOf = (rule: z.infer<typeof Rule>, name: string) => rule.backendRefs.find((ref) => ref.name === name);
  const weighted =
    rules.findLast((rule) => backendOf(rule, ours) !== undefined && backendOf(rule, primarys) !== undefined) ??
    rules.findLast((rule) => backendOf(rule, ours) !== undefined);
  const isMirrored = rules.some(({ filters }) =>
    filters.some(({ requestMirror }) => requestMirror?.backendRef.name === ours),
  );
  if (weighted === undefined) return { ...allToPrimary, isMirrored, cookies: {}, isWhole: false };
  const [to, from] = [backendOf(weighted, ours), backendOf(weighted, primarys)];
  const [canaryWeight, primaryWeight] = [to?.weight ?? 0, from?.weight ?? 0];
  return {
    ...sharesOf(primaryWeight, canaryWeight),
    isMirrored,
    cookies: writtenCookies(to, from, canary),
    isWhole: canaryWeight + primaryWeight === 100,
  };
}

function writtenCookies(to: Backend | undefined, from: Backend | undefined, { analysis }: Canary): WrittenCookies {
  const affinity = analysis.sessionAffinity;
  const canary = cookieNamed(affinity?.cookieName, setCookieOf(to));
  const primary = cookieNamed(affinity?.primaryCookieName, setCookieOf(from));
  return { ...(canary === undefined ? {} : { canary }), ...(primary === undefined ? {} : { primary }) };
}

function setCookieOf(backend: Backend | undefined): string | undefined {
  const added = backend?.filters.flatMap(({ responseHeaderModifier }) => responseHeaderModifier?.add ?? []);
  return added?.find(({ name }) => name === "Set-Cookie")?.value;
}

/** Throws a {@link StepFault} while a Gateway has not accepted the route as it is. Without a status it counts as accepted (reference canary 9). */
export function checkAccepted(route: LiveObject, canary: Canary): void {
  const { generation = 0 } = route.metadata;
  const parentRefs = RouteSpec.safeParse(route["spec"]).data?.parentRefs ?? [];
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
      `HTTPRoute ${apexName(canary)}.${canary.namespace} parent ${ref.name} is not ready (status: ${open.status}, ` +
        `observed generation: ${open.observedGeneration}, current generation: ${generation})`,
    );
  }
}
