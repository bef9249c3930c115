import type { CanaryService } from "../../api/canary.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { StepFault } from "../step-fault.ts";
import { numberAt, objectAt, objectsAt, textAt } from "./fields.ts";
import type { NamedKind } from "./step-objects.ts";
import type { TargetMetadata } from "./workload.ts";

/** Sidecar containers of service meshes: their ports are not the workload's. */
const sidecars = new Set(["istio-proxy", "envoy"]);

/** The label that distinguishes the pods of a target from others (reference canary 5, step 2). Throws a `StepFault` in Flagger's words. */
export function selectorLabel(
  target: LiveObject,
  { noun, closing = "" }: Pick<NamedKind, "noun"> & { readonly closing?: string },
  selectorLabels: readonly string[],
): Pick<TargetMetadata, "label" | "labelValue"> {
  const matchLabels = objectAt(target, "spec", "selector", "matchLabels");
  for (const label of selectorLabels) {
    const labelValue = matchLabels[label];
    if (Object.hasOwn(matchLabels, label) && typeof labelValue === "string") return { label, labelValue };
  }
  const { name, namespace = "" } = target.metadata;
  throw new StepFault(
    `getSelectorLabel failed: ${noun} ${name}.${namespace} spec.selector.matchLabels must contain one of [${selectorLabels.join(" ")}]${closing}`,
  );
}

/** The ports of the containers, without the Service's own (reference canary 2.2, `portDiscovery`). Pure. */
export function discoveredPorts(podSpec: JsonObject, service: CanaryService): ReadonlyMap<string, number> {
  const ports = new Map<string, number>();
  if (service.portDiscovery !== true) return ports;
  for (const container of objectsAt(podSpec, "containers")) {
    const containerName = textAt(container, "name");
    if (sidecars.has(containerName)) continue;
    for (const [index, port] of objectsAt(container, "ports").entries()) {
      const number = numberAt(port, "containerPort");
      const name = textAt(port, "name");
      if (number === undefined || isServicePort({ name, number }, service)) continue;
      ports.set(name === "" ? `tcp-${containerName}-${index}` : name, number);
    }
  }
  return ports;
}

function isServicePort(
  port: { name: string; number: number },
  { port: servicePort, targetPort }: CanaryService,
): boolean {
  if (targetPort === undefined || targetPort === 0 || targetPort === "0") return port.number === servicePort;
  return typeof targetPort === "number" ? port.number === targetPort : port.name === targetPort;
}
