import { z } from "zod";
import {
  ArtifactGeneratorSpec,
  ArtifactGeneratorStatus,
  generatorReconcileAnnotation,
} from "../../api/artifact-generator.ts";
import { declaredArtifactGenerator } from "../../api/kinds/artifact-generator.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { generatorFinalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import { waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, Failure, messageOf, outcomeOfWait } from "../../core/failure.ts";
import { storeOutage } from "../../core/ports/outage.ts";
import type { Flow, FlowResult } from "../../core/ports/run.ts";
import { sourceTopic } from "../../core/topics.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { buildArtifact } from "../../sources/generator/build-artifact.ts";
import type { FileTree } from "../../sources/generator/file-tree.ts";
import { type Budget, budgetOf, defaultGeneratorLimits } from "../../sources/generator/generator-limits.ts";
import { type ArtifactRequest, artifactRequests, PathPatternFault } from "../../sources/generator/path-pattern.ts";
import { spreadInterval } from "../interval.ts";
import { runContext } from "../run-context.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { checkSpec, refuseOwnSources } from "./check-spec.ts";
import { detectDrift } from "./drift.ts";
import { type ArtifactGeneratorDeps, artifactKey, type GeneratorContext, isListed } from "./generator-context.ts";
import { begun, failed, paused, readyOf, stalled, succeeded } from "./generator-status.ts";
import { ownedArtifacts, refuseNamesOfOthers, removeOthers } from "./owned-artifacts.ts";
import { publishArtifact, type StoredArtifact } from "./publish.ts";
import { fetchSources, observeSources, sourceKey, sourcesDigest } from "./read-sources.ts";

/** As in Flux, which has no field for it: how often an object is checked without an announced change. */
const intervalMs = 60 * 60_000;
/** Flux's flag `requeue-dependency` of source-watcher. */
export const sourceRetryMs = 5_000;

/** Failures in a row, so that the waits between them grow. */
const Failures = z.object({ failures: z.number().int().min(0) });

/**
 * The reconcile of an ArtifactGenerator: read the sources, find out whether anything has changed, make all artifacts, then publish
 * them. Looks only at present state, so a run may be repeated or killed anywhere; if nothing changed it writes nothing.
 */
export function artifactGeneratorFlow(deps: ArtifactGeneratorDeps): Flow {
  return async (run) => {
    const live = await deps.home.get({ ...run.key, ...servedKind(declaredArtifactGenerator) }, run.signal);
    if (live === undefined) {
      await deps.subscriptions.subscribe([], run.fence, run.signal);
      return { outcome: "absent", dueInMs: undefined };
    }
    // An unreadable status counts as empty; the run writes a valid one.
    const before = ArtifactGeneratorStatus.safeParse(live["status"] ?? {}).data ?? {};
    const ctx = runContext(declaredArtifactGenerator, live, before, run, deps);
    if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
    const isNew = await addFinalizer(ctx);
    if (live.metadata.annotations?.[generatorReconcileAnnotation]?.toLowerCase() === "disabled") {
      return pause(isNew, ctx);
    }
    try {
      const spec = parseLive(live, "spec", ArtifactGeneratorSpec);
      await subscribe(spec, [], ctx);
      checkSpec(spec, ctx);
      return await reconcile(spec, ctx);
    } catch (error) {
      if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
      return fail(error, ctx);
    }
  };
}

async function reconcile(spec: ArtifactGeneratorSpec, ctx: GeneratorContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const observed = await observeSources(spec, ctx);
  const observedSourcesDigest = sourcesDigest(observed);
  const owned = await ownedArtifacts(ctx);
  const drift = await detectDrift(spec, observedSourcesDigest, owned, ctx);
  const dueInMs = spreadInterval(intervalMs, deps.jitter(), deps.timing);
  if (drift === undefined) {
    const isWritten = await ctx.conclude(before);
    const message = `No drift detected, ${owned.length} artifact(s) up to date`;
    const event = { type: "Normal", reason: "Ready", message, annotations: {}, isTrace: true } as const;
    if (isWritten || !run.isRequested) await ctx.record(event);
    return { outcome: "unchanged", isQuiet: true, dueInMs };
  }
  deps.log.info("artifacts are made", { ...run.key, reason: drift });
  await ctx.publish(begun(before, ctx.now()));
  const budget = budgetOf(defaultGeneratorLimits, run.signal);
  const sources = await fetchSources(observed, budget, ctx);
  const requests = await requestsOf(spec, sources, budget);
  const names = requests.map(({ name }) => name);
  refuseOwnSources(names, spec, ctx.namespace);
  await refuseNamesOfOthers(names, owned, ctx);
  // All are stored before the first is published, so that a failure changes none.
  const stored: StoredArtifact[] = [];
  for (const request of requests) stored.push(await buildAndStore(request, sources, budget, ctx));
  await subscribe(spec, requests, ctx);
  const inventory = [];
  for (const one of stored) inventory.push(await publishArtifact(one, spec, observed, ctx));
  await removeOthers(new Set(names), owned, before, ctx);
  // Before the status, which says that the event was sent.
  await report(
    inventory,
    [...observed.values()].map(({ key }) => key),
    ctx,
  );
  await ctx.conclude(succeeded(ctx.status(), { inventory, observedSourcesDigest }, ctx.now()));
  return { outcome: "stored", dueInMs };
}

async function requestsOf(
  spec: ArtifactGeneratorSpec,
  sources: ReadonlyMap<string, FileTree>,
  budget: Budget,
): Promise<readonly ArtifactRequest[]> {
  try {
    return await artifactRequests(spec, sources, budget);
  } catch (error) {
    if (!(error instanceof PathPatternFault || error instanceof RangeError)) throw error;
    const message = `failed to expand path pattern: ${error.message}`;
    throw new Failure("BuildFailed", message, { cause: error, retry: "never" });
  }
}

async function buildAndStore(
  request: ArtifactRequest,
  sources: ReadonlyMap<string, FileTree>,
  budget: Budget,
  { deps, run }: GeneratorContext,
): Promise<StoredArtifact> {
  const built = await buildArtifact(request, sources, budget).catch((error: unknown) => {
    run.signal.throwIfAborted();
    if (error instanceof TypeError) throw error;
    const message = `${request.name} build failed: ${messageOf(error)}`;
    throw new Failure("BuildFailed", message, { cause: error, retry: "backoff" });
  });
  const { bytes, digest, filename } = built;
  const unstored = storeOutage("ArchiveOperationFailed", "unable to archive artifact to storage", run.signal);
  await deps.artifacts.put(digest, bytes, run.signal).catch(unstored);
  return { request, digest, filename, size: bytes.length };
}

/** The events of a run that has published. */
async function report(
  inventory: ArtifactGeneratorStatus["inventory"] & {},
  sources: readonly WorkKey[],
  ctx: GeneratorContext,
): Promise<void> {
  const event = { type: "Normal", reason: "Ready", annotations: {} } as const;
  const message = `reconciliation succeeded, generated ${inventory.length} artifact(s)`;
  await ctx.record({ ...event, message, isTrace: true });
  const changed = inventory.filter((entry) => !isListed(entry, ctx.before));
  if (changed.length === 0) return;
  const lines = changed.map(({ digest, name, namespace }) => `${namespace}/${name} (${digest})`);
  const relation = readyOf(ctx.before)?.status === "True" ? undefined : ({ kind: "recovered", from: sources } as const);
  await ctx.record({ ...event, message: `external artifacts reconciled: ${lines.join("\n")}`, relation });
}

/**
 * Subscribes to the sources before they are read, so that no change in between is missed; and to its own ExternalArtifacts, so that
 * one that a user deletes or edits is repaired at once if its changes are observed.
 */
async function subscribe(
  { sources }: ArtifactGeneratorSpec,
  requests: readonly ArtifactRequest[],
  ctx: GeneratorContext,
): Promise<void> {
  const { before, deps, namespace, run } = ctx;
  const own = (before.inventory ?? []).filter((entry) => entry.namespace === namespace).map(({ name }) => name);
  const names = [...own, ...requests.map(({ name }) => name)];
  const keys = [...sources.map((source) => sourceKey(source, ctx)), ...names.map((name) => artifactKey(name, ctx))];
  const topics = [...new Set(keys.map(sourceTopic))];
  await deps.subscriptions.subscribe(topics, run.fence, run.signal);
}

async function fail(failure: Failure, ctx: GeneratorContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const { reason, message, retry, waitsFor } = failure;
  const ready = readyOf(before);
  const isShown = ready?.status === "False" && ready.reason === reason && ready.message === message;
  const isStalled = retry === "never";
  // Before the status, which says that it is told.
  if (!isShown || ctx.isAsked) {
    await ctx.record({ type: "Warning", reason, message, annotations: {}, relation: waitsOrFailed(waitsFor) });
  }
  await ctx.conclude((isStalled ? stalled : failed)(ctx.status(), failure, ctx.now()));
  if (isStalled) return { outcome: "stalled", failure, dueInMs: undefined };
  if (retry === "dependency") return { outcome: outcomeOfWait(failure), failure, dueInMs: sourceRetryMs };
  const failures = Failures.safeParse(run.carried).data?.failures ?? 0;
  return {
    outcome: "failed",
    failure,
    dueInMs: backOffMs(failures, deps.timing.retryDelay),
    carried: { failures: failures + 1 },
  };
}

async function pause(isNew: boolean, ctx: GeneratorContext): Promise<FlowResult> {
  await ctx.conclude(paused(ctx.before, ctx.now()));
  const message = "Reconciliation is disabled";
  const event = { type: "Normal", reason: "ReconciliationDisabled", message, annotations: {}, isTrace: true } as const;
  if (!isNew) await ctx.record(event);
  return { outcome: "suspended", dueInMs: undefined };
}

/** Answers whether it was not there. */
async function addFinalizer({ home, live, manager, run }: GeneratorContext): Promise<boolean> {
  if ((live.metadata.finalizers ?? []).includes(generatorFinalizer)) return false;
  const withOurs = (finalizers: readonly string[]) => [...finalizers, generatorFinalizer];
  await writeFinalizers(live, withOurs, { home, manager }, run.signal);
  return true;
}

/** Deletes all that the object has made, then lets it go; also while it is paused. */
async function finalize(ctx: GeneratorContext): Promise<FlowResult> {
  const { before, deps, home, live, manager, run } = ctx;
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  if ((live.metadata.finalizers ?? []).includes(generatorFinalizer)) {
    await removeOthers(new Set(), await ownedArtifacts(ctx), before, ctx);
    const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== generatorFinalizer);
    await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
  }
  return { outcome: "deleted", dueInMs: undefined };
}
