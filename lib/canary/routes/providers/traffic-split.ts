import { z } from "zod";
import { toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { sharesOf } from "../weights.ts";

const group = "split.smi-spec.io";

const SplitSpec = z.looseObject({
  // In v1alpha1 a weight is a quantity, which the API server returns as text.
  backends: z.array(z.looseObject({ service: z.string(), weight: z.coerce.number().int() })),
});

/** The parts of TrafficSplits that differ between providers. */
export interface SplitProvider {
  /** As the Canary names it. */
  readonly provider: string;
  readonly version: "v1alpha1" | "v1alpha2" | "v1alpha3";
  /** The mesh behind `smi:<version>:`. */
  readonly mesh: string;
}

/** Routes by a TrafficSplit of the apex name: Linkerd, Open Service Mesh and other meshes with the Service Mesh Interface. */
export function trafficSplitRouter(canary: Canary, deps: StepDeps, { provider, version, mesh }: SplitProvider): Router {
  const name = apexName(canary);
  const text = `TrafficSplit ${name}.${canary.namespace}`;
  const [primary, ours] = [primaryServiceName(canary), canaryServiceName(canary)];
  return objectRouter(
    {
      ref: { group, version, kind: "TrafficSplit", namespace: canary.namespace, name },
      resource: `trafficsplits.${group}`,
      failed: (doing, cause) => {
        const words = { find: "get query error:", read: "get query error", create: "create error:" };
        const all = { ...words, mend: "update error:", set: "update error" };
        return `${text} ${all[doing]} ${cause}`;
      },
      begin: () => refuseLacking(canary, provider),
      traffic: (live) => liveRoutes(live, primary, ours),
      missing: `${text} does not contain routes for ${primary} and ${ours}`,
      wanted: (routes, live) => ({
        ...(live === undefined ? { annotations: gatewayAnnotations(canary, mesh) } : {}),
        spec: splitSpec(canary, routes, version),
      }),
    },
    canary,
    deps,
  );
}

function splitSpec(canary: Canary, routes: Routes, version: string) {
  const weight = (percent: number) => (version === "v1alpha1" ? String(percent) : percent);
  return toJsonObject({
    service: canary.spec.service.hosts?.[0] ?? apexName(canary),
    backends: [
      { service: canaryServiceName(canary), weight: weight(routes.canary) },
      { service: primaryServiceName(canary), weight: weight(routes.primary) },
    ],
  });
}

function liveRoutes(split: LiveObject, primary: string, ours: string): Routes | undefined {
  const { backends = [] } = SplitSpec.safeParse(split["spec"]).data ?? {};
  const weightOf = (name: string) => backends.find(({ service }) => service === name)?.weight ?? 0;
  const [from, to] = [weightOf(primary), weightOf(ours)];
  return from + to === 0 ? undefined : { ...sharesOf(from, to), isMirrored: false };
}

/** Istio's adapter of the Service Mesh Interface uses it to attach the split to gateways. */
function gatewayAnnotations({ spec }: Canary, mesh: string): Record<string, string> {
  const { gateways = [] } = spec.service;
  if (mesh !== "istio" || gateways.length === 0) return {};
  return { "VirtualService.v1alpha3.networking.istio.io/spec.gateways": JSON.stringify(gateways) };
}
