import { finalizer, sourceGroup } from "../../api/names.ts";
import { OciRepositoryStatus } from "../../api/oci-repository.ts";
import { OciRepositorySpec } from "../../api/oci-repository-spec.ts";
import { parseLive } from "../../api/parse-live.ts";
import { unsupportedOciRepositoryFields } from "../../api/unsupported-fields.ts";
import { repositoryEdge } from "../../core/edge-names.ts";
import { Failure } from "../../core/failure.ts";
import type { Flow, FlowResult, Run } from "../../core/run.ts";
import { type Connect, registryClients } from "../../sources/oci/registry-client.ts";
import { parseRepositoryUrl } from "../../sources/oci/repository-url.ts";
import { resolve } from "../../sources/oci/resolve.ts";
import { shortIntervalWarning } from "../short-interval-warning.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import type { OciRepositoryDeps } from "./deps.ts";
import { registryOf } from "./registry-of.ts";
import { reportFailure } from "./report-failure.ts";
import { reportStored } from "./report-stored.ts";
import { begun, isBegun, suspended } from "./stages.ts";
import { hasArtifactOf, loadArtifact, storeArtifact } from "./store-artifact.ts";
import { type SubjectOfRun, sourceManager, subjectOfRun } from "./subject-of-run.ts";

/**
 * The reconcile of an OCIRepository: load, gate, resolve, pull, store, report. Looks only at present state, so a run may be
 * repeated, lost, doubled or killed anywhere; where nothing changed it writes nothing.
 */
export function ociRepositoryFlow(deps: OciRepositoryDeps): Flow {
  const connect = registryClients(deps.http, deps.clock);
  return (run) => reconcile(run, deps, connect);
}

async function reconcile(run: Run, deps: OciRepositoryDeps, connect: Connect): Promise<FlowResult> {
  const live = await deps.cluster.get({ ...run.key, group: sourceGroup, version: "v1" }, run.signal);
  if (live === undefined) {
    await forget(run, deps);
    return { outcome: "absent", dueInMs: undefined };
  }
  // A status that cannot be read is written anew.
  const before = OciRepositoryStatus.safeParse(live["status"] ?? {}).data ?? {};
  const of = subjectOfRun(live, before, run, deps);
  if (live.metadata.deletionTimestamp !== undefined) return finalize(of);
  if (!(live.metadata.finalizers ?? []).includes(finalizer)) {
    await writeFinalizers(
      live,
      (finalizers) => [...finalizers, finalizer],
      { ...of, manager: sourceManager },
      run.signal,
    );
  }
  try {
    const spec = parseLive(live, "spec", OciRepositorySpec);
    if (spec.suspend === true) return await suspend(of);
    const warning = shortIntervalWarning(spec, { ...of.now(), conditions: of.before.conditions ?? [] });
    if (warning !== undefined) await of.tell(warning);
    return await reconcileSource(gate(spec, deps), of, connect);
  } catch (error) {
    if (!(error instanceof Failure)) throw error; // a bug, or the end of the run: the queue tries again and counts
    return reportFailure(error, of);
  }
}

/**
 * Refuses what would show our identity to others than the registry, and by name what is not built yet: a field may guard
 * something, so none is ever ignored in silence.
 */
function gate(spec: OciRepositorySpec, { logins }: OciRepositoryDeps): OciRepositorySpec {
  const [unsafe] = logins?.aws === undefined ? [] : fieldsUnsafeForOurIdentity(spec);
  if (unsafe !== undefined) throw new Failure("InvalidProviderConfiguration", unsafe);
  const fields = unsupportedOciRepositoryFields(spec, logins?.aws === undefined ? [] : ["aws"]);
  if (fields.length === 0) return spec;
  const message = `${fields.join(", ")} is not supported yet: remove it, or leave this OCIRepository to Flux until it is`;
  throw new Failure("UnsupportedField", message);
}

/** Where an object logs in with our identity, TLS as the system trusts it has to reach from us to the registry. */
function fieldsUnsafeForOurIdentity(spec: OciRepositorySpec): readonly string[] {
  const isOurs = spec.provider === "aws" && spec.secretRef === undefined && (spec.serviceAccountName ?? "") === "";
  if (!isOurs) return [];
  const why = "cannot be set with provider aws, whose token is for the registry alone";
  const mend = "remove it, or log in with a secretRef";
  return [
    ...(spec.insecure === true ? [`spec.insecure ${why}: ${mend}`] : []),
    ...((spec.certSecretRef?.name ?? "") === "" ? [] : [`spec.certSecretRef ${why}: ${mend}`]),
    ...(spec.proxySecretRef === undefined ? [] : [`spec.proxySecretRef ${why}: ${mend}`]),
  ];
}

async function reconcileSource(spec: OciRepositorySpec, of: SubjectOfRun, connect: Connect): Promise<FlowResult> {
  of.say(begun(of.before, of.now()));
  // Told at once where the spec is new, but not again at each retry of a failure.
  const isNew = of.before.observedGeneration !== of.now().generation;
  if (isNew && !isBegun(of.before, of.now())) await of.publish();
  await loadArtifact(of);

  const address = parseRepositoryUrl(spec.url);
  // Listened to before it is looked at, so that no push falls between.
  await of.deps.edges.listen([repositoryEdge(address.host, address.repository)], of.run.fence, of.run.signal);
  const registry = await registryOf(address, spec, connect, of);
  const resolved = await resolve(spec, address, registry, of.run.signal);
  const isUpToDate = hasArtifactOf(spec, resolved, of);
  if (!isUpToDate) await storeArtifact(spec, address.repository, resolved, registry, of);
  return reportStored(spec, resolved, of, isUpToDate);
}

async function suspend(of: SubjectOfRun): Promise<FlowResult> {
  await of.conclude(suspended(of.before, of.now()));
  return { outcome: "suspended", dueInMs: undefined };
}

/** What is remembered of an object that is gone, or about to be. */
async function forget({ key, fence, signal }: Run, { edges, records }: OciRepositoryDeps): Promise<void> {
  await edges.listen([], fence, signal);
  await records.retain(key, "", [], fence, signal);
}

/** Lets go of the object. Its artifacts are collected by their digests, since other sources may have the same. */
async function finalize(of: SubjectOfRun): Promise<FlowResult> {
  const { live, run } = of;
  await forget(run, of.deps);
  if ((live.metadata.finalizers ?? []).includes(finalizer)) {
    const others = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
    await writeFinalizers(live, others, { ...of, manager: sourceManager }, run.signal);
  }
  return { outcome: "deleted", dueInMs: undefined };
}
