import { z } from "zod";
import { ConditionReason, findCondition } from "../../api/condition.ts";
import { ImageRepositorySpec, ImageRepositoryStatus } from "../../api/image-repository.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImageRepository } from "../../api/kinds/image-repository.ts";
import { finalizer } from "../../api/names.ts";
import { parseLive } from "../../api/parse-live.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { backOffMs, Failure } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { repositoryTopic } from "../../core/topics.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { ImageReferenceFault, type ImageRepositoryName, parseImageRepository } from "../../image/image-reference.ts";
import { inRegistryWords } from "../../sources/oci/registry-words.ts";
import { type ScannedTags, scanTags } from "../../image/scan.ts";
import { type Connect, type RegistryClient, registryClients } from "../../sources/oci/registry-client.ts";
import { failureOf } from "../../sources/oci/registry-fault.ts";
import { shortIntervalWarning } from "../interval.ts";
import { runContext } from "../run-context.ts";
import { retryAfterMs, wakeConsumers } from "../source/report.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { imageRegistry } from "./registry.ts";
import type { ImageRepositoryDeps, RepositoryContext } from "./repository-context.ts";
import { begun, failed, isReady, progressing, stalled, succeeded, suspended } from "./repository-status.ts";
import { emptyStore, exclusionsOf, whenToScan } from "./when-to-scan.ts";

/**
 * The reconcile of an ImageRepository: lists the tags of its registry if a scan is due, stores those that are not excluded, and wakes
 * the ImagePolicies that refer to it. Looks only at present state, so a run may be repeated or killed anywhere.
 */
export function imageRepositoryFlow(deps: ImageRepositoryDeps): Flow {
  const connect = registryClients(deps.http, deps.clock);
  return async (run) => {
    const live = await deps.home.get({ ...run.key, ...servedKind(declaredImageRepository) }, run.signal);
    if (live === undefined) {
      await forget(run, deps);
      await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} is gone`);
      return { outcome: "absent", dueInMs: undefined };
    }
    // An unreadable status counts as empty; the run writes a valid one.
    const before = ImageRepositoryStatus.safeParse(live["status"] ?? {}).data ?? {};
    const ctx = runContext(declaredImageRepository, live, before, run, deps);
    if (live.metadata.deletionTimestamp !== undefined) return finalize(ctx);
    await addFinalizer(ctx);
    try {
      const spec = parseLive(live, "spec", ImageRepositorySpec);
      if (spec.suspend === true) return await suspend(ctx);
      return await reconcile(spec, connect, ctx);
    } catch (error) {
      if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
      return fail(error, ctx);
    }
  };
}

async function reconcile(spec: ImageRepositorySpec, connect: Connect, ctx: RepositoryContext): Promise<FlowResult> {
  const { before, deps, run } = ctx;
  const warning = shortIntervalWarning(spec, { ...ctx.now(), conditions: before.conditions ?? [] });
  if (warning !== undefined) await ctx.record(warning);
  ctx.setStatus(begun(before, ctx.now()));
  refuseAccount(spec);
  const image = repositoryOf(spec);
  // Before the registry is asked, so that no push in between is missed.
  await deps.subscriptions.subscribe([repositoryTopic(image.host, image.repository)], run.fence, run.signal);
  const registry = await imageRegistry(image, spec, { ...deps, connect }, { ...ctx, log: deps.log });
  const stored = await deps.imageTags.describe(run.key, run.signal);
  const isAsked = ctx.isAsked || isAnnounced(ctx);
  const { canonical } = image;
  const due = whenToScan({ spec, before, canonical, isAsked, stored: stored?.count ?? 0, now: deps.clock.now() });
  if ("dueInMs" in due) {
    const next = `next scan in ${formatDuration(due.dueInMs)}`;
    return report(spec, image, `no change in repository configuration since last scan, ${next}`, due.dueInMs, ctx);
  }
  ctx.setStatus(progressing(ctx.status(), `scanning: ${due.why}`, ctx.now(), due.why === emptyStore));
  const isNew = before.observedGeneration !== ctx.now().generation;
  // Not again at each retry of a failure.
  if ((isNew && findCondition(before.conditions ?? [], "Reconciling") === undefined) || ctx.isAsked)
    await ctx.publish();
  const { tags, revision, latest } = await scan(spec, image, registry, ctx);
  await deps.imageTags.put({ tags, revision }, run.fence, run.signal);
  const lastScanResult = {
    ...{ revision, tagCount: tags.length, scanTime: kubernetesTime(deps.clock.now()) },
    ...(latest.length === 0 ? {} : { latestTags: [...latest] }),
  };
  const intervalMs = parseDuration(spec.interval);
  const what = before.lastScanResult?.revision === revision ? "tags did not change" : "successful scan";
  ctx.setStatus({ ...ctx.status(), lastScanResult });
  return report(spec, image, `${what}, next scan in ${formatDuration(intervalMs)}`, intervalMs, ctx);
}

/** It names a cloud identity: ours in its place would grant more than was asked for. */
export function refuseAccount({ provider, serviceAccountName = "" }: ImageRepositorySpec): void {
  if (provider === "generic" || serviceAccountName === "") return;
  const message =
    "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
  throw new Failure("FeatureGateDisabled", message);
}

function repositoryOf({ image }: ImageRepositorySpec): ImageRepositoryName {
  try {
    return parseImageRepository(image);
  } catch (error) {
    if (!(error instanceof ImageReferenceFault)) throw error;
    throw new Failure("ImageURLInvalid", error.message, { cause: error });
  }
}

async function scan(
  spec: ImageRepositorySpec,
  { host, repository }: ImageRepositoryName,
  registry: RegistryClient,
  { run }: RepositoryContext,
): Promise<ScannedTags> {
  let listed: readonly string[];
  try {
    listed = await registry.tags(repository, run.signal);
  } catch (error) {
    throw failureOf("ReadOperationFailed", `scan failed: ${inRegistryWords(error, host)}`, error, run.signal);
  }
  try {
    return await scanTags(listed, exclusionsOf(spec), run.signal);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure("ReadOperationFailed", `scan failed: ${error.message}`, { cause: error });
  }
}

/** Kept from run to run. */
const Carried = z.object({
  /** The object at the end of its last run: if it has not changed, an event has requested the run. */
  looked: z.string().exactOptional(),
  /** The set of tags for which policies were last woken. */
  announced: z.string().exactOptional(),
  /** Whether an event has asked for a scan that has not come to its end yet. */
  asked: z.literal(true).exactOptional(),
  /** Failures in a row, so that the waits between them grow. */
  failures: z.number().int().min(0).exactOptional(),
});

function carriedOf({ run }: RepositoryContext): z.infer<typeof Carried> {
  return Carried.safeParse(run.carried).data ?? {};
}

/** Whether an event of the registry or a webhook asks for a scan, now or since a scan that failed. */
function isAnnounced(ctx: RepositoryContext): boolean {
  const { asked, looked } = carriedOf(ctx);
  return asked === true || (ctx.run.isRequested && looked === lookOf(ctx));
}

function lookOf({ live, requestedAt }: RepositoryContext): string {
  const { uid, generation } = live.metadata;
  return JSON.stringify([uid, generation, requestedAt ?? null]);
}

/** The run has done its work: status, policies, event. @param next what the event says where nothing has changed */
async function report(
  spec: ImageRepositorySpec,
  image: ImageRepositoryName,
  next: string,
  dueInMs: number,
  ctx: RepositoryContext,
): Promise<FlowResult> {
  const { before, live, run } = ctx;
  const { revision = "", tagCount = 0 } = ctx.status().lastScanResult ?? {};
  const message = `successful scan: found ${tagCount} tags with checksum ${revision}`;
  const observed = { canonicalImageName: image.canonical, observedExclusionList: [...exclusionsOf(spec)] };
  await ctx.conclude({ ...succeeded(ctx.status(), message, ctx.now()), ...observed });
  // After the status is written: a policy that wakes must find the new revision.
  const carried = await announce(ctx);
  const wasReady = isReady(before);
  const isNews = !wasReady || findCondition(before.conditions ?? [], "Ready")?.message !== message;
  const event = { type: "Normal", reason: "Succeeded", annotations: {} } as const;
  if (isNews) {
    const relation = wasReady ? undefined : ({ kind: "recovered", from: [] } as const);
    await ctx.record({ ...event, message, relation });
  } else await ctx.record({ ...event, message: next, isTrace: true });
  return {
    outcome: isNews ? "scanned" : "unchanged",
    ...(isNews ? {} : { isQuiet: true }),
    dueInMs: dueInMs === 0 ? undefined : dueInMs,
    carried,
    seen: { objectUid: live.metadata.uid, clusterUid: await ctx.home.uid(run.signal), revision },
  };
}

/** Wakes the policies for a new set of tags, and for an object that is new to them. */
async function announce(ctx: RepositoryContext): Promise<JsonObject> {
  const announced = `${ctx.live.metadata.uid} ${ctx.status().lastScanResult?.revision ?? ""}`;
  if (carriedOf(ctx).announced !== announced) await wakeConsumers(ctx, `tags of ${formatWorkKey(ctx.run.key)}`);
  return { announced, looked: lookOf(ctx) };
}

async function fail(failure: Failure, ctx: RepositoryContext): Promise<FlowResult> {
  const { before, deps } = ctx;
  const isStalled = failure.retry === "never";
  const after = (isStalled ? stalled : failed)(ctx.status(), failure, ctx.now());
  await ctx.conclude(after);
  const ready = findCondition(after.conditions ?? [], "Ready");
  const reason = ready === undefined ? failure.reason : ConditionReason.parse(ready.reason);
  const message = ready?.message ?? failure.message;
  const was = findCondition(before.conditions ?? [], "Ready");
  const isShown = was?.status === "False" && was.reason === reason && was.message === message;
  const isSeen = isShown && !ctx.isAsked && before.observedGeneration === ctx.status().observedGeneration;
  if (!isSeen) {
    await ctx.record({ type: "Warning", reason, message, annotations: {}, relation: { kind: "failed" } });
  }
  const announced = await announce(ctx);
  if (isStalled) return { outcome: "stalled", failure, dueInMs: undefined, carried: announced };
  const { failures = 0 } = carriedOf(ctx);
  const dueInMs = Math.max(backOffMs(failures, deps.timing.retryDelay), retryAfterMs(failure));
  const asked = isAnnounced(ctx) ? { asked: true } : {};
  return { outcome: "failed", failure, dueInMs, carried: { ...announced, ...asked, failures: failures + 1 } };
}

async function suspend(ctx: RepositoryContext): Promise<FlowResult> {
  await ctx.conclude(suspended(ctx.before, ctx.now()));
  return { outcome: "suspended", dueInMs: undefined, carried: await announce(ctx) };
}

async function addFinalizer({ home, live, manager, run }: RepositoryContext): Promise<void> {
  if ((live.metadata.finalizers ?? []).includes(finalizer)) return;
  const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];
  await writeFinalizers(live, withOurs, { home, manager }, run.signal);
}

/** Forgets the object, then removes our finalizer. Neither needs the registry. */
async function finalize(ctx: RepositoryContext): Promise<FlowResult> {
  const { deps, home, live, manager, run } = ctx;
  await forget(run, deps);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) {
    const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
    await writeFinalizers(live, withoutOurs, { home, manager }, run.signal);
  }
  await wakeConsumers(ctx, `${formatWorkKey(run.key)} is deleted`);
  return { outcome: "deleted", dueInMs: undefined };
}

/** Ends the subscriptions and removes the tags of an object that is gone or being deleted. */
async function forget({ fence, signal }: Run, { imageTags, subscriptions }: ImageRepositoryDeps): Promise<void> {
  await subscriptions.subscribe([], fence, signal);
  await imageTags.remove(fence, signal);
}
