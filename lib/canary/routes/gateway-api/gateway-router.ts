import { equal, type JsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata, type RouteMetadata } from "../apex-metadata.ts";
import { type Doing, objectRouter, type WantedRoute } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { cookiesOf } from "../session-cookies.ts";
import { checkAccepted, liveCookies, liveRoutes } from "./live-route.ts";
import { routeSpec } from "./route-spec.ts";
import { withDefaults } from "./route-defaults.ts";

const group = "gateway.networking.k8s.io";

/** Routes by an HTTPRoute of the apex name (reference canary 9). It belongs to the Canary, so the cluster deletes it. */
export function gatewayRouter(
  canary: Canary,
  target: TargetMetadata,
  deps: StepDeps,
  version: "v1" | "v1beta1",
): Router {
  const name = apexName(canary);
  const text = `HTTPRoute ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  return objectRouter(
    {
      ref: { group, version, kind: "HTTPRoute", namespace: canary.namespace, name },
      resource: `httproutes.${group}`,
      failed: (doing, cause) => `${text} ${failedWords(doing, cause)}`,
      begin: () => begin(canary, deps),
      traffic: (live) => liveRoutes(live, canary),
      wanted: async (routes, live) => wantedRoute(routes, live, canary, await metadata()),
      isSame,
      check: (live) => checkAccepted(live, canary),
    },
    canary,
    deps,
  );
}

function begin({ spec: { service }, name, namespace }: Canary, { log }: StepDeps): void {
  if ((service.gatewayRefs ?? []).length === 0) {
    throw new StepFault("GatewayRefs must be specified when using Gateway API as a provider.");
  }
  if (!Array.isArray(service.corsPolicy?.["allowOrigins"])) return;
  const message = "corsPolicy.allowOrigins is not supported by Gateway API, use corsPolicy.allowOrigin instead";
  log.error(message, { canary: name, namespace });
}

/** Annotations of others survive, as those of controllers of Gateways. */
function wantedRoute(
  routes: Routes,
  live: LiveObject | undefined,
  canary: Canary,
  { labels, annotations }: RouteMetadata,
): WantedRoute {
  const session = cookiesOf(canary, routes.canary, live === undefined ? {} : liveCookies(live, canary));
  return {
    labels,
    annotations: { ...live?.metadata.annotations, ...annotations },
    spec: routeSpec(canary, routes, session?.cookies),
    ...(session === undefined ? {} : { changes: session.changes }),
  };
}

function failedWords(doing: Doing, cause: string): string {
  switch (doing) {
    case "find":
    case "read":
      return `get error: ${cause}`;
    case "create":
      return `create error: ${cause}`;
    case "mend":
      return `update error: ${cause} while reconciling`;
    case "set":
      return `update error: ${cause} while setting weights`;
  }
}

function isSame(live: JsonObject, wanted: JsonObject): boolean {
  return equal(withDefaults(live), withDefaults(wanted));
}
