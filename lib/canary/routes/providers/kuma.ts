import { z } from "zod";
import { toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { apexName, type Canary, canaryServiceName, canaryText, primaryServiceName } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { told } from "../../workload/step-objects.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { apexMetadata } from "../apex-metadata.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { sharesOf } from "../weights.ts";
import { isTakenOver } from "../../ownership.ts";

const serviceTag = "kuma.io/service";

const Match = z.record(z.string(), z.string());
const RouteSpec = z.looseObject({
  destinations: z.array(z.looseObject({ match: Match })).default([]),
  conf: z.looseObject({ split: z.array(z.looseObject({ weight: z.number(), destination: Match })).default([]) }),
});

/** Routes by a TrafficRoute of the apex name. It is cluster-wide, so it cannot belong to the Canary. */
export function kumaRouter(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const name = apexName(canary);
  const text = `TrafficRoute ${name}`;
  const metadata = apexMetadata(canary, target, deps);
  const ref = { group: "kuma.io", version: "v1alpha1", kind: "TrafficRoute", namespace: "", name };
  const [primary, ours] = [primaryServiceName(canary), canaryServiceName(canary)];
  const isOurs = (live: LiveObject) =>
    RouteSpec.safeParse(live["spec"]).data?.destinations[0]?.match[serviceTag] === serviceOf(name, canary);
  return objectRouter(
    {
      ref,
      resource: "trafficroutes.kuma.io",
      failed: (doing, cause) => {
        const words = { find: "get query error:", read: "get query error", create: "create error:" };
        return `${text} ${{ ...words, mend: "update error:", set: "update error" }[doing]} ${cause}`;
      },
      begin: () => refuseLacking(canary, "kuma"),
      traffic: (live) => liveRoutes(live, canary),
      missing: `${text} does not contain routes for ${primary} and ${ours}`,
      wanted: async (routes) => ({ ...(await metadata()), spec: routeSpec(canary, routes) }),
      isOwnerless: true,
      extra: { mesh: canary.live.metadata.annotations?.["kuma.io/mesh"] ?? "default" },
      foreign: (live) => {
        if (isOurs(live)) return undefined;
        return new StepFault(
          `${text} is about another Service, and Canary ${canaryText(canary)} does not write it: ` +
            "the name is taken in the whole cluster, so give spec.service.name another value",
        );
      },
      // Nothing else deletes it, and the primary that it points to is deleted.
      finalize: async (view) => {
        const live = await view.find("read");
        if (live === undefined || !isOurs(live) || !isTakenOver(live)) return;
        const options = { uid: live.metadata.uid, propagation: "Background" } as const;
        await told(deps.cluster.delete(ref, options, deps.signal), (cause) => `${text} delete error: ${cause}`);
      },
    },
    canary,
    deps,
  );
}

function serviceOf(name: string, { namespace, spec }: Canary): string {
  return `${name}_${namespace}_svc_${spec.service.port}`;
}

function routeSpec(canary: Canary, routes: Routes) {
  const to = (name: string) => ({ [serviceTag]: serviceOf(name, canary) });
  return toJsonObject({
    sources: [{ match: { [serviceTag]: "*" } }],
    destinations: [{ match: to(apexName(canary)) }],
    conf: {
      split: [
        { weight: routes.primary, destination: to(primaryServiceName(canary)) },
        { weight: routes.canary, destination: to(canaryServiceName(canary)) },
      ],
    },
  });
}

function liveRoutes(route: LiveObject, canary: Canary): Routes | undefined {
  const { conf } = RouteSpec.safeParse(route["spec"]).data ?? {};
  const weightOf = (name: string) =>
    conf?.split.find(({ destination }) => destination[serviceTag]?.split("_")[0] === name)?.weight ?? 0;
  const [from, to] = [weightOf(primaryServiceName(canary)), weightOf(canaryServiceName(canary))];
  return from + to === 0 ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
