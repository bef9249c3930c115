import { formatJson, isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { apexName, type Canary } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { kubectlAnnotation } from "../../workload/metadata.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { annotationJson } from "../../annotation-json.ts";
import { apexMetadata, type RouteMetadata } from "../apex-metadata.ts";
import { type Doing, objectRouter, type RouteView, type WantedRoute } from "../object-router.ts";
import { flaggerOriginalAnnotation } from "../originals.ts";
import { kept } from "../changed-object.ts";
import type { Router, Routes } from "../router.ts";
import { cookiesOf } from "../session-cookies.ts";
import { ensureDestinationRules } from "./destination-rules.ts";
import { liveCookies, liveRoutes } from "./live-virtual-service.ts";
import { checkDelegation, virtualServiceSpec } from "./virtual-service.ts";
import { isOwned } from "../../ownership.ts";

const group = "networking.istio.io";

/** Routes by a VirtualService of the apex name. */
export function istioRouter(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const name = apexName(canary);
  const text = `VirtualService ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  return objectRouter(
    {
      ref: { group, version: "v1beta1", kind: "VirtualService", namespace: canary.namespace, name },
      resource: `virtualservices.${group}`,
      failed: (doing, cause) => failedText(text, doing, cause),
      begin: async () => {
        checkDelegation(canary);
        await ensureDestinationRules(canary, deps);
      },
      traffic: (live) => liveRoutes(live, canary),
      missing: `${text} does not contain routes for ${name}-primary and ${name}-canary`,
      wanted: async (routes, live) => wantedService(routes, live, canary, await metadata()),
      finalize: (view) => finalize(view, text, canary, deps),
    },
    canary,
    deps,
  );
}

function wantedService(
  routes: Routes,
  live: LiveObject | undefined,
  canary: Canary,
  { labels, annotations }: RouteMetadata,
): WantedRoute {
  const session = cookiesOf(canary, routes.canary, live === undefined ? {} : liveCookies(live, canary));
  const spec = virtualServiceSpec(canary, routes, session?.cookies);
  const changes = session === undefined ? {} : { changes: session.changes };
  if (live === undefined) return { labels, annotations, spec, ...changes };
  const before = live.metadata;
  if (!isOwned(live, canary)) {
    // Not made by the Canary: what it was is kept, once, for the time after the Canary.
    const original = { [flaggerOriginalAnnotation]: formatJson(live["spec"] ?? {}), ...before.annotations };
    return {
      labels: { ...before.labels, ...labels },
      annotations: { ...(kubectlAnnotation in original ? before.annotations : original), ...annotations },
      spec,
      ...changes,
    };
  }
  const keptAnnotations = kept(before.annotations, [kubectlAnnotation, flaggerOriginalAnnotation]);
  return { labels, annotations: { ...annotations, ...keptAnnotations }, spec, ...changes };
}

/** Restores the spec of a VirtualService that the Canary did not create. */
async function finalize(view: RouteView, text: string, canary: Canary, { log }: StepDeps): Promise<void> {
  const live = await view.find("read");
  // An object that is gone, or was never created, does not block the deletion.
  if (live === undefined) return;
  const lastApplied = live.metadata.annotations?.[kubectlAnnotation];
  const original = live.metadata.annotations?.[flaggerOriginalAnnotation];
  if (lastApplied !== undefined) {
    const manifest = annotationJson(lastApplied);
    const spec = isJsonObject(manifest) ? manifest["spec"] : undefined;
    await view.change(live, { spec: specFrom(spec, text, kubectlAnnotation) }, "mend");
  } else if (original !== undefined) {
    await view.change(live, { spec: specFrom(annotationJson(original), text, flaggerOriginalAnnotation) }, "mend");
  } else {
    const message = "original configuration of the VirtualService not found, unable to revert";
    log.warn(message, { canary: canary.name, namespace: canary.namespace });
  }
}

function specFrom(spec: unknown, text: string, annotation: string): JsonObject {
  if (isJsonObject(spec)) return spec;
  throw new StepFault(`${text} failed to unMarshal annotation ${annotation}`);
}

function failedText(text: string, doing: Doing, cause: string): string {
  switch (doing) {
    case "find":
      return `reconcileVirtualService failed: ${text} get query error ${cause}`;
    case "read":
      return `${text} get query error ${cause}`;
    case "create":
      return `reconcileVirtualService failed: ${text} create error: ${cause}`;
    case "mend":
      return `reconcileVirtualService failed: ${text} update error: ${cause}`;
    case "set":
      return `${text} update failed: ${cause}`;
  }
}
