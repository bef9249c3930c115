import { helmGroup } from "../../../api/names.ts";
import { desiredObjects } from "../../../apply/desired-objects.ts";
import { firstLooks } from "../../../apply/plan.ts";
import { usualRules } from "../../../apply/set/apply-rules.ts";
import { liveObjects } from "../../../apply/set/live-objects.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import type { PartialObject } from "../../../core/ports/cluster.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import type { ReleaseObject } from "./release-objects.ts";

/** An object as a list of metadata shows it. */
export interface SeenObject extends Pick<PartialObject, "metadata"> {
  /** Every field that the release has applied still has its value, judged by the inventory's record of the last apply (adr/0044). */
  readonly isProven: boolean;
}

/** Looks at the objects of a release by one list of metadata for each kind, by entry id: those that are labelled as this HelmRelease's. */
export async function seenObjects(
  objects: readonly ReleaseObject[],
  { deps, name, namespace, owner, run, target }: HelmReleaseContext,
): Promise<ReadonlyMap<string, SeenObject>> {
  const served = objects.flatMap(({ manifest, ref, resource }) => (resource ? [{ manifest, ref, resource }] : []));
  const rules = { ...usualRules, ...deps.applyRules, style: helmReleaseStyle };
  const { installationKey } = deps;
  const manifests = served.map(({ manifest }) => manifest);
  const desired = await desiredObjects(manifests, { cluster: target, installationKey, rules }, run.signal);
  const live = await liveObjects(served, { name, namespace, labelGroup: helmGroup }, target, run.signal);
  const inventory = (await deps.inventories.load(owner, run.fence, run.signal)) ?? [];
  const looks = firstLooks(desired, inventory, live, { rules, installationKey, isAwaited: false, isLook: false });
  return new Map(
    looks.flatMap(({ desired: { id }, look }): readonly (readonly [string, SeenObject])[] => {
      const found = live.get(id);
      return found === undefined ? [] : [[id, { metadata: found.metadata, isProven: look.kind === "unchanged" }]];
    }),
  );
}
