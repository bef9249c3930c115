import { z } from "zod";
import { toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata } from "../apex-metadata.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { sharesOf } from "../weights.ts";

const WeightedSpec = z.looseObject({
  weighted: z.looseObject({
    services: z.array(z.looseObject({ name: z.string(), weight: z.number().default(1) })),
  }),
});

/** Routes by a TraefikService of the apex name. The canary is in it only while it has a share. */
export function traefikRouter(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const name = apexName(canary);
  const text = `TraefikService ${name}.${canary.namespace}`;
  const metadata = apexMetadata(canary, target, deps);
  return objectRouter(
    {
      ref: { group: "traefik.io", version: "v1alpha1", kind: "TraefikService", namespace: canary.namespace, name },
      resource: "traefikservices.traefik.io",
      failed: (doing, cause) => {
        const words = { find: "get query error:", read: "query error:", create: "create error:" };
        return `${text} ${{ ...words, mend: "update error:", set: "update error:" }[doing]} ${cause}`;
      },
      begin: () => refuseLacking(canary, "traefik"),
      traffic: (live) => liveRoutes(live, canary),
      missing: `${text} services not found`,
      wanted: async (routes) => ({ ...(await metadata()), spec: weightedSpec(canary, routes) }),
    },
    canary,
    deps,
  );
}

function weightedSpec(canary: Canary, routes: Routes) {
  const { namespace } = canary;
  const { port } = canary.spec.service;
  const ours = { name: canaryServiceName(canary), namespace, port, weight: routes.canary };
  const services = [
    { name: primaryServiceName(canary), namespace, port, weight: routes.primary },
    ...(routes.canary > 0 ? [ours] : []),
  ];
  return toJsonObject({ weighted: { services } });
}

function liveRoutes(service: LiveObject, canary: Canary): Routes | undefined {
  const services = WeightedSpec.safeParse(service["spec"]).data?.weighted.services ?? [];
  const weightOf = (name: string) => services.find((one) => one.name === name)?.weight ?? 0;
  const [from, to] = [weightOf(primaryServiceName(canary)), weightOf(canaryServiceName(canary))];
  return from + to === 0 ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
