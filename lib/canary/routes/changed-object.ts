import { isJsonObject, type JsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { refOf } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import { canaryManager, type StepDeps } from "../canary-deps.ts";
import type { Texts } from "../ownership.ts";

/** The wanted state of an object. A part that is left out stays as it is. */
export interface Wanted {
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly spec?: JsonObject;
}

/** The object with other labels, annotations or spec. Nothing is written if it is so already. */
export async function changed(live: LiveObject, wanted: Wanted, { cluster, signal }: StepDeps): Promise<LiveObject> {
  const { labels = {}, annotations = {} } = live.metadata;
  const before = { metadata: { labels, annotations }, spec: live["spec"] ?? {} };
  const after = {
    metadata: { labels: wanted.labels ?? labels, annotations: wanted.annotations ?? annotations },
    spec: wanted.spec ?? before.spec,
  };
  const patch = mergePatch(toJsonObject(before), toJsonObject(after));
  if (patch === undefined) return live;
  const { metadata, ...rest } = patch;
  // With its uid, an object that was deleted and created again since the read is not written.
  const { uid } = live.metadata;
  const body = { ...rest, metadata: { ...(isJsonObject(metadata) ? metadata : {}), uid } };
  return cluster.patch(refOf(live), { type: "merge", body }, { manager: canaryManager }, signal);
}

/** The entries of `before` that other writers own, out of these keys. */
export function kept(before: Texts | undefined, keys: readonly string[] | undefined): Texts {
  return Object.fromEntries(Object.entries(before ?? {}).filter(([key]) => keys?.includes(key) === true));
}
