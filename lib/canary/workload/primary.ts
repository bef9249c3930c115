import type { JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import type { Canary } from "../canary.ts";
import { primaryName } from "../canary.ts";
import type { CanarySettings } from "../settings.ts";
import { objectAt, only, textsOf, without } from "./fields.ts";
import { idOf, included, podAnnotations, podsIdOf, primaryLabels, withoutFlux } from "./metadata.ts";
import type { PodKind } from "./pod-kind.ts";
import { withCopies } from "./primary-pods.ts";
import { type Texts, controllerReference } from "../ownership.ts";
import type { TrackedConfig } from "./tracked-configs.ts";
import type { TargetMetadata } from "./workload.ts";

/** The parts from which a primary is made, apart from its target. */
export interface PrimaryParts {
  readonly kind: PodKind;
  readonly selector: Pick<TargetMetadata, "label" | "labelValue">;
  readonly configs: ReadonlyMap<string, TrackedConfig>;
  readonly canary: Canary;
  readonly settings: CanarySettings;
}

/** Annotations that Kubernetes' controllers write on the primary itself. */
const controllerAnnotations = ["deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"];

/** The primary at its creation (reference canary 7). Pure. */
export function createdPrimary(target: LiveObject, parts: PrimaryParts): Manifest {
  const { kind, canary, selector, settings } = parts;
  const { labels = {}, annotations = {} } = target.metadata;
  const metadata = {
    name: primaryName(target.metadata.name),
    namespace: canary.namespace,
    labels: primaryLabels(included(labels, settings.includeLabelPrefixes), selector),
    annotations: withoutFlux(annotations),
    ownerReferences: [controllerReference(canary)],
  };
  const spec = {
    ...specFields(target, parts, { isNew: true }),
    selector: { matchLabels: { [selector.label]: `${selector.labelValue}-primary` } },
    template: primaryTemplate(target, parts),
  };
  return { apiVersion: target.apiVersion, kind: kind.kind, metadata, spec };
}

/** The fields of the primary that a promotion writes, as they are then (reference canary 7). Pure. */
export function promotedFields(target: LiveObject, parts: PrimaryParts): JsonObject {
  const { selector, settings } = parts;
  const { labels = {}, annotations = {} } = target.metadata;
  return {
    metadata: {
      labels: primaryLabels(included(labels, settings.includeLabelPrefixes), selector),
      annotations: without(included(annotations, settings.includeLabelPrefixes), controllerAnnotations),
    },
    spec: { ...specFields(target, parts, { isNew: false }), template: primaryTemplate(target, parts) },
  };
}

/** The same fields as the primary has them now. Pure. */
export function primaryFields(primary: LiveObject, kind: PodKind, wanted: JsonObject): JsonObject {
  const spec = objectAt(primary, "spec");
  const replicas = "replicas" in objectAt(wanted, "spec") ? ["replicas"] : [];
  const metadata = objectAt(primary, "metadata");
  return {
    metadata: {
      labels: objectAt(metadata, "labels"),
      annotations: without(objectAt(metadata, "annotations"), controllerAnnotations),
    },
    spec: { ...only(spec, [...kind.copiedFields, ...replicas]), template: ownTemplate(objectAt(spec, "template")) },
  };
}

/** Whether the primary runs the target's template, be it under another id. Pure. */
export function hasTemplate(primary: LiveObject, target: LiveObject, parts: PrimaryParts): boolean {
  const live = ownTemplate(objectAt(primary, "spec", "template"));
  return mergePatch(live, primaryTemplate(target, parts, podsIdOf(live))) === undefined;
}

/** Whether the primary was made, or promoted in this run, of the target's template and configs as they are now. Pure. */
export function hasId(primary: LiveObject, target: LiveObject, parts: PrimaryParts): boolean {
  return podsIdOf(objectAt(primary, "spec", "template")) === podsIdOf(primaryTemplate(target, parts));
}

/** The pod spec of the primary of such a target. Pure. */
export function primaryPodSpec(target: LiveObject, { kind, configs, settings }: PrimaryParts): JsonObject {
  const podSpec = objectAt(target, "spec", "template", "spec");
  return withCopies(kind.primaryPodSpec(podSpec, target.metadata.name, settings.selectorLabels), configs);
}

function specFields(target: LiveObject, { kind, canary }: PrimaryParts, role: { readonly isNew: boolean }): JsonObject {
  const replicas = kind.replicas(target, role, canary);
  return {
    ...only(objectAt(target, "spec"), kind.copiedFields),
    ...(replicas === undefined ? {} : { replicas }),
  };
}

/** @param knownId instead of that of this run */
function primaryTemplate(target: LiveObject, parts: PrimaryParts, knownId?: string): JsonObject {
  const { selector, configs, canary } = parts;
  const template = objectAt(target, "spec", "template");
  const spec = primaryPodSpec(target, parts);
  const labels = primaryLabels(textsAt(template, "labels"), selector);
  const annotations = textsAt(template, "annotations");
  const hashes = [...configs].map(([key, { hash }]) => `${key}=${hash}`).toSorted();
  const id = knownId ?? idOf(canary, [labels, podAnnotations(annotations, ""), spec, hashes]);
  return { metadata: { labels, annotations: podAnnotations(annotations, id) }, spec };
}

function textsAt(template: JsonObject, field: string): Texts {
  return textsOf(objectAt(template, "metadata", field));
}

/** The parts of a template that Flagger writes. */
function ownTemplate(template: JsonObject): JsonObject {
  const labels = objectAt(template, "metadata", "labels");
  const annotations = objectAt(template, "metadata", "annotations");
  return { metadata: { labels, annotations }, spec: objectAt(template, "spec") };
}
