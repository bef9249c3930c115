import type { JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import type { StepDeps } from "../canary-deps.ts";
import { type Canary, canaryText, primaryName } from "../canary.ts";
import { configKey, configReferences } from "./config-references.ts";
import { objectAt, objectsAt, only, textAt } from "./fields.ts";
import { included } from "./metadata.ts";
import { type StepObjects, within } from "./step-objects.ts";
import { configKinds, hashOf, type TrackedConfig, trackingAnnotation } from "./tracked-configs.ts";
import { adoption, controllerReference, isOwnedBy, isOwnerless, refuseForeign } from "../ownership.ts";

/**
 * The parts that a copy takes from the original. `binaryData` is more than Flagger copies: pods that read it would not start without it.
 */
const copiedFields = ["data", "binaryData", "type"];

/**
 * Makes each copy what the original is now. Done before the primary's template refers to or restarts with them, so that no pod of the
 * primary starts without its configs; finished parts are not written again. Throws a `StepFault` in Flagger's words.
 */
export async function syncCopies(
  configs: ReadonlyMap<string, TrackedConfig>,
  canary: Canary,
  { objects, deps }: { readonly objects: StepObjects; readonly deps: StepDeps },
): Promise<void> {
  for (const config of configs.values()) {
    const isChanged = await within("CreatePrimaryConfigs failed", syncCopy(config, canary, { objects, deps }));
    if (isChanged) {
      const object = `${config.live.kind}/${primaryName(config.name)}`;
      deps.log.info("a config of the primary is synced", { canary: canaryText(canary), object });
    }
  }
}

/**
 * Makes the Canary the owner of copies that have no owner and that the primary reads: their Canary was deleted without its objects. Their
 * content stays. A name that the target also reads cannot be a copy.
 */
export async function adoptCopies(
  configs: ReadonlyMap<string, TrackedConfig>,
  { primary, target }: { readonly primary: LiveObject; readonly target: LiveObject },
  { canary, objects }: { readonly canary: Canary; readonly objects: StepObjects },
): Promise<void> {
  const [ofPrimary, ofTarget] = [readBy(primary), readBy(target)];
  for (const { kind: configKind, name: original } of configs.values()) {
    const name = primaryName(original);
    const key = configKey({ kind: configKind, name });
    if (!ofPrimary.has(key) || ofTarget.has(key)) continue;
    const kind = configKinds[configKind];
    const copy = await objects.find(kind, name);
    if (copy === undefined || !isOwnerless(copy)) continue;
    const text = `updating ${kind.noun} ${name}.${canary.namespace} failed`;
    await within(text, objects.merge(kind, name, adoption(copy, canary)));
  }
}

function readBy(workload: LiveObject): ReadonlySet<string> {
  return new Set(configReferences(objectAt(workload, "spec", "template", "spec")).map(configKey));
}

async function syncCopy(
  { hash, kind: configKind, name: original, live }: TrackedConfig,
  canary: Canary,
  { objects, deps }: { readonly objects: StepObjects; readonly deps: StepDeps },
): Promise<boolean> {
  const kind = configKinds[configKind];
  const name = primaryName(original);
  const text = `${kind.noun} ${name}.${canary.namespace} failed`;
  const old = await objects.find(kind, name);
  const copy = copyOf(live, canary, { name, old, prefixes: deps.settings.includeLabelPrefixes });
  if (old === undefined) {
    await within(`creating ${text}`, objects.create(kind, copy));
    return true;
  }
  if (!isOwnedBy(old) && hashOf(old) !== hash) {
    const mend = `set the annotation ${trackingAnnotation}: disabled on ${original}`;
    refuseForeign(old, canary, mend);
  }
  const patch = mergePatch(managedOf(old), managedOf(copy));
  if (patch === undefined) return false;
  await within(`updating ${text}`, objects.merge(kind, name, patch));
  return true;
}

function copyOf(
  original: LiveObject,
  canary: Canary,
  {
    name,
    old,
    prefixes,
  }: { readonly name: string; readonly old: LiveObject | undefined; readonly prefixes: readonly string[] },
): Manifest {
  const labels = included(original.metadata.labels ?? {}, prefixes);
  return {
    apiVersion: original.apiVersion,
    kind: original.kind,
    metadata: { name, namespace: canary.namespace, labels, ownerReferences: ownersOf(old, canary) },
    ...only(objectAt(original), copiedFields),
  };
}

/**
 * This Canary comes first, as the controller, then all other owners: two Canaries may read one ConfigMap, whose copy is deleted with the
 * last of them.
 */
function ownersOf(old: LiveObject | undefined, canary: Canary) {
  const isOther = (owner: JsonObject): boolean =>
    textAt(owner, "kind") !== canary.live.kind || textAt(owner, "name") !== canary.name;
  const others = objectsAt(objectAt(old, "metadata"), "ownerReferences").filter(isOther);
  const own = controllerReference(canary);
  return [own, ...others.map((owner) => ({ ...owner, ...reference(owner), controller: false }))];
}

function reference(owner: JsonObject) {
  const [apiVersion, kind, name, uid] = ["apiVersion", "kind", "name", "uid"].map((key) => textAt(owner, key));
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", name: name ?? "", uid: uid ?? "" };
}

/** The parts of a copy that Flagger sets. Other writers' annotations and finalizers stay. */
function managedOf(copy: Manifest): JsonObject {
  const metadata = { labels: {}, ...only(objectAt(copy, "metadata"), ["labels", "ownerReferences"]) };
  return { metadata, ...only(objectAt(copy), copiedFields) };
}
