import type { PlannedSet } from "../../../apply/plan-set.ts";
import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import type { Metadata } from "../../../core/manifest.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { helmMarks, type MarkedRelease } from "./helm-marks.ts";
import type { ReleaseObject } from "./release-objects.ts";

/**
 * With `disableTakeOwnership`: why objects that exist already cannot become the release's, each in Helm's words
 * (pkg/action/validate.go). The resources of the former revision are not checked.
 */
export async function foreignObjects(
  { plan }: PlannedSet,
  former: readonly ReleaseObject[],
  release: MarkedRelease,
  { deps, run, target }: HelmReleaseContext,
): Promise<readonly string[]> {
  const own = new Set(former.map(({ ref }) => formatEntryId(ref)));
  const existing = plan.objects.filter(
    ({ change, desired }) => change.kind !== "create" && change.kind !== "deferred" && !own.has(desired.id),
  );
  const faults = await mapLimit(
    existing,
    deps.concurrency,
    async ({ desired: { ref } }, stop) => {
      const live = await target.get(ref, stop);
      const fault = live && ownershipFault(live.metadata, release);
      const what = `${ref.kind} ${JSON.stringify(ref.name)} in namespace ${JSON.stringify(ref.namespace)}`;
      return fault && `${what} exists and cannot be imported into the current release: ${fault}`;
    },
    run.signal,
  );
  return faults.filter((fault) => fault !== undefined);
}

function ownershipFault({ annotations, labels }: Metadata, release: MarkedRelease): string | undefined {
  const marks = helmMarks(release);
  const faults = [
    ...Object.entries(marks.labels).map(([key, wanted]) => valueFault("label", labels, key, wanted)),
    ...Object.entries(marks.annotations).map(([key, wanted]) => valueFault("annotation", annotations, key, wanted)),
  ].filter((fault) => fault !== undefined);
  return faults.length === 0 ? undefined : `invalid ownership metadata; ${faults.join("; ")}`;
}

function valueFault(what: string, marks: Metadata["labels"], key: string, wanted: string): string | undefined {
  const found = marks?.[key];
  if (found === wanted) return undefined;
  const [name, must] = [JSON.stringify(key), JSON.stringify(wanted)];
  if (found === undefined) return `${what} validation error: missing key ${name}: must be set to ${must}`;
  return `${what} validation error: key ${name} must equal ${must}: current value is ${JSON.stringify(found)}`;
}
