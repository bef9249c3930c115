import { isJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Written } from "./scenario.ts";

/** One of the two: the cluster whose sources it reconciles. */
export interface Side {
  readonly name: "flux" | "sluice";
  readonly cluster: Cluster;
}

/** A namespace, with the kinds of the objects that were applied to it. */
export interface Scope {
  readonly namespace: string;
  readonly kinds: ReadonlySet<string>;
}

/** The annotation that requests a run. */
export const requestedAt = "reconcile.fluxcd.io/requestedAt";

const core = new Set(["Secret", "ServiceAccount", "Namespace"]);
const sourceKinds = new Set(["HelmRepository", "HelmChart", "GitRepository", "OCIRepository", "Bucket"]);
const group = "source.toolkit.fluxcd.io";
const manager = { manager: "test", force: true };

export async function createNamespace({ cluster }: Side, name: string, signal: AbortSignal): Promise<void> {
  await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, manager, signal);
}

/** Of a Secret its `data`, so that a key that is left out goes. */
function manifestOf({ kind, name, spec, stringData, ...others }: Written, namespace: string, stamp: string): Manifest {
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  const data = stringData && { data: Object.fromEntries(encoded) };
  const apiVersion = core.has(kind) ? "v1" : `${group}/v1`;
  const annotations = sourceKinds.has(kind) && { annotations: { [requestedAt]: stamp } };
  return { apiVersion, kind, metadata: { name, namespace, ...annotations }, ...(spec && { spec }), ...data, ...others };
}

/** Applies the objects, and with it requests a run of the sources among them. @returns how the API server refuses each that it refuses */
export async function applyTo(
  { cluster }: Side,
  written: readonly Written[],
  { namespace, stamp }: { readonly namespace: string; readonly stamp: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const one of written) {
    try {
      await cluster.apply(manifestOf(one, namespace, stamp), manager, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push(`${one.kind}/${one.name}: ${error.message}`);
    }
  }
  return refused;
}

const refOf = (kind: string, name: string, namespace: string) => {
  return { group: core.has(kind) ? "" : group, version: "v1", kind, namespace, name };
};

/** @param named `KIND/NAME` */
export async function removeFrom(side: Side, named: string, namespace: string, signal: AbortSignal): Promise<void> {
  const [kind = "", name = ""] = named.split("/");
  await side.cluster.delete(refOf(kind, name, namespace), { propagation: "Background" }, signal);
}

/** Requests a run of these sources, unless that has been done. @param stamp what status.lastHandledReconcileAt says once it has ended */
export async function request(side: Side, live: readonly LiveObject[], stamp: string, signal: AbortSignal) {
  const body = { metadata: { annotations: { [requestedAt]: stamp } } };
  for (const { kind, metadata } of live) {
    if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[requestedAt] === stamp) continue;
    const ref = refOf(kind, metadata.name, metadata.namespace ?? "");
    await side.cluster.patch(ref, { type: "merge", body }, { manager: "test" }, signal);
  }
}

export async function sourcesOf({ cluster }: Side, { namespace, kinds }: Scope, signal: AbortSignal) {
  const listed = [...kinds].filter((kind) => sourceKinds.has(kind));
  const lists = listed.map((kind) => cluster.list({ group, version: "v1", kind, namespace }, signal));
  return (await Promise.all(lists)).flat();
}

/** Whether it reads another source, so that its run has to come after that one's. */
export function isDependent({ kind, spec }: { readonly kind: string; readonly spec?: unknown }): boolean {
  return kind === "HelmChart" || (isJsonObject(spec) && spec["include"] !== undefined);
}
