import { z } from "zod";
import type { CanaryService } from "../../api/canary.ts";
import { equal, isJsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { canaryManager, type StepDeps } from "../canary-deps.ts";
import { apexName, type Canary, canaryServiceName, canaryText, primaryServiceName } from "../canary.ts";
import { refuse, StepFault } from "../step-fault.ts";
import { told } from "../workload/step-objects.ts";
import type { TargetMetadata } from "../workload/workload.ts";
import { isGivenBack, leadsTo } from "./apex-given-back.ts";
import { changed, kept, type Wanted as Change } from "./changed-object.ts";
import { isUntouched, type TakeOver } from "./originals.ts";
import {
  type Texts,
  controllerOf,
  controllerReference,
  fluxAnnotations,
  isOwned,
  foreignRoute,
  ownedByOthers,
} from "../ownership.ts";
import type { Services } from "./router.ts";

/** One of the three Services, as it is to be. */
interface Wanted {
  readonly name: string;
  /** The value of the selector's label. */
  readonly selected: string;
  readonly metadata: CanaryService["apex"];
}

const Port = z.looseObject({ name: z.string().optional(), port: z.number(), nodePort: z.number().optional() });
type Port = z.infer<typeof Port>;
const ServiceSpec = z.looseObject({
  ports: z.array(Port).optional(),
  selector: z.unknown().optional(),
  type: z.string().optional(),
});

/** If the target is a Service, its workload makes copies of it instead. */
const noServices: Services = { ensureOwn: async () => {}, ensureApex: async () => {}, finalize: async () => {} };

/** The Services of apex, primary and canary (reference canary 8). One request reads the Services that the Canary has created. */
export function servicesOf(canary: Canary, target: TargetMetadata, deps: StepDeps): Services {
  if (canary.spec.targetRef.kind === "Service") return noServices;
  const { label, labelValue } = target;
  const { service } = canary.spec;
  const apex = apexName(canary);
  const primaryValue = `${labelValue}-primary`;
  const live = liveServices(canary, label, deps);
  const ensure = (wanted: Wanted, takeOver?: TakeOver) =>
    ensureService(wanted, { canary, target, deps, live, takeOver });
  return {
    ensureOwn: async () => {
      await refuseUnfit(apex, { canary, live });
      await ensure({ name: `${apex}-canary`, selected: labelValue, metadata: service.canary });
      await ensure({ name: `${apex}-primary`, selected: primaryValue, metadata: service.primary });
    },
    ensureApex: (takeOver) => ensure({ name: apex, selected: primaryValue, metadata: service.apex }, takeOver),
    finalize: async () => {
      const found = await live.get(apex, (cause) => `service ${apex}.${canary.namespace} get query error: ${cause}`);
      // An object that is gone, or was never created, does not block the deletion.
      if (found === undefined || controllerOf(found)?.kind === "Canary" || isExternal(found)) return;
      if (await isGivenBack(found, { canary, primary: { [label]: primaryValue }, deps })) return;
      await ensure({ name: apex, selected: labelValue, metadata: undefined });
    },
  };
}

interface Context {
  readonly canary: Canary;
  readonly target: TargetMetadata;
  readonly deps: StepDeps;
  readonly live: LiveServices;
  readonly takeOver?: TakeOver | undefined;
}

/** Checks before anything is written: Services of other owners that would be overwritten, and an apex that selects no pods. */
async function refuseUnfit(apex: string, { canary, live }: Pick<Context, "canary" | "live">): Promise<void> {
  for (const name of [canaryServiceName(canary), primaryServiceName(canary)]) {
    const found = await live.get(name, failedRead(name));
    if (found !== undefined) refuse(foreignRoute(found, canary, "give spec.service.name another value"));
  }
  const found = await live.get(apex, failedRead(apex));
  if (found === undefined || !isExternal(found)) return;
  throw new StepFault(
    `Service ${apex}.${canary.namespace} is of type ExternalName and selects no pods, so Canary ${canaryText(canary)} cannot ` +
      "lead it to the primary: change its type to ClusterIP, delete it, or give spec.service.name another value",
  );
}

function isExternal(service: LiveObject): boolean {
  return ServiceSpec.safeParse(service["spec"]).data?.type === "ExternalName";
}

function failedRead(name: string): (cause: string) => string {
  return (cause) => `reconcileService failed: service ${name} get query error: ${cause}`;
}

interface LiveServices {
  get(name: string, text: (cause: string) => string): Promise<LiveObject | undefined>;
  written(service: LiveObject): void;
}

/** The Services that the Canary has created have its labels, so one list finds them; any other is read by its name. */
function liveServices(canary: Canary, label: string, { cluster, signal }: StepDeps): LiveServices {
  const { namespace } = canary;
  const apex = apexName(canary);
  const labelSelector = `${label} in (${apex},${apex}-primary,${apex}-canary)`;
  let listed: Promise<Map<string, LiveObject | undefined>> | undefined;
  const list = async () => {
    const found = await cluster.list({ group: "", version: "v1", kind: "Service", namespace, labelSelector }, signal);
    return new Map<string, LiveObject | undefined>(found.map((service) => [service.metadata.name, service]));
  };
  return {
    get: async (name, text) => {
      listed ??= list();
      const known = await told(listed, text);
      if (!known.has(name)) {
        const found = await told(
          cluster.get({ group: "", version: "v1", kind: "Service", namespace, name }, signal),
          text,
        );
        known.set(name, found);
      }
      return known.get(name);
    },
    written: (service) => {
      listed = listed?.then((known) => new Map(known).set(service.metadata.name, service));
    },
  };
}

async function ensureService(wanted: Wanted, context: Context): Promise<void> {
  const { canary, deps, live } = context;
  const { name } = wanted;
  const failed = (what: string) => (cause: string) => `reconcileService failed: service ${what}: ${cause}`;
  const found = await live.get(name, failedRead(name));
  const spec = serviceSpec(wanted, context);
  if (found === undefined) {
    const manifest = {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name,
        namespace: canary.namespace,
        ...ownMetadata(wanted, context),
        ownerReferences: [controllerReference(canary)],
      },
      spec,
    };
    const creation = deps.cluster.create(manifest, { manager: canaryManager }, deps.signal);
    live.written(await told(creation, failed(`${name}.${canary.namespace} create error`)));
    deps.log.info("service created", { canary: canary.name, namespace: canary.namespace, service: name });
    return;
  }
  // Another Canary's: each would point it to its own pods in turn.
  if (controllerOf(found)?.kind === "Canary") refuse(ownedByOthers(found, canary));
  const change = mended(found, wanted, context);
  // A Service that points there already was taken over without a record: its present selector is not the original.
  const isTaken = change.spec !== undefined && !leadsTo(spec.selector, found["spec"]);
  if (isTaken && isUntouched(found, canary)) await context.takeOver?.(found);
  const after = await told(changed(found, change, deps), failed(`${name} update error`));
  if (after === found) return;
  live.written(after);
  deps.log.info("service updated", { canary: canary.name, namespace: canary.namespace, service: name });
}

function ownMetadata({ name, metadata }: Wanted, { target }: Context): { labels: Texts; annotations: Texts } {
  return {
    labels: { ...metadata?.labels, [target.label]: name },
    annotations: { ...metadata?.annotations, ...fluxAnnotations },
  };
}

function serviceSpec({ selected }: Wanted, { canary, target }: Context) {
  const {
    port,
    portName = "",
    targetPort = 0,
    appProtocol = "",
    trafficDistribution = "",
    headless,
  } = canary.spec.service;
  const first = {
    name: portName === "" ? "http" : portName,
    protocol: "TCP",
    port,
    targetPort: targetPort === 0 || targetPort === "0" ? port : targetPort,
    ...(appProtocol === "" ? {} : { appProtocol }),
  };
  const others = [...target.ports].map(([name, number]) => ({
    name,
    protocol: "TCP",
    port: number,
    targetPort: number,
  }));
  return {
    type: "ClusterIP",
    selector: { [target.label]: selected },
    ports: [first, ...others],
    ...(headless === true ? { clusterIP: "None" } : {}),
    ...(trafficDistribution === "" ? {} : { trafficDistribution }),
  };
}

/** Selector and ports of any Service, labels and annotations of one that the Canary has made. */
function mended(found: LiveObject, wanted: Wanted, context: Context): Change {
  const { selector, ports } = serviceSpec(wanted, context);
  const spec = ServiceSpec.safeParse(found["spec"]).data ?? { selector: undefined };
  const livePorts = spec.ports ?? [];
  const wantedPorts = ports.map((port) => withNodePort(port, livePorts));
  const isRouted = equal(byNumber(wantedPorts), byNumber(livePorts)) && equal(selector, spec.selector);
  const before = isJsonObject(found["spec"]) ? found["spec"] : {};
  const routed = isRouted ? {} : { spec: toJsonObject({ ...before, ports: wantedPorts, selector }) };
  if (isOwned(found, context.canary)) return { ...routed, ...managedMetadata(found, wanted, context) };
  return isRouted ? {} : { ...routed, annotations: { ...found.metadata.annotations, ...fluxAnnotations } };
}

function managedMetadata({ metadata }: LiveObject, wanted: Wanted, context: Context) {
  const { labels, annotations } = ownMetadata(wanted, context);
  const unmanaged = context.canary.spec.service.unmanagedMetadata;
  return {
    labels: { ...labels, ...kept(metadata.labels, unmanaged?.labels) },
    annotations: { ...annotations, ...kept(metadata.annotations, unmanaged?.annotations) },
  };
}

function withNodePort(port: Port, live: readonly Port[]): Port {
  const nodePort = live.find(({ name }) => name === port.name)?.nodePort ?? 0;
  return nodePort > 0 ? { ...port, nodePort } : port;
}

function byNumber(ports: readonly Port[]): readonly Port[] {
  return ports.toSorted((a, b) => a.port - b.port);
}
