import type { AppliedObject } from "../../apply/apply-object.ts";
import { refOf } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { someOf } from "../../core/some-of.ts";
import { tolerantCluster } from "../../manifests/tolerant-cluster.ts";
import type { Attempt } from "./attempt.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxNamed = 10;

/** The fields that were left out of what a run applied, since the API server does not know them: by the subject of their object. */
type LeftOut = ReadonlyMap<string, ReadonlySet<string>>;

/** The run with a cluster that leaves such fields out, and what it has left out so far. */
export function leavingOut(of: SubjectOfRun): { readonly of: SubjectOfRun; readonly leftOut: LeftOut } {
  const leftOut = new Map<string, Set<string>>();
  const cluster = tolerantCluster(of.cluster, of.deps.log, (manifest, fields) => {
    const name = subject(refOf(manifest));
    leftOut.set(name, new Set([...(leftOut.get(name) ?? []), ...fields]));
  });
  return { of: { ...of, cluster }, leftOut };
}

/**
 * Tells the users what was left out of these objects, once a revision. One that waits for a stage goes on applying, so each of
 * its runs tells what it has applied; what is proven unchanged is not sent, so nothing is reported twice.
 */
export async function warnOfLeftOut(
  leftOut: LeftOut,
  applied: readonly AppliedObject[],
  { of, annotations, isNew, wait }: Attempt,
): Promise<void> {
  if (!isNew && wait?.phase !== "apply") return;
  const names = applied.flatMap(({ desired }) => {
    const name = subject(desired.ref);
    // The API server warns of them in any order.
    return [...(leftOut.get(name) ?? [])].toSorted().map((field) => `${name} ${field}`);
  });
  if (names.length === 0) return;
  const message = `fields that the API server does not know were left out: ${someOf(names, maxNamed)}`;
  await of.tell({ type: "Warning", reason: "UnknownFields", message, annotations });
}
