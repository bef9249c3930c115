import type { OciRepositoryStatus } from "../../api/oci-repository.ts";
import type { OciRepositorySpec } from "../../api/oci-repository-spec.ts";
import { Digest } from "../../core/digest.ts";
import { equal } from "../../core/equal.ts";
import { storeOutage } from "../../core/outage.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";
import { pullArtifact } from "../../sources/oci/pull-artifact.ts";
import type { RegistryClient } from "../../sources/oci/registry-client.ts";
import type { Resolved } from "../../sources/oci/resolve.ts";
import { kubernetesTime } from "../conditions.ts";
import { outdated, withoutArtifact } from "./stages.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxNamedLinks = 10;

/**
 * Checks that the artifact that the status names is ours and still there, and forgets it otherwise: whoever can write a
 * status, and an object that another installation reconciled before, must not choose what is applied.
 */
export async function loadArtifact(of: SubjectOfRun): Promise<void> {
  const { deps, live, run } = of;
  const { artifact } = of.status();
  const digest = Digest.safeParse(artifact?.digest);
  const unread = storeOutage("StorageOperationFailed", "unable to read artifact from storage", run.signal);
  if (
    digest.success &&
    (await deps.records.recorded(run.key, live.metadata.uid, digest.data, run.signal)) &&
    (await deps.artifacts.get(digest.data, run.signal).catch(unread)) !== undefined
  ) {
    return;
  }
  of.say(withoutArtifact(of.status(), artifact !== undefined, of.now()));
  if (artifact !== undefined) await of.publish();
}

/** Whether the stored artifact is what a pull would bring: same revision, made with the same settings. */
export function hasArtifactOf(spec: OciRepositorySpec, { revision }: Resolved, of: SubjectOfRun): boolean {
  const { artifact, observedIgnore, observedLayerSelector } = of.status();
  return (
    artifact?.revision === revision &&
    observedIgnore === spec.ignore &&
    equal(observedLayerSelector, spec.layerSelector)
  );
}

/** Pulls the revision, stores its artifact and says so in the status, which is not written yet. */
export async function storeArtifact(
  spec: OciRepositorySpec,
  repository: string,
  resolved: Resolved,
  registry: RegistryClient,
  of: SubjectOfRun,
): Promise<void> {
  const { deps, live, run } = of;
  if (of.status().artifact?.revision !== resolved.revision) {
    of.say(outdated(of.status(), resolved, of.now()));
    await of.publish();
  }
  const limits = deps.limits ?? defaultArchiveLimits;
  const pulled = await pullArtifact(spec, repository, resolved.digest, registry, limits, run.signal);
  if (pulled.links.length > 0) {
    const links = { count: pulled.links.length, links: pulled.links.slice(0, maxNamedLinks) };
    deps.log.warn("links in artifact not followed", { ...run.key, revision: resolved.revision, ...links });
    deps.metrics.record(run.key, { ArtifactLinksSkipped: pulled.links.length }, { revision: resolved.revision });
  }
  const unstored = storeOutage("ArchiveOperationFailed", "unable to archive artifact to storage", run.signal);
  // Stored and recorded before any status names it, since consumers go by the status.
  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);
  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);
  const path = `${artifactFolder(of)}/${resolved.digest}.tar.gz`;
  const artifact = {
    digest: pulled.digest,
    path,
    url: deps.artifactUrl(path),
    revision: resolved.revision,
    lastUpdateTime: kubernetesTime(deps.clock.now()),
    size: pulled.bytes.length,
    ...(Object.keys(pulled.metadata).length > 0 ? { metadata: pulled.metadata } : {}),
  };
  of.say({ ...withoutObserved(of.status()), ...observed(spec), artifact });
}

/** The folder of a source's artifacts, as Flux names it. */
export function artifactFolder({ name, namespace }: SubjectOfRun): string {
  return `ocirepository/${namespace}/${name}`;
}

function withoutObserved({
  observedIgnore: _ignore,
  observedLayerSelector: _selector,
  ...rest
}: OciRepositoryStatus): OciRepositoryStatus {
  return rest;
}

function observed({ ignore, layerSelector }: OciRepositorySpec): OciRepositoryStatus {
  return {
    ...(ignore === undefined ? {} : { observedIgnore: ignore }),
    ...(layerSelector === undefined ? {} : { observedLayerSelector: layerSelector }),
  };
}
