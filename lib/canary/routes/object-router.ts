import { equal, isJsonObject, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import { totalWeight } from "../analysis.ts";
import { canaryManager, type StepDeps } from "../canary-deps.ts";
import type { Canary } from "../canary.ts";
import { refuse, StepFault } from "../step-fault.ts";
import { told } from "../workload/step-objects.ts";
import { givenBack, hasOriginal, isUntouched, type TakeOver } from "./originals.ts";
import { changed, type Wanted } from "./changed-object.ts";
import type { CookieChanges, Router, Routes } from "./router.ts";
import { checkSum, firstWeights } from "./weights.ts";
import { adoption, controllerReference, isOwnerless, foreignRoute, ownedByOthers } from "../ownership.ts";

/** The phases of work on the object, for error texts: looking for it before it is created or repaired, reading its weights, and so on. */
export type Doing = "find" | "read" | "create" | "mend" | "set";

/** The wanted object for these routes. */
export interface WantedRoute extends Wanted {
  readonly changes?: CookieChanges;
}

/** The one object that says where the requests go, as a provider has it. */
export interface RouteObject {
  readonly ref: VersionedRef;
  /** Its kind in URLs with its group, for example `httproutes.gateway.networking.k8s.io`. */
  readonly resource: string;
  /** Flagger's text of a fault. */
  readonly failed: (doing: Doing, cause: string) => string;
  /** The settings in the object; undefined if it has none for this Canary. Other writers may have changed them. */
  readonly traffic: (live: LiveObject) => Routes | undefined;
  /** Told where it says nothing. */
  readonly missing?: string;
  readonly wanted: (routes: Routes, live: LiveObject | undefined) => WantedRoute | Promise<WantedRoute>;
  /** Whether two specs mean the same; deeply equal unless given. */
  readonly isSame?: (live: JsonObject, wanted: JsonObject) => boolean;
  /** Runs before the object is looked for. Throws a {@link StepFault} for a Canary that cannot be routed so. */
  readonly begin?: () => Promise<void> | void;
  /** Where the requests go by the other object that this one replaces. */
  readonly former?: () => Promise<Routes | undefined>;
  /** Runs after the object has its wanted state. */
  readonly finish?: (view: RouteView) => Promise<void>;
  /** Throws a {@link StepFault} while the object has not taken effect. */
  readonly check?: (live: LiveObject) => void;
  /** Why one that is not the Canary's is not written; by its controller unless given. */
  readonly foreign?: (live: LiveObject) => StepFault | undefined;
  /** Set if the object's name is generated for the Canary, so that one of another owner is refused: what to change apart from its name. */
  readonly madeUpBy?: string;
  /** Whether one with such a name and without an owner can only be the Canary's, which was deleted without its objects. */
  readonly isLeft?: (live: LiveObject) => boolean;
  /** Fields apart from metadata and spec, for its creation. */
  readonly extra?: JsonObject;
  /** A cluster-wide object cannot belong to a Canary. */
  readonly isOwnerless?: boolean;
  readonly finalize?: (view: RouteView) => Promise<void>;
}

/** One step's view of the object: it is read once. */
export interface RouteView {
  find(doing: Doing): Promise<LiveObject | undefined>;
  /** Throws a {@link StepFault} if there is none. */
  existing(doing: Doing): Promise<LiveObject>;
  change(live: LiveObject, wanted: Wanted, doing: Doing): Promise<boolean>;
  /** Makes the Canary its owner. */
  adopt(live: LiveObject): Promise<LiveObject>;
  create(wanted: Wanted): Promise<void>;
}

/** A router by one object. All weights are in it, so no request sees one without the other. */
export function objectRouter(route: RouteObject, canary: Canary, deps: StepDeps): Router {
  const view = viewOf(route, canary, deps);
  const faultOf = (live: LiveObject): StepFault | undefined => {
    if (isOwnerless(live) && route.isLeft?.(live) === true) return undefined;
    if (route.madeUpBy !== undefined) return foreignRoute(live, canary, route.madeUpBy);
    return route.foreign === undefined ? ownedByOthers(live, canary) : route.foreign(live);
  };
  return {
    ensure: async ({ takeOver, weight } = {}) => {
      await route.begin?.();
      const found = await view.find("find");
      const first: Routes = { ...firstWeights(canary.status), isMirrored: false };
      if (found === undefined) {
        await view.create(await route.wanted((await route.former?.()) ?? first, undefined));
        deps.log.info("route created", logged(route, canary));
      } else {
        refuse(faultOf(found));
        const live = route.madeUpBy !== undefined && isOwnerless(found) ? await view.adopt(found) : found;
        const routes = route.traffic(live) ?? first;
        const kept = { ...withWeight(routes, weight), isMirrored: routes.isMirrored && isMirroring(canary) };
        const wanted = withoutSame(await route.wanted(kept, live), live, route);
        await keep(live, wanted, canary, takeOver);
        if (await view.change(live, wanted, "mend")) deps.log.info("route updated", logged(route, canary));
      }
      await route.finish?.(view);
    },
    routes: async () => {
      const live = await view.existing("read");
      route.check?.(live);
      const routes = route.traffic(live);
      if (routes !== undefined) return routes;
      throw new StepFault(route.missing ?? route.failed("read", "it has no weights"));
    },
    setRoutes: async (routes) => {
      checkSum(routes);
      const live = await view.existing("read");
      refuse(faultOf(live));
      const wanted = await route.wanted(routes, live);
      await view.change(live, withoutSame(wanted, live, route), "set");
      return wanted.changes ?? {};
    },
    finalize: async () => {
      // If a provider's definitions are gone and nothing has to be restored, the deletion is not blocked.
      const live = hasOriginal(route.ref.kind, route.ref.name, canary) ? await view.find("read") : undefined;
      const original = live === undefined || faultOf(live) !== undefined ? undefined : givenBack(live, canary);
      if (live === undefined || original === undefined) await route.finalize?.(view);
      else await view.change(live, original, "mend");
    },
  };
}

/** Before the first write to a route of another owner. */
async function keep(live: LiveObject, wanted: Wanted, canary: Canary, takeOver: TakeOver | undefined): Promise<void> {
  const isWritten = wanted.spec !== undefined || wanted.annotations !== undefined;
  if (isWritten && isUntouched(live, canary)) await takeOver?.(live);
}

function withWeight(routes: Routes, weight: number | undefined): Routes {
  return weight === undefined ? routes : { ...routes, primary: totalWeight - weight, canary: weight };
}

function viewOf(route: RouteObject, canary: Canary, { cluster, signal, ...deps }: StepDeps): RouteView {
  const { ref } = route;
  let known: Promise<LiveObject | undefined> | undefined;
  const failed = (doing: Doing) => (cause: string) => route.failed(doing, cause);
  const find = (doing: Doing) => {
    known ??= told(cluster.get(ref, signal), failed(doing));
    return known;
  };
  return {
    find,
    existing: async (doing) => {
      const live = await find(doing);
      if (live !== undefined) return live;
      throw new StepFault(route.failed(doing, `${route.resource} "${ref.name}" not found`));
    },
    change: async (live, wanted, doing) => {
      const after = await told(changed(live, wanted, { cluster, signal, ...deps }), failed(doing));
      known = Promise.resolve(after);
      return after !== live;
    },
    adopt: async (live) => {
      const patch = { type: "merge", body: adoption(live, canary) } as const;
      const after = await told(cluster.patch(ref, patch, { manager: canaryManager }, signal), failed("mend"));
      known = Promise.resolve(after);
      return after;
    },
    create: async ({ labels, annotations, spec }) => {
      const manifest = {
        apiVersion: ref.group === "" ? ref.version : `${ref.group}/${ref.version}`,
        kind: ref.kind,
        metadata: {
          name: ref.name,
          ...(ref.namespace === "" ? {} : { namespace: ref.namespace }),
          ...(labels === undefined ? {} : { labels }),
          ...(annotations === undefined ? {} : { annotations }),
          ...(route.isOwnerless === true ? {} : { ownerReferences: [controllerReference(canary)] }),
        },
        ...route.extra,
        spec,
      };
      const created = await told(cluster.create(manifest, { manager: canaryManager }, signal), failed("create"));
      known = Promise.resolve(created);
    },
  };
}

function withoutSame({ labels, annotations, spec }: WantedRoute, live: LiveObject, route: RouteObject): Wanted {
  const isSame = route.isSame ?? equal;
  const isKept = spec === undefined || (isJsonObject(live["spec"]) && isSame(live["spec"], spec));
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(isKept ? {} : { spec }),
  };
}

/** The phases in which a mirror of requests stays (reference canary 9). */
function isMirroring({ analysis, status }: Canary): boolean {
  const { phase } = status;
  return analysis.mirror === true && (phase === "Waiting" || phase === "Progressing" || phase === "WaitingPromotion");
}

function logged({ ref }: RouteObject, { name, namespace }: Canary) {
  return { canary: name, namespace, kind: ref.kind, name: ref.name };
}
