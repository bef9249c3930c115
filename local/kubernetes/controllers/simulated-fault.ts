import { durationPattern, isDurationHeld, parseDuration } from "../../../lib/core/duration.ts";
import type { ApiObject } from "../api-object.ts";
import { objectOf, textOf } from "../rules/json-fields.ts";
import { metadataOf } from "./object-facts.ts";

/** What a workload is told to do wrong, by annotation; it travels down to its Pods. */
export type SimulatedFault =
  | { readonly kind: "none" }
  | { readonly kind: "never-ready" }
  | { readonly kind: "fail" }
  | { readonly kind: "slow"; readonly delayMs: number };

export const faultAnnotation = "local.sluice.dev/simulate";

export function faultText(object: ApiObject): string {
  return textOf(objectOf(metadataOf(object), "annotations"), faultAnnotation);
}

/** The labels of the one node that is simulated. */
const nodeLabels: Readonly<Record<string, string>> = {
  "kubernetes.io/arch": "amd64",
  "kubernetes.io/hostname": "sluice-local",
  "kubernetes.io/os": "linux",
};

/** A text that says nothing known counts as none. A Pod that asks for a node with other labels than ours never runs. */
export function simulatedFault(object: ApiObject): SimulatedFault {
  const text = faultText(object);
  const nodeSelector = objectOf(objectOf(object, "spec"), "nodeSelector") ?? {};
  if (Object.entries(nodeSelector).some(([label, value]) => nodeLabels[label] !== value))
    return { kind: "never-ready" };
  if (text === "never-ready" || text === "fail") return { kind: text };
  const delay = /^slow=(.+)$/.exec(text)?.[1];
  const delayMs = delay === undefined ? undefined : durationMs(delay);
  return delayMs === undefined ? { kind: "none" } : { kind: "slow", delayMs };
}

function durationMs(text: string): number | undefined {
  return new RegExp(durationPattern).test(text) && isDurationHeld(text) ? parseDuration(text) : undefined;
}

/** The annotation to hand on, or none. */
export function handedOn(owner: ApiObject): { readonly [faultAnnotation]: string } | undefined {
  const text = faultText(owner);
  return text === "" ? undefined : { [faultAnnotation]: text };
}
