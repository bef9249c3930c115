import type { ApiObject } from "../core/api-object.ts";
import { objectOf, textOf } from "../core/json-fields.ts";
import { metadataOf } from "./object-facts.ts";

/** The fault that an annotation asks a workload, or its Pod template, to simulate; the annotation is copied down to its Pods. */
export type SimulatedFault =
  | { readonly kind: "none" }
  | { readonly kind: "never-ready" }
  | { readonly kind: "fail" }
  /** Only Pods with a container whose image has this tag fail. */
  | { readonly kind: "fail-image"; readonly tag: string }
  | { readonly kind: "slow"; readonly delayMs: number };

export const faultAnnotation = "local.sluice.dev/simulate";

/** What the object's own annotation says; empty without one. */
export function faultText(object: ApiObject): string {
  return textOf(objectOf(metadataOf(object), "annotations"), faultAnnotation);
}

/** What the annotation of a workload's Pod template says. */
export function templateFaultText(workload: ApiObject): string {
  const metadata = objectOf(objectOf(objectOf(workload, "spec"), "template"), "metadata");
  return textOf(objectOf(metadata, "annotations"), faultAnnotation);
}

/** The labels of the one node that is simulated. */
const nodeLabels: Readonly<Record<string, string>> = {
  "kubernetes.io/arch": "amd64",
  "kubernetes.io/hostname": "sluice-local",
  "kubernetes.io/os": "linux",
};

/** A text that says nothing known counts as none. A Pod that asks for a node with other labels than ours never runs. */
export function simulatedFault(object: ApiObject): SimulatedFault {
  const text = faultText(object) || templateFaultText(object);
  const nodeSelector = objectOf(objectOf(object, "spec"), "nodeSelector") ?? {};
  if (Object.entries(nodeSelector).some(([label, value]) => nodeLabels[label] !== value))
    return { kind: "never-ready" };
  if (text === "never-ready" || text === "fail") return { kind: text };
  const tag = /^fail-image=([A-Za-z0-9_.-]+)$/.exec(text)?.[1];
  if (tag !== undefined) return { kind: "fail-image", tag };
  const delay = /^slow=(.+)$/.exec(text)?.[1];
  const delayMs = delay === undefined ? undefined : durationMs(delay);
  return delayMs === undefined ? { kind: "none" } : { kind: "slow", delayMs };
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The longest duration that Go holds: 2^63 nanoseconds. */
const longestMs = 2 ** 63 / 1e6;

/** Milliseconds of `5s`, `1m30s` or `1.5h`; undefined for anything else. */
function durationMs(text: string): number | undefined {
  if (!/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMs[unit] ?? 0), 0);
  return ms < longestMs ? ms : undefined;
}

/** The annotation to hand on, or none. */
export function handedOn(owner: ApiObject): { readonly [faultAnnotation]: string } | undefined {
  const text = faultText(owner);
  return text === "" ? undefined : { [faultAnnotation]: text };
}
