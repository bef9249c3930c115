import { z } from "zod";
import { equal, isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { withoutMends } from "../../doubles/without-mends.ts";
import type { SourceHosts } from "./source-hosts.ts";

/** An object of a scenario: it gets the scenario's namespace. */
export interface Written {
  readonly kind: string;
  readonly name: string;
  readonly spec?: JsonObject;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
  /** Of a ServiceAccount. */
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

export interface Step {
  readonly what: string;
  /** Changes what the hosts have. */
  readonly change?: (hosts: SourceHosts, namespace: string) => void | Promise<void>;
  readonly apply?: (hosts: SourceHosts, namespace: string) => readonly Written[];
  /** `KIND/NAME` each. */
  readonly remove?: readonly string[];
  /** Whether no run is requested of the sources. */
  readonly isQuiet?: true;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Side {
  readonly name: string;
  readonly cluster: Cluster;
}

const versions: Readonly<Record<string, string>> = {
  Secret: "v1",
  ServiceAccount: "v1",
  ConfigMap: "v1",
  Namespace: "v1",
};
const sourceKinds = ["HelmRepository", "HelmChart", "GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
const source = "source.toolkit.fluxcd.io/v1";
const manager = { manager: "test", force: true };

export async function begin(side: Side, namespace: string, signal: AbortSignal): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await side.cluster.apply(object, manager, signal);
}

/** Of a Secret its `data`, so that a key that is left out goes. */
function manifestOf({ kind, name, spec, stringData, ...others }: Written, namespace: string): Manifest {
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  const data = stringData && { data: Object.fromEntries(encoded) };
  return {
    apiVersion: versions[kind] ?? source,
    kind,
    metadata: { name, namespace },
    ...(spec && { spec }),
    ...data,
    ...others,
  };
}

/** Applies the objects, or answers how the API server refuses one. */
export async function applyTo(
  { cluster }: Side,
  written: readonly Written[],
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const one of written) {
    try {
      await cluster.apply(manifestOf(one, namespace), manager, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push(`${one.kind}/${one.name}: ${error.message}`);
    }
  }
  return refused;
}

const refOf = (named: string, namespace: string) => {
  const [kind = "", name = ""] = named.split("/");
  const isCore = versions[kind] !== undefined;
  return { group: isCore ? "" : "source.toolkit.fluxcd.io", version: "v1", kind, namespace, name };
};

export async function removeFrom({ cluster }: Side, named: string, namespace: string, signal: AbortSignal) {
  await cluster.delete(refOf(named, namespace), { propagation: "Background" }, signal);
}

export async function request(side: Side, stamp: string, namespace: string, signal: AbortSignal): Promise<void> {
  for (const live of await sourcesOf(side, namespace, signal)) {
    if (live.metadata.deletionTimestamp !== undefined) continue;
    const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": stamp } } };
    await side.cluster.patch(
      refOf(`${live.kind}/${live.metadata.name}`, namespace),
      { type: "merge", body },
      { manager: "test" },
      signal,
    );
  }
}

async function sourcesOf({ cluster }: Side, namespace: string, signal: AbortSignal): Promise<readonly LiveObject[]> {
  const lists = sourceKinds.map((kind) =>
    cluster.list({ group: "source.toolkit.fluxcd.io", version: "v1", kind, namespace }, signal),
  );
  return (await Promise.all(lists)).flat();
}

/** What a step leaves: the status of every source, and the events. */
export interface Left {
  readonly isOver: boolean;
  readonly sources: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
}

const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.number().exactOptional(),
});
const Status = z.looseObject({
  conditions: z.array(Condition).exactOptional(),
  lastHandledReconcileAt: z.string().exactOptional(),
});

export async function look(side: Side, namespace: string, names: Names, signal: AbortSignal): Promise<Left> {
  const live = await sourcesOf(side, namespace, signal);
  const sources = Object.fromEntries(live.map((one) => [`${one.kind}/${one.metadata.name}`, shown(one, names)]));
  const events = (await side.cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal)).flatMap(
    (one) => {
      const { involvedObject, type, reason, message, metadata } = Event.parse(one);
      if (reason === "ArtifactUpToDate" || reason === "GarbageCollectionSucceeded") return [];
      if (type === "Normal" && reason === "AuthenticationFailed") return [];
      const { kind = "", name = "" } = involvedObject;
      const revision = metadata.annotations?.["source.toolkit.fluxcd.io/revision"];
      const text = textOf(message.replace(/^\(combined from similar events\): /, ""), names);
      return [
        `${kind}/${name} ${type} ${reason}: ${text}${revision === undefined ? "" : ` [${textOf(revision, names)}]`}`,
      ];
    },
  );
  return { isOver: live.every(isOver), sources, events: [...new Set(events)].toSorted() };
}

const Event = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).exactOptional() }),
  involvedObject: z.looseObject({ kind: z.string().exactOptional(), name: z.string().exactOptional() }),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
});

/** Texts to replace: those that differ from run to run. */
export type Names = readonly (readonly [pattern: RegExp, by: string])[];

function textOf(text: string, names: Names): string {
  return names.reduce((left, [pattern, by]) => left.replaceAll(pattern, by), withoutMends(text));
}

const dropped = new Set(["lastTransitionTime", "lastUpdateTime", "url"]);

function shown(live: LiveObject, names: Names): unknown {
  const status = isJsonObject(live["status"]) ? live["status"] : {};
  const { conditions = [], lastHandledReconcileAt, ...others } = Status.parse(status);
  const texts = conditions
    .map(
      ({ type, status: is, reason, message, observedGeneration }) =>
        `${type}=${is} ${reason} (${observedGeneration}): ${textOf(message, names)}`,
    )
    .toSorted();
  const isHandled = lastHandledReconcileAt === live.metadata.annotations?.["reconcile.fluxcd.io/requestedAt"];
  const finalizers = live.metadata["finalizers"];
  const rest = Object.entries(others).map(([key, value]) => [key, comparable(value, names)]);
  return {
    conditions: texts,
    isHandled,
    finalizers,
    ...Object.fromEntries(rest.filter(([key]) => !dropped.has(String(key)))),
  };
}

function comparable(value: unknown, names: Names): unknown {
  if (typeof value === "string") return textOf(value, names);
  if (Array.isArray(value)) return value.map((one) => comparable(one, names));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, comparable(one, names)]));
}

function isOver(live: LiveObject): boolean {
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  if (live.kind === "ExternalArtifact" || (live.kind === "HelmRepository" && spec["type"] === "oci")) return true;
  const { conditions = [], lastHandledReconcileAt } = Status.parse(isJsonObject(live["status"]) ? live["status"] : {});
  const requested = live.metadata.annotations?.["reconcile.fluxcd.io/requestedAt"];
  if (requested !== undefined && lastHandledReconcileAt !== requested) return false;
  if (spec["suspend"] === true) return true;
  const ready = conditions.find(({ type }) => type === "Ready");
  const reconciling = conditions.find(({ type }) => type === "Reconciling");
  if (ready === undefined || ready.status === "Unknown" || reconciling?.reason === "Progressing") return false;
  return ready.observedGeneration === live.metadata.generation;
}

const quietMs = 1_500;

/** Waits until both are quiet and equal, or quiet for long. */
export async function settleBoth(
  sides: readonly [Side, Side],
  namespace: string,
  names: Names,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly [Left, Left]> {
  const started = Date.now();
  let before: unknown;
  let since = Date.now();
  for (;;) {
    const [flux, sluice] = await Promise.all([
      look(sides[0], namespace, names, signal),
      look(sides[1], namespace, names, signal),
    ]);
    if (!equal(JSON.stringify([flux, sluice]), before)) [before, since] = [JSON.stringify([flux, sluice]), Date.now()];
    const quiet = Date.now() - since;
    const areOver = flux.isOver && sluice.isOver;
    if (areOver && quiet >= quietMs && equal(JSON.stringify({ ...flux }), JSON.stringify({ ...sluice })))
      return [flux, sluice];
    if ((areOver && quiet >= patienceMs) || Date.now() - started > 6 * patienceMs) return [flux, sluice];
    await systemClock.sleep(250, signal);
  }
}
