import { createHash } from "node:crypto";
import { kindOf } from "../../api/kinds/declaration.ts";
import { controllerOf, isFluxGroup, isUnreconciled, type ReconciledKinds } from "../../api/kinds/unreconciled.ts";
import type { AppliedObject } from "../../apply/apply-object.ts";
import { someOf } from "../../core/cut-text.ts";
import { refKey, subject, type VersionedRef } from "../../core/object-ref.ts";
import { ApiError, type Cluster } from "../../core/ports/cluster.ts";
import type { Attempt } from "./attempt.ts";
import { maxToldObjects } from "./told-objects.ts";

/** Objects that an event names. */
const maxNamed = 10;
/** Characters of a digest that stands for an object in the carried state: 48 bits. */
const markLength = 8;

/**
 * Reports once each applied object of a kind of Flux or Flagger that Sluice does not reconcile: it has no effect. Reported objects
 * are passed on from run to run, so a new revision with the same objects, or a restart, reports nothing again.
 *
 * @param isWhole whether everything is applied, so that objects that are not among them are forgotten
 */
export async function warnOfUnreconciled(
  applied: readonly AppliedObject[],
  isWhole: boolean,
  { ctx, annotations }: Attempt,
): Promise<void> {
  const refs = applied.flatMap(({ desired: { ref }, change }) =>
    change === "skipped" || !isFluxGroup(ref.group) ? [] : [ref],
  );
  const { deps, run, target, told } = ctx;
  const found = await unreconciledAmong(refs, deps.reconciled, target, run.signal);
  const { marks, news } = newsOf(found, isWhole ? "all" : "some", told.marks());
  told.remember(marks);
  if (news.length === 0) return;
  ctx.record({ type: "Warning", reason: "NotReconciled", message: unreconciledText(news), annotations });
}

/** Objects that were not reported yet, and those to report from now on. With very many, kinds stand for their objects. Pure. */
export function newsOf(
  found: readonly VersionedRef[],
  part: "all" | "some",
  told: readonly string[],
): { readonly marks: readonly string[]; readonly news: readonly VersionedRef[] } {
  const markOf = found.length > maxToldObjects ? markOfKind : markOfObject;
  const marks = new Set([...found.map(markOf), ...(part === "all" ? [] : told)]);
  return { marks: [...marks], news: found.filter((ref) => !told.includes(markOf(ref))) };
}

/** The objects that Sluice does not reconcile, although they are of Flux or Flagger. */
export async function unreconciledAmong(
  refs: readonly VersionedRef[],
  reconciled: ReconciledKinds,
  target: Pick<Cluster, "resource">,
  signal: AbortSignal,
): Promise<readonly VersionedRef[]> {
  const found: VersionedRef[] = [];
  // A kind that is not served costs a discovery, so it is looked up once for all its objects.
  const answers = new Map<string, Promise<boolean>>();
  for (const ref of refs) {
    const kind = kindOf(ref, reconciled);
    if (kind === undefined) {
      if (isUnreconciled(ref, reconciled)) found.push(ref);
      continue;
    }
    const name = `${ref.group}/${ref.version}/${ref.kind}`;
    const answer = answers.get(name) ?? isUnread(ref, kind, target, signal);
    answers.set(name, answer);
    if (await answer) found.push(ref);
  }
  return found;
}

/** Whether an object of a reconciled kind has a later version, and is not served in the version that our flow reads. */
async function isUnread(
  { group, kind, version }: VersionedRef,
  { versions }: ReconciledKinds[number],
  target: Pick<Cluster, "resource">,
  signal: AbortSignal,
): Promise<boolean> {
  if (versions.includes(version)) return false;
  const [ours] = versions;
  try {
    return (await target.resource({ group, kind, version: ours }, signal)) === undefined;
  } catch (error) {
    // Unless the cluster says so, nothing is reported.
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function markOfObject(ref: VersionedRef): string {
  return mark(refKey(ref));
}

function markOfKind({ group, kind }: VersionedRef): string {
  return mark(`${group}/${kind}`);
}

function mark(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, markLength);
}

/** The objects that other controllers reconcile, and which these may be. Pure. */
export function unreconciledText(refs: readonly VersionedRef[]): string {
  const names = refs.map((ref) => `${subject(ref)} (${ref.group}/${ref.version})`);
  const controllers = [...new Set(refs.map(controllerOf))].filter((name) => name !== undefined).toSorted();
  const others = controllers.length === 0 ? "the controllers of their kinds" : controllers.join(", ");
  const of = refs.length === 1 ? "an object" : `${refs.length} objects`;
  return (
    `Sluice does not reconcile ${of} of this Kustomization: ${someOf(names, maxNamed)}. ` +
    `${refs.length === 1 ? "It is" : "They are"} applied, and nothing else is done unless this cluster runs ${others}`
  );
}
