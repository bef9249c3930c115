import { z } from "zod";
import type { LiveObject } from "../../../core/manifest.ts";
import { type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import type { Routes } from "../router.ts";
import { cookiesAmong, type WrittenCookies } from "../session-cookies.ts";
import { sharesOf } from "../weights.ts";
import { isTcp } from "./virtual-service.ts";

const Destination = z.looseObject({
  destination: z.looseObject({ host: z.string() }),
  weight: z.number().default(0),
  headers: z
    .looseObject({ response: z.looseObject({ add: z.record(z.string(), z.string()).optional() }).optional() })
    .optional(),
});
type Destination = z.infer<typeof Destination>;

const Rule = z.looseObject({
  route: z.array(Destination).default([]),
  mirror: z.looseObject({ host: z.string() }).optional(),
});

const VirtualServiceSpec = z.looseObject({ http: z.array(Rule).default([]), tcp: z.array(Rule).default([]) });

/** The settings for this Canary's traffic in a VirtualService. Other writers may have changed them. */
export function liveRoutes(service: LiveObject, canary: Canary): Routes | undefined {
  const weighted = weightedRule(service, canary);
  if (weighted === undefined) return undefined;
  const { primary, ours, rule } = weighted;
  if ((primary?.weight ?? 0) + ours.weight === 0) return undefined;
  return { ...sharesOf(primary?.weight ?? 0, ours.weight), isMirrored: rule.mirror !== undefined };
}

/** The cookies that its answers set. */
export function liveCookies(service: LiveObject, canary: Canary): WrittenCookies {
  const weighted = weightedRule(service, canary);
  return cookiesAmong(setCookieOf(weighted?.ours), setCookieOf(weighted?.primary), canary.analysis.sessionAffinity);
}

/** The last rule with the canary: rules of cookies are before it. */
function weightedRule(service: LiveObject, canary: Canary) {
  const { http = [], tcp = [] } = VirtualServiceSpec.safeParse(service["spec"]).data ?? {};
  const to = (route: readonly Destination[], host: string) => route.find((one) => one.destination.host === host);
  const rule = (isTcp(canary) ? tcp : http).findLast(({ route }) => to(route, canaryServiceName(canary)) !== undefined);
  const ours = rule === undefined ? undefined : to(rule.route, canaryServiceName(canary));
  if (rule === undefined || ours === undefined) return undefined;
  return { rule, ours, primary: to(rule.route, primaryServiceName(canary)) };
}

function setCookieOf(destination: Destination | undefined): string | undefined {
  return destination?.headers?.response?.add?.["Set-Cookie"];
}
