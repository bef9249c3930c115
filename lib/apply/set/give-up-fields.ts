import { kustomizeGroup, type LabelledName } from "../../api/names.ts";
import type { Metadata } from "../../core/manifest.ts";
import { formatApiVersion, type VersionedRef } from "../../core/object-ref.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import { type ApplyRules, applyOptions } from "./apply-rules.ts";
import { ownerOfClaim } from "./apply-set.ts";
import { isOwnedBy } from "./opt-outs.ts";

/**
 * Whether an owner of another kind has also applied the object. Owners of one kind write the same labels and share a field manager, so the
 * next one's replace those of the former; two kinds have labels and managers of their own, which stay side by side. Pure.
 *
 * @param by the owner as its claims name it
 */
export function isAppliedBy(by: string, live: Metadata, { labelGroup = kustomizeGroup }: LabelledName): boolean {
  const other = ownerOfClaim(by);
  return other.labelGroup !== labelGroup && isOwnedBy(live, other);
}

/**
 * Removes from an object what we own alone in it, our labels among it: what another field manager has too stays. Afterwards the object is
 * as its next owner applied it, and has none of our marks.
 *
 * @param metadata as it was read: if the object has changed or was replaced since, the write is a conflict
 */
export async function giveUpFields(
  ref: VersionedRef,
  { resourceVersion, uid }: Metadata,
  { cluster, rules }: { readonly cluster: Pick<Cluster, "apply">; readonly rules: Pick<ApplyRules, "style"> },
  signal: AbortSignal,
): Promise<void> {
  const { group, kind, name, namespace, version } = ref;
  const metadata = {
    name,
    ...(namespace === "" ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  await cluster.apply(
    { apiVersion: formatApiVersion({ group, version }), kind, metadata },
    applyOptions(rules),
    signal,
  );
}
