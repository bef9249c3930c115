import { type IgnoreRule, type IgnoreRules, noIgnoreRules } from "../../../apply/ignore/ignore-rules.ts";
import { byApplyOrder } from "../../../apply/set/apply-order.ts";
import { formatEntryId } from "../../../apply/set/entry-id.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import { Failure, messageOf } from "../../../core/failure.ts";
import { subject } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { Drift, DriftCorrection } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { type Comparison, compareObject } from "./compare-object.ts";
import { type HidingFor, hidingIn } from "./hide-secrets.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { type ReleaseObject, releaseObjects } from "./release-objects.ts";
import { seenObjects } from "./seen-objects.ts";

type DriftAttempt = HidingFor & Pick<ReleaseAttempt, "ctx">;

interface ComparedObject {
  readonly object: ReleaseObject;
  readonly comparison: Comparison;
}

/** A drift with the action of {@link correctDrift}. */
interface FoundDrift extends Drift {
  readonly compared: readonly ComparedObject[];
}

/**
 * Compares the cluster with the stored manifest of a release (reference helmrelease 18), without hooks and `crds/`. Writes nothing.
 * Objects that cannot be compared are left out if another object differs.
 *
 * @throws Failure `StateError` if one cannot be compared and none differs
 */
export async function findDrift(attempt: DriftAttempt, last: StoredRevision): Promise<FoundDrift> {
  const { ctx } = attempt;
  const { deps, release, run } = ctx;
  const ignore = await compiled(release.spec.driftDetection?.ignore ?? []);
  const objects = await releaseObjects(last.observed, ctx);
  await ignore.prepare(
    objects.map(({ manifest }) => manifest),
    run.signal,
  );
  const seen = await seenObjects(objects, ctx);
  const compare = async (object: ReleaseObject, stop: AbortSignal): Promise<ComparedObject> => {
    return { object, comparison: await compareObject(object, seen.get(formatEntryId(object.ref)), ignore, ctx, stop) };
  };
  const compared = await mapLimit(objects, deps.concurrency, compare, run.signal);
  const isDrifted = compared.some(({ comparison: { kind } }) => kind === "missing" || kind === "changed");
  const untold = compared.flatMap(({ comparison }) => (comparison.kind === "unknown" ? [comparison.message] : []));
  const unknown = untold.length === 0 ? [] : untold.map(await hidingIn(attempt, [last.observed]));
  if (unknown.length > 0 && !isDrifted) {
    const why = `unable to determine cluster state: ${aggregated(unknown)}`;
    throw new Failure("StateError", `Could not determine release state: ${why}`);
  }
  if (unknown.length > 0) deps.log.warn("objects could not be compared", { ...run.key, unknown });
  return { isDrifted, lines: compared.flatMap(lineOf), compared };
}

/** As Go's aggregate shows several errors. */
function aggregated(messages: readonly string[]): string {
  const [first = ""] = messages;
  return messages.length === 1 ? first : `[${[...new Set(messages)].join(", ")}]`;
}

async function compiled(rules: readonly IgnoreRule[]): Promise<IgnoreRules> {
  if (rules.length === 0) return noIgnoreRules;
  const { compileIgnoreRules } = await import("../../../apply/ignore/compile-ignore-rules.ts");
  return compileIgnoreRules(rules);
}

/** For Secrets too, without any value. */
function lineOf({ object: { ref }, comparison }: ComparedObject): readonly string[] {
  switch (comparison.kind) {
    case "same":
    case "unknown":
      return [];
    case "excluded":
      return [`${subject(ref)} excluded`];
    case "missing":
      return [`${subject(ref)} removed`];
    case "changed": {
      const count = (wanted: string) => comparison.patch.filter(({ op }) => op === wanted).length;
      const counts = `${count("add")} additions, ${count("replace")} changes, ${count("remove")} removals`;
      return [`${subject(ref)} changed (${counts})`];
    }
  }
}

/**
 * Corrects a drift without Helm: first creates what is missing, then patches what differs, each in Flux's order of kinds. A failure
 * does not delay the others.
 */
export async function correctDrift(
  attempt: DriftAttempt,
  last: StoredRevision,
  drift: Drift,
): Promise<DriftCorrection> {
  const { ctx } = attempt;
  const { compared } = isFound(drift) ? drift : await findDrift(attempt, last);
  const ordered = compared.toSorted((a, b) => byApplyOrder(a.object.ref, b.object.ref));
  const lines: string[] = [];
  const errors: string[] = [];
  for (const kind of ["missing", "changed"] as const) {
    for (const { object, comparison } of ordered.filter((one) => one.comparison.kind === kind)) {
      const outcome = await correct(object, comparison, ctx);
      (outcome.isDone ? lines : errors).push(outcome.line);
    }
  }
  if (errors.length === 0) return { kind: "corrected", lines };
  return { kind: "failed", errors: errors.map(await hidingIn(attempt, [last.observed])), lines };
}

function isFound(drift: Drift): drift is FoundDrift {
  return "compared" in drift;
}

async function correct(
  { manifest, ref }: ReleaseObject,
  comparison: Comparison,
  { run, target }: HelmReleaseContext,
): Promise<{ readonly isDone: boolean; readonly line: string }> {
  const options = { manager: releaseManager };
  try {
    if (comparison.kind === "missing") await target.create(manifest, options, run.signal);
    if (comparison.kind === "changed") {
      const body = comparison.patch.map((operation) => ({ ...operation }));
      await target.patch(ref, { type: "json", body }, options, run.signal);
    }
    return { isDone: true, line: `${subject(ref)} ${comparison.kind === "missing" ? "created" : "configured"}` };
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    const what = comparison.kind === "missing" ? "creation" : "patch";
    const message = ref.kind === "Secret" ? masked(error) : messageOf(error);
    return { isDone: false, line: `${subject(ref)} ${what} failure: ${message}` };
  }
}

/** The API server's error for an invalid Secret may quote its values: only the last part is reported, as in Flux. */
function masked(error: ApiError): string {
  const message = messageOf(error);
  if (error.reason !== "Invalid") return message;
  return message.slice(message.lastIndexOf(":") + 1).trim();
}
