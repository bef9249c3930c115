import { z } from "zod";
import type { RouteMatch } from "../../../api/canary.ts";
import { toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata } from "../apex-metadata.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { allToPrimary, nonZero, sharesOf, type Weights } from "../weights.ts";
import { canaryUpstream, ensureUpstreams, primaryUpstream } from "./gloo-upstreams.ts";

const Destination = z.looseObject({
  destination: z.looseObject({ upstream: z.looseObject({ name: z.string() }) }),
  weight: z.number().default(0),
});

const TableSpec = z.looseObject({
  routes: z
    .array(
      z.looseObject({
        routeAction: z.looseObject({ multi: z.looseObject({ destinations: z.array(Destination).default([]) }) }),
      }),
    )
    .default([]),
});

/** Routes by a RouteTable with the apex name, to which a VirtualService of the user delegates. */
export function glooRouter(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const name = apexName(canary);
  const text = `RouteTable ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  return objectRouter(
    {
      ref: { group: "gateway.solo.io", version: "v1", kind: "RouteTable", namespace: canary.namespace, name },
      resource: "routetables.gateway.solo.io",
      failed: (doing, cause) => {
        const words = { find: "get query error:", read: "get query error:", create: "create error:" };
        return `${text} ${{ ...words, mend: "update error:", set: "update error:" }[doing]} ${cause}`;
      },
      begin: async () => {
        refuseLacking(canary, "gloo");
        await ensureUpstreams(canary, deps);
      },
      traffic: (live) => liveRoutes(live, canary),
      missing: `${text} destinations not found`,
      wanted: async (routes) => ({ ...(await metadata()), spec: tableSpec(canary, routes) }),
    },
    canary,
    deps,
  );
}

/** An A/B test also has a route for all other requests, which would otherwise match no route. */
function tableSpec(canary: Canary, routes: Routes) {
  const { match = [] } = canary.analysis;
  const tested = route(match.map(matcher), routes, canary);
  return toJsonObject({ routes: match.length === 0 ? [tested] : [tested, route([], allToPrimary, canary)] });
}

function route(matchers: readonly object[], weights: Weights, canary: Canary): object {
  const destination = (name: string, weight: number) => ({
    destination: { upstream: { name, namespace: canary.namespace } },
    ...nonZero(weight),
  });
  return {
    inheritablePathMatchers: true,
    ...(matchers.length === 0 ? {} : { matchers }),
    routeAction: {
      multi: {
        destinations: [
          destination(primaryUpstream(canary), weights.primary),
          destination(canaryUpstream(canary), weights.canary),
        ],
      },
    },
  };
}

/** All conditions of one matcher must match, and one matching matcher is enough. */
function matcher({ headers = {}, method }: RouteMatch, index: number): object {
  const list = Object.entries(headers).map(([name, { exact = "", regex = "" }]) => {
    if (regex !== "") return { name, value: regex, regex: true };
    if (exact !== "") return { name, value: exact };
    throw new StepFault(
      `provider gloo cannot match spec.analysis.match[${index}].headers.${name}: give it exact or regex`,
    );
  });
  const methods = method?.exact === undefined ? [] : [method.exact];
  if (list.length + methods.length === 0) {
    throw new StepFault(
      `provider gloo matches requests by headers and method: spec.analysis.match[${index}] has neither`,
    );
  }
  return { ...(list.length === 0 ? {} : { headers: list }), ...(methods.length === 0 ? {} : { methods }) };
}

function liveRoutes(table: LiveObject, canary: Canary): Routes | undefined {
  const { routes = [] } = TableSpec.safeParse(table["spec"]).data ?? {};
  const destinations = routes[0]?.routeAction.multi.destinations ?? [];
  const weightOf = (name: string) => destinations.find(({ destination }) => destination.upstream.name === name)?.weight;
  const [from, to] = [weightOf(primaryUpstream(canary)), weightOf(canaryUpstream(canary))];
  return from === undefined || to === undefined ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
