import { type Canary } from "../canary.ts";
import type { Routes } from "./router.ts";
import {
  canaryMaxAgeSeconds,
  expiredCookie,
  intervalSeconds,
  type SessionCookies,
  setCookie,
} from "./session-cookies.ts";
import { allToPrimary, type Weights } from "./weights.ts";

/** Which requests a rule is about: those of `service.match`, those of them that an A/B test is about, or those of them with a cookie. */
export type RuleRequests =
  | { readonly kind: "all" }
  | { readonly kind: "tested" }
  | { readonly kind: "with cookie"; readonly cookie: string };

/** One rule of a route, before it is written in the form of a provider. A request follows the first rule that matches it. */
export interface RouteRule {
  readonly requests: RuleRequests;
  /** Undefined where the rule knows the primary only. */
  readonly weights: Weights | undefined;
  readonly isMirrored: boolean;
  /** Values of `Set-Cookie` in the answers of either. */
  readonly setCookie?: { readonly primary: string | undefined; readonly canary: string };
  /** `Set-Cookie` in each answer, of the canary or the primary. */
  readonly expiring?: string;
}

/**
 * The rules of a route (reference canary 9): those of cookies first, then the weighted one. In an A/B test the weighted rule matches only
 * its requests, and all others go to the primary.
 */
export function routeRules(canary: Canary, routes: Routes, cookies: SessionCookies | undefined): readonly RouteRule[] {
  const isTest = (canary.analysis.match ?? []).length > 0;
  const weighted: RouteRule = {
    requests: { kind: isTest ? "tested" : "all" },
    weights: { primary: routes.primary, canary: routes.canary },
    isMirrored: routes.isMirrored,
  };
  const others: RouteRule = { requests: { kind: "all" }, weights: undefined, isMirrored: false };
  return [...withCookies(weighted, cookies, canary), ...(isTest ? [others] : [])];
}

function withCookies(
  weighted: RouteRule,
  cookies: SessionCookies | undefined,
  { analysis }: Canary,
): readonly RouteRule[] {
  if (cookies === undefined) return [weighted];
  const { isMirrored } = weighted;
  const sticky = (cookie: string, weights: Weights): RouteRule => ({
    requests: { kind: "with cookie", cookie },
    weights,
    isMirrored,
  });
  if (cookies.kind === "at rest") {
    if (cookies.previous === undefined) return [weighted];
    return [{ ...sticky(cookies.previous, allToPrimary), expiring: expiredCookie(cookies.previous) }, weighted];
  }
  const { sessionAffinity: affinity } = analysis;
  // Only a Canary with session affinity has cookies.
  if (affinity === undefined) return [weighted];
  const { primary } = cookies;
  const told = {
    primary: primary === undefined ? undefined : setCookie(primary, affinity, intervalSeconds(analysis.interval)),
    canary: setCookie(cookies.canary, affinity, canaryMaxAgeSeconds(affinity)),
  };
  return [
    sticky(cookies.canary, { primary: 0, canary: 100 }),
    ...(primary === undefined ? [] : [sticky(primary, allToPrimary)]),
    { ...weighted, setCookie: told },
  ];
}
