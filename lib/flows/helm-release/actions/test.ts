import type { Hook } from "../../../core/ports/helm-engine.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionOutcome, ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { runHooks } from "./hooks.ts";
import { finishRevision } from "./revise.ts";
import { timeoutMsOf } from "./timeouts.ts";

/**
 * Runs the tests of a release: its hooks of the event `test` that the filters choose (reference helmrelease 2.5). Their results are
 * in the record, including those of an earlier run.
 */
export async function testRelease(
  attempt: ReleaseAttempt,
  last: StoredRevision,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { chart, ctx, healthRules, store } = attempt;
  const writer = { ctx, store, ociDigest: chart.ociDigest };
  const runner = {
    ...writer,
    releaseNamespace: last.observed.namespace,
    timeoutMs: timeoutMsOf("test", ctx),
    healthRules,
    isChosen: chosenBy(ctx.release.spec.test?.filters ?? []),
  };
  const under = underTest(attempt, last);
  const outcome = await runHooks(runner, "test", under, wait);
  if (outcome.kind === "waiting") return { kind: "waiting", wait: outcome.wait, dueInMs: outcome.dueInMs };
  // As Helm, also without a test: the Secret shows when.
  const hasEnded = under.mark?.ended !== undefined;
  const record = hasEnded ? outcome.stored : await finishRevision(writer, outcome.stored, {});
  const written = [{ record, isGone: false }];
  if (outcome.kind === "done") return { kind: "succeeded", written };
  return { kind: "failed", message: outcome.message, log: [], written };
}

/**
 * The revision under our mark: of tests that an earlier run of this attempt has begun, or a new one, which the first test writes.
 * Tests that have ended are not run again: their results are read.
 */
function underTest({ ctx, token }: ReleaseAttempt, last: StoredRevision): StoredRevision {
  const { mark } = last;
  const { generation, owner } = ctx;
  const isOurs =
    mark?.action === "test" && mark.owner === owner.uid && mark.generation === generation && mark.token === token;
  return isOurs ? last : { ...last, mark: { owner: owner.uid, action: "test", generation, token } };
}

interface Filter {
  readonly name: string;
  readonly exclude?: boolean;
}

/** An excluded test never runs; if any test is included, only those that are. */
function chosenBy(filters: readonly Filter[]): (hook: Pick<Hook, "name">) => boolean {
  const names = (isExcluded: boolean) =>
    new Set(filters.filter(({ exclude = false }) => exclude === isExcluded).map(({ name }) => name));
  const [included, excluded] = [names(false), names(true)];
  return ({ name }) => !excluded.has(name) && (included.size === 0 || included.has(name));
}
