import { equal, isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { VersionedRef } from "../../../core/object-ref.ts";
import { apexName, type Canary } from "../../canary.ts";
import { canaryManager, type StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import {
  changed,
  fluxAnnotations,
  isOwned,
  kept,
  ownedBy,
  refuseOwnedByOthers,
  told,
  type Words,
} from "../owned-objects.ts";
import type { CookieChanges, Router, Routes } from "../router.ts";
import { type SessionCookies, sessionCookies } from "../session-cookies.ts";
import { checkSum, firstWeights } from "../weights.ts";
import { checkAccepted, type LiveTraffic, liveTraffic } from "./live-route.ts";
import { routeSpec, withDefaults } from "./route-spec.ts";

const group = "gateway.networking.k8s.io";

/** One step's view of the HTTPRoute. */
interface Context {
  readonly canary: Canary;
  readonly target: TargetMetadata;
  readonly deps: StepDeps;
  readonly ref: VersionedRef;
  /** `HTTPRoute name.namespace`, as messages name it. */
  readonly text: string;
  readonly read: () => Promise<LiveObject | undefined>;
  readonly wrote: (route: LiveObject) => void;
}

/** Routes by an HTTPRoute of the apex name (reference canary 9). */
export function gatewayRouter(
  canary: Canary,
  target: TargetMetadata,
  deps: StepDeps,
  version: "v1" | "v1beta1",
): Router {
  const name = apexName(canary);
  const ref: VersionedRef = { group, version, kind: "HTTPRoute", namespace: canary.namespace, name };
  const text = `HTTPRoute ${name}.${canary.namespace}`;
  let known: Promise<LiveObject | undefined> | undefined;
  const read = () => {
    known ??= told(deps.cluster.get(ref, deps.signal), (cause) => `${text} get error: ${cause}`);
    return known;
  };
  const wrote = (route: LiveObject) => {
    known = Promise.resolve(route);
  };
  const context: Context = { canary, target, deps, ref, text, read, wrote };
  return {
    ensure: () => ensure(context),
    routes: async () => {
      const route = await existing(context);
      checkAccepted(route, canary);
      const { primary, canary: share, isMirrored } = liveTraffic(route, canary);
      return { primary, canary: share, isMirrored };
    },
    setRoutes: (routes) => setRoutes(routes, context),
    // The route belongs to the Canary, so the cluster deletes it.
    finalize: async () => {},
  };
}

async function ensure(context: Context): Promise<void> {
  const { canary, deps, text } = context;
  const { service } = canary.spec;
  if ((service.gatewayRefs ?? []).length === 0) {
    throw new StepFault("GatewayRefs must be specified when using Gateway API as a provider.");
  }
  if (Array.isArray(service.corsPolicy?.["allowOrigins"])) {
    deps.log.error("corsPolicy.allowOrigins is not supported by Gateway API, use corsPolicy.allowOrigin instead", {
      canary: canary.name,
      namespace: canary.namespace,
    });
  }
  const first: Routes = { ...firstWeights(canary.status), isMirrored: false };
  const initial = routeSpec(canary, first, cookiesOf(first.canary, {}, canary)?.cookies);
  const route = await context.read();
  const own = await ownMetadata(context);
  if (route === undefined) {
    await create(initial, own, context);
    return;
  }
  refuseOwnedByOthers(route, canary);
  const { isWhole, ...live } = liveTraffic(route, canary);
  const spec = specOf({ ...live, isMirrored: live.isMirrored && isMirroring(canary) }, live.cookies, context).spec;
  const annotations = { ...route.metadata.annotations, ...own.annotations };
  const isSame = isWhole && sameSpec(route, spec);
  const after = await told(
    changed(route, { labels: own.labels, annotations, ...(isSame ? {} : { spec }) }, deps),
    (cause) => `${text} update error: ${cause} while reconciling`,
  );
  if (after === route) return;
  context.wrote(after);
  deps.log.info("HTTPRoute updated", { canary: canary.name, namespace: canary.namespace });
}

async function setRoutes(routes: Routes, context: Context): Promise<CookieChanges> {
  checkSum(routes);
  const { canary, deps, text } = context;
  const route = await existing(context);
  refuseOwnedByOthers(route, canary);
  const { spec, changes } = specOf(routes, liveTraffic(route, canary).cookies, context);
  if (sameSpec(route, spec)) return changes;
  // All weights and cookies are in one object, so no request sees one without the other.
  const after = await told(
    changed(route, { spec }, deps),
    (cause) => `${text} update error: ${cause} while setting weights`,
  );
  context.wrote(after);
  return changes;
}

async function existing({ read, ref, text }: Context): Promise<LiveObject> {
  const route = await read();
  if (route !== undefined) return route;
  throw new StepFault(`${text} get error: httproutes.${group} "${ref.name}" not found`);
}

async function create(spec: JsonObject, own: OwnMetadata, context: Context): Promise<void> {
  const { canary, deps, ref, text } = context;
  const manifest = {
    apiVersion: `${group}/${ref.version}`,
    kind: ref.kind,
    metadata: { name: ref.name, namespace: ref.namespace, ...own, ownerReferences: ownedBy(canary) },
    spec,
  };
  const creation = deps.cluster.create(manifest, { manager: canaryManager }, deps.signal);
  context.wrote(await told(creation, (cause) => `${text} create error: ${cause}`));
  deps.log.info("HTTPRoute created", { canary: canary.name, namespace: canary.namespace });
}

interface OwnMetadata {
  readonly labels: Words;
  readonly annotations: Words;
}

/** With `service.apex`, the route has what the apex Service has (reference canary 9). */
async function ownMetadata({ canary, target, deps, ref }: Context): Promise<OwnMetadata> {
  const { apex, unmanagedMetadata } = canary.spec.service;
  if (apex === undefined) return { labels: {}, annotations: fluxAnnotations };
  const hasServices = canary.spec.targetRef.kind !== "Service";
  const service =
    unmanagedMetadata === undefined || !hasServices
      ? undefined
      : await told(
          deps.cluster.get({ ...ref, group: "", version: "v1", kind: "Service" }, deps.signal),
          (cause) => `service ${ref.name} get query error: ${cause}`,
        );
  const unmanaged = service !== undefined && isOwned(service, canary) ? service.metadata : undefined;
  return {
    labels: {
      ...apex.labels,
      ...(hasServices ? { [target.label]: ref.name } : {}),
      ...kept(unmanaged?.labels, unmanagedMetadata?.labels),
    },
    annotations: {
      ...apex.annotations,
      ...fluxAnnotations,
      ...kept(unmanaged?.annotations, unmanagedMetadata?.annotations),
    },
  };
}

function specOf(routes: Routes, written: LiveTraffic["cookies"], { canary }: Context) {
  const session = cookiesOf(routes.canary, written, canary);
  return { spec: routeSpec(canary, routes, session?.cookies), changes: session?.changes ?? {} };
}

function cookiesOf(
  weight: number,
  written: LiveTraffic["cookies"],
  canary: Canary,
): { readonly cookies: SessionCookies; readonly changes: CookieChanges } | undefined {
  const affinity = canary.analysis.sessionAffinity;
  return affinity === undefined ? undefined : sessionCookies(canary, affinity, weight, written);
}

/** The phases in which a mirror of requests stays (reference canary 9). */
function isMirroring({ analysis, status }: Canary): boolean {
  const { phase } = status;
  return analysis.mirror === true && (phase === "Waiting" || phase === "Progressing" || phase === "WaitingPromotion");
}

function sameSpec(route: LiveObject, spec: JsonObject): boolean {
  const live = route["spec"];
  return isJsonObject(live) && equal(withDefaults(live), withDefaults(spec));
}
