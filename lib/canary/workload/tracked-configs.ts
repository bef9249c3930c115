import { mapLimit } from "../../core/concurrency.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { messageOf } from "../../core/failure.ts";
import { type Canary, canaryText } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { configHash } from "../revision/config-hash.ts";
import { StepFault } from "../step-fault.ts";
import { type ConfigKind, type ConfigReference, configKey, configReferences } from "./config-references.ts";
import { objectAt, textAt, textsOf } from "./fields.ts";
import { type NamedKind, type StepObjects, within } from "./step-objects.ts";

export const configKinds: Readonly<Record<ConfigKind, NamedKind>> = {
  configmap: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", noun: "configmap" },
  secret: { group: "", version: "v1", kind: "Secret", plural: "secrets", noun: "secret" },
};

/** Opts out: any value that begins with `disable`. */
export const trackingAnnotation = "flagger.app/config-tracking";

/** Secrets of other types, such as those of registries, belong to the cluster and not to a revision. */
const trackedSecretTypes = new Set([
  "Opaque",
  "kubernetes.io/basic-auth",
  "kubernetes.io/ssh-auth",
  "kubernetes.io/tls",
]);

/** Reads of one pod template at the same time. */
const readsAtOnce = 4;

/** A ConfigMap or a Secret that belongs to a revision of the target. */
export interface TrackedConfig extends ConfigReference {
  readonly live: LiveObject;
  /** 16 hex digits of a hash of its content. */
  readonly hash: string;
}

/**
 * What a target's pods read, which is therefore copied for the primary (reference canary 7), by {@link configKey}. Empty if the
 * installation tracks no configs. Throws a `StepFault` if a mandatory one is missing.
 */
export async function trackedConfigs(
  podSpec: JsonObject,
  canary: Canary,
  { objects, deps }: { readonly objects: StepObjects; readonly deps: StepDeps },
): Promise<ReadonlyMap<string, TrackedConfig>> {
  if (!deps.settings.tracksConfigs) return new Map();
  const read = (reference: ConfigReference) => trackedConfig(reference, canary, { objects, deps });
  const configs = await mapLimit(configReferences(podSpec), readsAtOnce, read, deps.signal);
  return new Map(configs.flatMap((config) => (config === undefined ? [] : [[configKey(config), config]])));
}

/** Undefined for one that opts out, or is optional and not there. */
export async function trackedConfig(
  reference: ConfigReference,
  canary: Canary,
  { objects, deps }: { readonly objects: StepObjects; readonly deps: StepDeps },
): Promise<TrackedConfig | undefined> {
  try {
    return await readConfig(reference, canary.namespace, objects);
  } catch (error) {
    if (reference.isMandatory || !(error instanceof StepFault)) throw error;
    deps.log.warn("an optional config of a canary cannot be read", {
      canary: canaryText(canary),
      config: configKey(reference),
      error: messageOf(error),
    });
    return undefined;
  }
}

async function readConfig(
  reference: ConfigReference,
  namespace: string,
  objects: StepObjects,
): Promise<TrackedConfig | undefined> {
  const { kind, name } = reference;
  // Flagger says so twice.
  const text = `GetTargetConfigs failed: ${kind} ${name}.${namespace} get query error`;
  const live = await within(text, objects.read(configKinds[kind], name));
  if (kind === "secret" && !trackedSecretTypes.has(textAt(objectAt(live), "type"))) return undefined;
  if (live.metadata.annotations?.[trackingAnnotation]?.startsWith("disable") === true) return undefined;
  return { ...reference, live, hash: hashOf(live) };
}

/** The hash of texts and bytes. Flagger's hash leaves bytes out, since it does not copy them; without them both are the same. */
export function hashOf(config: LiveObject): string {
  return configHash({ ...textsOf(objectAt(config, "data")), ...textsOf(objectAt(config, "binaryData")) });
}
