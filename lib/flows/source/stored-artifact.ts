import { SourceStatus } from "../../api/source.ts";
import { Digest } from "../../core/digest.ts";
import { equal } from "../../core/json.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import { storeOutage } from "../../core/ports/outage.ts";
import { outdated, withoutArtifact } from "./source-conditions.ts";
import type { SourceContext } from "./source-context.ts";
import type { Pulled, Resolved } from "./source-kind.ts";

const maxNamedLinks = 10;
const sharedFields: ReadonlySet<string> = new Set(Object.keys(SourceStatus.shape));

/**
 * Drops the artifact from the status unless this source recorded it and it is still stored: neither a person who can write a status
 * nor another installation that reconciled the object before may choose what is applied.
 */
export async function checkStoredArtifact(ctx: SourceContext): Promise<void> {
  const { deps, live, run } = ctx;
  const { artifact } = ctx.status();
  const digest = Digest.safeParse(artifact?.digest);
  const unread = storeOutage("StorageOperationFailed", "unable to read artifact from storage", run.signal);
  if (
    digest.success &&
    (await deps.records.recorded(run.key, live.metadata.uid, digest.data, run.signal)) &&
    (await deps.artifacts.has(digest.data, run.signal).catch(unread))
  ) {
    return;
  }
  ctx.setStatus(withoutArtifact(ctx.status(), artifact !== undefined, ctx.now()));
  if (artifact !== undefined) await ctx.publish();
}

/** Whether the stored artifact is what a pull would bring: the same revision, made with the same settings. */
export function isStored({ isStale = false, noted = {}, observed, revision }: Resolved, ctx: SourceContext): boolean {
  const status = ctx.status();
  return !isStale && status.artifact?.revision === revision && equal(observedOf(status, noted), observed);
}

/** Pulls the revision, stores it and sets the artifact in the status, which is not written yet. */
export async function storeArtifact(resolved: Resolved, ctx: SourceContext): Promise<Pulled> {
  const { deps, live, run } = ctx;
  const pulled = await resolved.pull(async (text = resolved.messages.outdated) => {
    if (ctx.status().artifact?.revision === resolved.revision) return;
    ctx.setStatus(outdated(ctx.status(), text, ctx.now(), resolved.reasons?.outdated));
    await ctx.publish();
  });
  const { file, revision } = pulled.taken ?? resolved;
  if (pulled.links.length > 0) {
    const links = { count: pulled.links.length, links: pulled.links.slice(0, maxNamedLinks) };
    deps.log.warn("links in artifact not followed", { ...run.key, revision, ...links });
    deps.metrics.record(run.key, { ArtifactLinksSkipped: pulled.links.length }, { revision });
  }
  const unstored = storeOutage("ArchiveOperationFailed", "unable to archive artifact to storage", run.signal);
  // Stored and recorded before a status names it, since consumers go by the status.
  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);
  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);
  const path = `${artifactFolder(ctx)}/${file}`;
  const artifact = {
    digest: pulled.digest,
    path,
    url: deps.artifactUrl(path),
    revision,
    lastUpdateTime: kubernetesTime(deps.clock.now()),
    size: pulled.bytes.length,
    ...(Object.keys(pulled.metadata).length > 0 ? { metadata: pulled.metadata } : {}),
  };
  const { noted, observed } = resolved;
  ctx.setStatus({ ...sharedOf(ctx.status()), ...observed, ...noted, ...pulled.observed, artifact });
  return pulled;
}

/** The status with the artifact's present addresses: they may have changed since it was stored. */
export function withAddresses(status: SourceStatus, ctx: SourceContext): SourceStatus {
  const { artifact } = status;
  if (artifact === undefined) return status;
  const { artifactUrl } = ctx.deps;
  const { latest } = ctx.traits;
  return {
    ...status,
    artifact: { ...artifact, url: artifactUrl(artifact.path) },
    ...(latest === undefined ? {} : { url: artifactUrl(`${artifactFolder(ctx)}/${latest}`) }),
  };
}

/**
 * Keeps the present artifact and the one before it: a consumer may have read the status that named the earlier one. Called after the
 * status names the new one, so a run that ends before leaves a record too many and never one too few.
 */
export async function forgetReplaced(ctx: SourceContext): Promise<void> {
  const { deps, live, run } = ctx;
  const kept = [ctx.before.artifact, ctx.status().artifact]
    .filter((artifact) => artifact !== undefined)
    .flatMap((artifact) => [artifact.digest, ...(ctx.traits.recordedBeside?.(artifact, ctx.now().generation) ?? [])])
    .flatMap((digest) => Digest.safeParse(digest).data ?? []);
  await deps.records.retain(run.key, live.metadata.uid, kept, run.fence, run.signal);
}

/** The folder of a source's artifacts, as Flux names it. */
function artifactFolder({ traits, name, namespace }: SourceContext): string {
  return `${traits.declared.kind.toLowerCase()}/${namespace}/${name}`;
}

function sharedOf(status: SourceStatus): SourceStatus {
  return Object.fromEntries(Object.entries(status).filter(([field]) => sharedFields.has(field)));
}

/** The fields that only this kind has: {@link Resolved.observed} as the stored artifact was made with it. */
function observedOf(status: SourceStatus, noted: object): object {
  const isObserved = (field: string): boolean => !sharedFields.has(field) && !Object.hasOwn(noted, field);
  return Object.fromEntries(Object.entries(status).filter(([field]) => isObserved(field)));
}
