import { z } from "zod";
import { isTrue } from "../../api/condition.ts";
import type { OciRepositorySpec } from "../../api/oci-repository-spec.ts";
import { Digest } from "../../core/digest.ts";
import { parseDuration } from "../../core/duration.ts";
import { sourceEdge } from "../../core/edge-names.ts";
import type { FlowResult } from "../../core/run.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { annotations } from "../../sources/oci/media-types.ts";
import type { Resolved } from "../../sources/oci/resolve.ts";
import { spreadInterval } from "../spread-interval.ts";
import { stored, wasFailing } from "./stages.ts";
import { artifactFolder } from "./store-artifact.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * What those who listen were last woken for. Kept with the end of a run: one that ended between its status and their wake-ups
 * has left an older one, and a status that calls the artifact old.
 */
const Memo = z.object({ announced: z.string() });

/**
 * The artifact of the present revision is stored: says so, writes an event if it is new, and wakes the objects that are built from it.
 *
 * @param isUpToDate whether it was stored before this run
 */
export async function reportStored(
  spec: OciRepositorySpec,
  { revision }: Resolved,
  of: SubjectOfRun,
  isUpToDate: boolean,
): Promise<FlowResult> {
  const { before, deps } = of;
  const { artifact } = of.status();
  // The address may be another since the artifact was stored.
  const url = deps.artifactUrl(`${artifactFolder(of)}/latest.tar.gz`);
  const placed = artifact === undefined ? {} : { artifact: { ...artifact, url: deps.artifactUrl(artifact.path) }, url };
  await of.conclude(stored({ ...of.status(), ...placed }, revision, of.now()));

  const isNewContent = before.artifact?.digest !== artifact?.digest;
  const announced = `${revision} ${artifact?.digest}`;
  const isNews = Memo.safeParse(of.run.memo).data?.announced !== announced || !isTrue(before.conditions ?? [], "Ready");
  // After the status is written: whoever wakes must find the new revision.
  if (isNews) await wakeListeners(of);
  if (isUpToDate) await tellUpToDate(revision, of);
  if (isNewContent || wasFailing(before)) await tell(isNewContent ? "NewArtifact" : "Succeeded", spec, of);
  if (isNewContent) await forgetReplaced(of);
  const dueInMs = spreadInterval(parseDuration(spec.interval), deps.jitter());
  return { outcome: isNews ? "stored" : "unchanged", dueInMs, memo: { announced }, seen: await seen(revision, of) };
}

/** For people who look at the object: Flux posts no such event to its alerts (reference 1.9). */
async function tellUpToDate(revision: string, of: SubjectOfRun): Promise<void> {
  const message = `artifact up-to-date with remote revision: '${revision}'`;
  await of.tell({ type: "Normal", reason: "ArtifactUpToDate", message, annotations: {} });
}

async function tell(reason: "NewArtifact" | "Succeeded", spec: OciRepositorySpec, of: SubjectOfRun): Promise<void> {
  const { artifact } = of.status();
  if (artifact === undefined) return;
  const { [annotations.source]: source = "", [annotations.revision]: originRevision = "" } = artifact.metadata ?? {};
  const origin =
    source !== "" && originRevision !== "" ? `, origin source '${source}', origin revision '${originRevision}'` : "";
  await of.tell({
    type: "Normal",
    reason,
    message: `stored artifact with revision '${artifact.revision}' from '${spec.url}'${origin}`,
    annotations: {
      "source.toolkit.fluxcd.io/revision": artifact.revision,
      "source.toolkit.fluxcd.io/digest": artifact.digest,
    },
  });
}

/**
 * Keeps the present artifact and the one before it: a consumer may have read the status that named that. Only after the
 * status names the new one, so a run that ends before leaves a record too many and never one too few.
 */
async function forgetReplaced(of: SubjectOfRun): Promise<void> {
  const { deps, live, run } = of;
  const kept = [of.before.artifact?.digest, of.status().artifact?.digest].flatMap(
    (digest) => Digest.safeParse(digest).data ?? [],
  );
  await deps.records.retain(run.key, live.metadata.uid, kept, run.fence, run.signal);
}

async function wakeListeners({ deps, run }: SubjectOfRun): Promise<void> {
  const reason = `new artifact of ${formatWorkKey(run.key)}`;
  for (const listener of await deps.edges.listeners(sourceEdge(run.key), run.signal)) {
    await deps.requests.request(listener, reason, run.signal);
  }
}

async function seen(revision: string, { cluster, live, run }: SubjectOfRun): Promise<NonNullable<FlowResult["seen"]>> {
  return { objectUid: live.metadata.uid, clusterUid: await cluster.uid(run.signal), revision };
}
