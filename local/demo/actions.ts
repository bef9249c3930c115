import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LiveObject, Manifest } from "../../lib/core/manifest.ts";
import type { LoggedRequest } from "../sluice-process.ts";
import { appName, namespace, type Stage, until } from "./stage.ts";

/** The example that the demo pushes. */
export const example = join(import.meta.dirname, "../../examples/oddy-test");

/** Whether the Kustomization was reconciled at least once: from then on a push to its source wakes it. */
export async function hasReadyCondition(stage: Stage): Promise<boolean> {
  return (await stage.ready()) !== "no Ready condition";
}

/** Pushes the example after an edit of its folder. */
export async function pushEdited(stage: Stage, edit: (folder: string) => Promise<unknown>) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-demo-push-"));
  try {
    await cp(join(example, "manifests"), folder, { recursive: true });
    await edit(folder);
    return await stage.push(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Waits for Ready=True with this revision; the hops are read off the requests of our client. */
export async function untilApplied(
  stage: Stage,
  revision: string,
  at: number,
  plural: "gitrepositories" | "ocirepositories" = "ocirepositories",
): Promise<Record<string, number>> {
  const wanted = `True Applied revision: ${revision}`;
  await until(
    wanted,
    async () => (await stage.ready()) === wanted || undefined,
    () => stage.ready(),
    stage.signal,
  );
  // The child's log comes through a pipe, so it may be behind what the cluster already shows.
  const isLogged = async () => hasApplied(stage, at) || undefined;
  await until("the end of the run is logged", isLogged, () => stage.ready(), stage.signal);
  const since = stage.sluice().requests.filter((request) => request.at >= at);
  const first = (is: (request: LoggedRequest) => boolean) => since.find(is)?.at;
  const stored = since.findLast(({ verb, path }) => verb === "patch" && path.includes(`/${plural}/${appName}/status`));
  const ready = statusWrites(stage, at).at(-1);
  const moments = {
    "artifact stored": stored?.at,
    "first write": first((request) => isApply(request) || request.verb === "delete"),
    ready: ready?.at,
  };
  return Object.fromEntries(
    Object.entries(moments).flatMap(([name, moment]) => (moment === undefined ? [] : [[name, moment - at]])),
  );
}

function hasApplied(stage: Stage, at: number): boolean {
  return stage
    .sluice()
    .ends.some((end) => end.at >= at && end.key.kind === "Kustomization" && end.outcome === "applied");
}

function statusWrites(stage: Stage, at: number): readonly LoggedRequest[] {
  const path = `/kustomizations/${appName}/status`;
  return stage
    .sluice()
    .requests.filter((request) => request.at >= at && request.verb === "patch" && request.path.includes(path));
}

/** Requests a reconciliation as `flux reconcile` does, and waits until it is handled. Answers when it was requested. */
export async function requestReconcile(stage: Stage): Promise<number> {
  const requestedAt = new Date().toISOString();
  const at = Date.now();
  const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": requestedAt } } };
  const ref = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace, name: appName };
  const events = (await stage.events()).length;
  await stage.cluster.patch(ref, { type: "merge", body }, { manager: "flux" }, stage.signal);
  const isHandled = async () => {
    const { lastHandledReconcileAt } = (await stage.app()).status;
    const isFinished = (await stage.events())
      .slice(events)
      .some((message) => message.startsWith("Reconciliation finished"));
    return (lastHandledReconcileAt === requestedAt && isFinished) || undefined;
  };
  await until("the request is handled", isHandled, () => stage.ready(), stage.signal);
  return at;
}

export async function liveObjects(stage: Stage, of: readonly { apiVersion: string; kind: string; name: string }[]) {
  const found = await Promise.all(of.map(({ apiVersion, kind, name }) => stage.get(kind, name, apiVersion)));
  return found.filter((object) => object !== undefined);
}

export async function countConfigMaps({ cluster, signal }: Stage): Promise<number> {
  const labelSelector = `kustomize.toolkit.fluxcd.io/name=${appName}`;
  return (await cluster.listMetadata({ group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector }, signal))
    .length;
}

/** The fields that must stay the same on an unchanged object. */
export function marks({ metadata }: LiveObject) {
  const entry = metadata.managedFields?.find(({ manager }) => manager === "kustomize-controller");
  return { uid: metadata.uid, generation: metadata.generation, entry };
}

/** An object without the fields that the cluster's own controllers write: they may still work on an earlier scene. */
export function withoutStatus({ metadata, status: _status, ...content }: LiveObject) {
  const { resourceVersion: _version, managedFields: _managers, ...own } = metadata;
  return { ...content, metadata: own, ...marks({ ...content, metadata }) };
}

export function same<T>(
  before: readonly LiveObject[],
  after: readonly LiveObject[],
  of: (object: LiveObject) => T,
): boolean {
  return JSON.stringify(before.map(of)) === JSON.stringify(after.map(of));
}

export function isApply({ verb, dryRun, status }: LoggedRequest): boolean {
  return verb === "apply" && !dryRun && status < 300;
}

export function isWrite({ verb, dryRun }: LoggedRequest): boolean {
  return !dryRun && ["apply", "create", "delete", "patch"].includes(verb);
}

export function configMap(name: string): string {
  const manifest: Manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } };
  return JSON.stringify({ ...manifest, data: { of: "the demo" } });
}
