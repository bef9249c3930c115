import { equal, isJsonObject, type JsonObject, toJsonObject } from "../../../core/json.ts";
import { canaryManager, type StepDeps } from "../../canary-deps.ts";
import { type Canary, apexName, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { refuse, StepFault } from "../../step-fault.ts";
import { objectAt, textAt } from "../../workload/fields.ts";
import { told } from "../../workload/step-objects.ts";
import { changed } from "../changed-object.ts";
import { adoption, controllerReference, isOwnerless, foreignRoute } from "../../ownership.ts";

const ref = { group: "gloo.solo.io", version: "v1", kind: "Upstream" };

/** The parts that an Upstream of a Canary takes from the one in `upstreamRef`. */
const configuredFields = [
  "labels",
  "sslConfig",
  "circuitBreakers",
  "connectionConfig",
  "loadBalancerConfig",
  "useHttp2",
  "initialStreamWindowSize",
  "initialConnectionWindowSize",
  "httpProxyHostName",
];

export function primaryUpstream(canary: Canary): string {
  return `${canary.namespace}-${apexName(canary)}-primaryupstream-${canary.spec.service.port}`;
}

export function canaryUpstream(canary: Canary): string {
  return `${canary.namespace}-${apexName(canary)}-canaryupstream-${canary.spec.service.port}`;
}

/** The Upstreams of primary and canary. They exist before a route uses them. */
export async function ensureUpstreams(canary: Canary, deps: StepDeps): Promise<void> {
  const { upstreamRef } = canary.spec;
  const config = upstreamRef === undefined ? {} : await configOf(upstreamRef, canary, deps);
  await ensureUpstream(primaryUpstream(canary), primaryServiceName(canary), "primary", config, canary, deps);
  await ensureUpstream(canaryUpstream(canary), canaryServiceName(canary), "canary", config, canary, deps);
}

async function configOf(
  { name, namespace }: { readonly name: string; readonly namespace?: string },
  canary: Canary,
  { cluster, signal, settings }: StepDeps,
): Promise<JsonObject> {
  const where = namespace ?? canary.namespace;
  if (settings.noCrossNamespaceRefs && where !== canary.namespace) {
    throw new StepFault(`can't access gloo upstream ${name}.${where}, cross-namespace references are blocked`);
  }
  const text = (cause: string) =>
    `error creating flagger primary upstream: config upstream ${name}.${canary.namespace} get query error: ${cause}`;
  const config = await told(cluster.get({ ...ref, namespace: where, name }, signal), text);
  if (config === undefined) throw new StepFault(text(`upstreams.gloo.solo.io "${name}" not found`));
  const spec = isJsonObject(config["spec"]) ? config["spec"] : {};
  return Object.fromEntries(Object.entries(spec).filter(([field]) => configuredFields.includes(field)));
}

async function ensureUpstream(
  name: string,
  service: string,
  what: string,
  config: JsonObject,
  canary: Canary,
  deps: StepDeps,
): Promise<void> {
  const { cluster, signal } = deps;
  const { namespace } = canary;
  const failed = (doing: string) => (cause: string) =>
    `error creating flagger ${what} upstream: upstream ${name}.${namespace} ${doing} error: ${cause}`;
  const live = await told(cluster.get({ ...ref, namespace, name }, signal), failed("get query"));
  if (live === undefined) {
    const kube = await kubeUpstream(service, what, canary, deps);
    const manifest = {
      apiVersion: "gloo.solo.io/v1",
      kind: ref.kind,
      metadata: { name, namespace, ownerReferences: [controllerReference(canary)] },
      spec: toJsonObject({ ...config, kube }),
    };
    await told(cluster.create(manifest, { manager: canaryManager }, signal), failed("create query"));
    return;
  }
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  // Its Canary was deleted without its objects.
  if (isOwnerless(live) && textAt(objectAt(spec, "kube"), "serviceName") === service) {
    const patch = { type: "merge", body: adoption(live, canary) } as const;
    await told(cluster.patch({ ...ref, namespace, name }, patch, { manager: canaryManager }, signal), failed("patch"));
  } else refuse(foreignRoute(live, canary, "give spec.service.name another value"));
  const { loadBalancerConfig } = config;
  if (loadBalancerConfig === undefined || equal(loadBalancerConfig, spec["loadBalancerConfig"])) return;
  await told(changed(live, { spec: { ...spec, loadBalancerConfig } }, deps), failed("spec patch"));
}

async function kubeUpstream(
  service: string,
  what: string,
  { namespace, spec }: Canary,
  { cluster, signal }: StepDeps,
): Promise<object> {
  const text = (cause: string) =>
    `error creating flagger ${what} upstream: service ${service}.${namespace} get query error: ${cause}`;
  const found = await told(
    cluster.get({ group: "", version: "v1", kind: "Service", namespace, name: service }, signal),
    text,
  );
  if (found === undefined) throw new StepFault(text(`services "${service}" not found`));
  const selector = isJsonObject(found["spec"]) ? found["spec"]["selector"] : undefined;
  return { serviceName: service, serviceNamespace: namespace, servicePort: spec.service.port, selector };
}
