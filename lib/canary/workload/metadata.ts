import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Canary } from "../canary.ts";
import type { Texts } from "../ownership.ts";
import { objectAt, textAt } from "./fields.ts";

/** Part of the keys by which Flux recognises its objects. No primary has them: it would be reverted or pruned. */
const fluxMarker = "toolkit.fluxcd.io";

/** In the annotations of the primary's pods: a new value rolls them. */
const idKey = "flagger-id";

/** The last `kubectl apply`: the object as it was before the Canary. */
export const kubectlAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

export function withoutFlux(texts: Texts): Texts {
  return filtered(texts, (key) => !key.includes(fluxMarker));
}

/** The labels that `-include-label-prefix` selects; never Flux's. */
export function included(texts: Texts, prefixes: readonly string[]): Texts {
  const isIncluded = (key: string): boolean =>
    prefixes.some((prefix) => prefix === "*" || (prefix !== "" && key.startsWith(prefix)));
  return filtered(withoutFlux(texts), isIncluded);
}

/** The labels with that of the selector as the primary has it. */
export function primaryLabels(labels: Texts, { label, labelValue }: { label: string; labelValue: string }): Texts {
  return { ...withoutFlux(labels), [label]: `${labelValue}-primary` };
}

export function podAnnotations(annotations: Texts, id: string): Texts {
  return { ...withoutFlux(annotations), [idKey]: id };
}

/** The id of the pods of a template; empty without one. */
export function podsIdOf(template: JsonObject): string {
  return textAt(objectAt(template, "metadata", "annotations"), idKey);
}

/**
 * The id of the primary's content, as a UUID. Flagger makes a random one for each promotion. Here it shows which template and configs are
 * promoted in which run: a repeated promotion does not restart the pods once more.
 */
export function idOf({ uid, status }: Pick<Canary, "uid" | "status">, content: unknown): string {
  const begunAt = status.conditions?.find(({ type }) => type === "Promoted")?.lastTransitionTime ?? "";
  const digest = createHash("sha256")
    .update(canonicalJson([uid, begunAt, content]))
    .digest("hex");
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) % 4) + 8).toString(16);
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`];
  return [...parts, `${variant}${digest.slice(17, 20)}`, digest.slice(20, 32)].join("-");
}

function filtered(texts: Texts, isKept: (key: string) => boolean): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => isKept(key)));
}

/** The name of the last manager but us that owns a field of the object or one below it; undefined if there is none. */
export function writerOf({ metadata }: LiveObject, path: readonly string[], own: string): string | undefined {
  const entries = (metadata.managedFields ?? []).filter(
    ({ manager, fieldsV1, subresource = "" }) =>
      manager !== own && subresource !== "status" && fieldsV1 !== undefined && isAt(fieldsV1, path),
  );
  return entries.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? -1 : 1)).at(-1)?.manager;
}

function isAt(fields: JsonObject, path: readonly string[]): boolean {
  const [last = "", ...before] = path.toReversed();
  return Object.hasOwn(objectAt(fields, ...before.toReversed()), last);
}
