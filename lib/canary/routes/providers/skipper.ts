import { z } from "zod";
import type { LiveObject } from "../../../core/manifest.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { told } from "../../workload/step-objects.ts";
import { annotationJson } from "../../annotation-json.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { sharesOf } from "../weights.ts";
import { copiedAnnotations, ingressSource, secondIngress, withPaths } from "./ingress-source.ts";
import { type Texts, isOwned } from "../../ownership.ts";

const weightsAnnotation = "zalando.org/backend-weights";
const predicateAnnotation = "zalando.org/skipper-predicate";
/** In front of the routes of the user's own Ingress. */
const before = "Weight(100)";
/** At rest the user's own Ingress routes, to the apex Service and so to the primary. */
const disabled = "False()";

const Weights = z.record(z.string(), z.number());

/** Routes by a second Ingress with the Services of both, before that of the user. */
export function skipperRouter(canary: Canary, deps: StepDeps): Router {
  const source = ingressSource(canary, deps, "apexIngress");
  const second = secondIngress(source, canary, "skipper");
  const [primary, ours] = [primaryServiceName(canary), canaryServiceName(canary)];
  return objectRouter(
    {
      ...second.route,
      isLeft: (live) => liveRoutes(live, primary, ours) !== undefined,
      traffic: (live) => liveRoutes(live, primary, ours),
      missing: `${second.text} could not get weights[primarySvcName]`,
      wanted: async (routes, live) => {
        const found = await source.read();
        const others = live?.metadata.annotations ?? copiedAnnotations(found);
        return {
          ...(live === undefined && found.metadata.labels !== undefined ? { labels: found.metadata.labels } : {}),
          annotations: { ...others, ...routeAnnotations(others, routes, primary, ours) },
          spec: withPaths(found, canary, (pathTo) => ({ here: pathTo(primary), last: pathTo(ours) })),
        };
      },
      finalize: async (view) => {
        const live = await view.find("read");
        if (live === undefined || !isOwned(live, canary)) return;
        const options = { uid: live.metadata.uid, propagation: "Background" } as const;
        const deleted = deps.cluster.delete(second.route.ref, options, deps.signal);
        await told(deleted, (cause) => `${second.text} unable to remove canary ingress: ${cause}`);
      },
    },
    canary,
    deps,
  );
}

/** Both ways all requests get to the primary, so it stays on until a run has ended, as in Flagger. */
function routeAnnotations(others: Texts, routes: Routes, primary: string, ours: string): Texts {
  const present = others[weightsAnnotation];
  const predicates = (others[predicateAnnotation] ?? "")
    .split("&&")
    .map((predicate) => predicate.trim())
    .filter((predicate) => predicate !== "" && predicate !== before && predicate !== disabled);
  const shares = [[primary, routes.primary] as const, [ours, routes.canary] as const];
  const weights = JSON.stringify(Object.fromEntries(shares.toSorted(([a], [b]) => (a < b ? -1 : 1))));
  const isOff = routes.canary === 0 && present !== undefined && (present !== weights || isDisabled(others));
  return {
    [weightsAnnotation]: weights,
    [predicateAnnotation]: [isOff ? disabled : before, ...predicates].join(" && "),
  };
}

function isDisabled(annotations: Texts): boolean {
  return annotations[predicateAnnotation]?.includes(disabled) === true;
}

function liveRoutes({ metadata }: LiveObject, primary: string, ours: string): Routes | undefined {
  const weights = Weights.safeParse(annotationJson(metadata.annotations?.[weightsAnnotation])).data;
  const [from, to] = [weights?.[primary], weights?.[ours]];
  return from === undefined || to === undefined ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
