import { equal } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { VersionedRef } from "../../../core/object-ref.ts";
import { apexName, type Canary } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata, type RouteMetadata } from "../apex-metadata.ts";
import { type Doing, objectRouter, type WantedRoute } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { cookiesOf } from "../session-cookies.ts";
import { formerRoute } from "./former-route.ts";
import { checkAccepted, liveCookies, liveRoutes } from "./live-route.ts";
import { withDefaults } from "./route-defaults.ts";
import { grpcForm, httpForm, type RouteForm, routeFormOf } from "./route-form.ts";
import { routeSpec } from "./route-spec.ts";

const group = "gateway.networking.k8s.io";

/**
 * Routes by an HTTPRoute of the apex name (reference canary 9), or by a GRPCRoute where the Canary asks for it. It belongs to the Canary,
 * so the cluster deletes it.
 */
export function gatewayRouter(
  canary: Canary,
  target: TargetMetadata,
  deps: StepDeps,
  version: "v1" | "v1beta1",
): Router {
  const form = routeFormOf(canary);
  const name = apexName(canary);
  const ref = refOf(form, version, canary);
  const text = `${form.kind} ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  const former = formerRoute(refOf(form === httpForm ? grpcForm : httpForm, version, canary), canary, deps);
  return objectRouter(
    {
      ref,
      resource: `${form.plural}.${group}`,
      failed: (doing, cause) => `${text} ${failedWords(doing, cause)}`,
      begin: () => begin(form, canary, deps),
      former: async () => {
        const route = await former.find();
        return route === undefined ? undefined : liveRoutes(route, canary);
      },
      finish: (view) => former.remove(view),
      traffic: (live) => liveRoutes(live, canary),
      wanted: async (routes, live) => {
        const { labels, annotations } = await metadata();
        const marks = live === undefined ? await former.annotations() : {};
        return wantedRoute(form, routes, live, canary, { labels, annotations: { ...annotations, ...marks } });
      },
      isSame: (live, wanted) => equal(withDefaults(live, form.kind), withDefaults(wanted, form.kind)),
      check: (live) => checkAccepted(live, canary),
    },
    canary,
    deps,
  );
}

/** A GRPCRoute has never been in v1beta1. */
function refOf({ kind }: RouteForm, version: "v1" | "v1beta1", canary: Canary): VersionedRef {
  const { namespace } = canary;
  return { group, version: kind === "GRPCRoute" ? "v1" : version, kind, namespace, name: apexName(canary) };
}

function begin(form: RouteForm, { spec: { service }, name, namespace }: Canary, { log }: StepDeps): void {
  if ((service.gatewayRefs ?? []).length === 0) {
    throw new StepFault("GatewayRefs must be specified when using Gateway API as a provider.");
  }
  form.refuse(service);
  if (service.corsPolicy?.allowOrigins === undefined) return;
  const message = "corsPolicy.allowOrigins is not supported by Gateway API, use corsPolicy.allowOrigin instead";
  log.error(message, { canary: name, namespace });
}

/** Other writers' annotations, such as those of Gateway controllers, survive. */
function wantedRoute(
  form: RouteForm,
  routes: Routes,
  live: LiveObject | undefined,
  canary: Canary,
  { labels, annotations }: RouteMetadata,
): WantedRoute {
  const session = cookiesOf(canary, routes.canary, live === undefined ? {} : liveCookies(live, canary));
  return {
    labels,
    annotations: { ...live?.metadata.annotations, ...annotations },
    spec: routeSpec(form, canary, routes, session?.cookies),
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
