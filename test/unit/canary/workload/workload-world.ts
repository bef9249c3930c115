import { CanarySpec, CanaryStatus } from "../../../../lib/api/canary.ts";
import type { Canary } from "../../../../lib/canary/canary.ts";
import type { StepDeps } from "../../../../lib/canary/canary-deps.ts";
import { type CanarySettings, defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import type { StepMemory } from "../../../../lib/canary/canary-deps.ts";
import { scalerOf, workloadOf } from "../../../../lib/canary/workload/workload-of.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../../lib/core/manifest.ts";
import { parseApiVersion, type VersionedRef } from "../../../../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
export const canaryUid = "7b2f9d14-8f63-4f0c-9a51-2d1c6c0f3a77";

const spec = {
  targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
  service: { port: 9898 },
  analysis: { interval: "10s", threshold: 5, maxWeight: 50, stepWeight: 10 },
};

interface CanaryOptions {
  readonly name?: string;
  readonly uid?: string;
  readonly spec?: object;
  readonly status?: object;
}

export function canaryOf(
  namespace: string,
  { name = "podinfo", uid, spec: more = {}, status = {} }: CanaryOptions = {},
): Canary {
  const parsed = CanarySpec.parse({ ...spec, ...more });
  const live = {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: { name, namespace, uid: uid ?? (name === "podinfo" ? canaryUid : `${canaryUid}-${name}`) },
  };
  return {
    live,
    name,
    namespace,
    uid: live.metadata.uid,
    spec: parsed,
    analysis: parsed.analysis,
    status: CanaryStatus.parse(status),
  };
}

/** Lets the cluster serve a kind with any fields. */
export async function putDefinition(
  cluster: Cluster,
  { group, version, kind, plural }: { group: string; version: string; kind: string; plural: string },
): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() };
  const versions = [{ name: version, served: true, storage: true, schema }];
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  };
  await cluster.create(definition, { manager: "test" }, signal);
}

/** A namespace of a cluster without controllers, and the steps of Canaries in it. */
export async function workloadWorld(cluster: Cluster, namespace: string) {
  await cluster.create(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { manager: "bench" },
    signal,
  );
  const clock = steppedClock();
  let writesLeft = Number.POSITIVE_INFINITY;
  const wrote = (what: string): void => {
    if (writes.length >= writesLeft) throw new Error("killed");
    writes.push(what);
  };
  const reads: string[] = [];
  const forbidden = new Set<"list">();
  const writes: string[] = [];
  const seen: Cluster = {
    ...cluster,
    get: (ref, stop) => {
      reads.push(`${ref.kind}/${ref.name}`);
      return cluster.get(ref, stop);
    },
    list: async (query, stop) => {
      reads.push(`list ${query.kind} ${query.labelSelector}`);
      if (forbidden.has("list")) throw new ApiError({ code: 403, reason: "Forbidden", message: "cannot list" });
      return cluster.list(query, stop);
    },
    create: async (manifest, options, stop) => {
      wrote(`create ${manifest.kind}/${manifest.metadata.name}`);
      return await cluster.create(manifest, options, stop);
    },
    patch: async (ref, patch, options, stop) => {
      wrote(`patch ${ref.kind}/${ref.name}`);
      return await cluster.patch(ref, patch, options, stop);
    },
  };
  const depsWith = (settings: Partial<CanarySettings>, memory?: StepMemory): StepDeps => ({
    cluster: asHome(seen),
    settings: { ...defaultCanarySettings, ...settings },
    clock,
    log: silentLog,
    hooksLeftMs: () => 0,
    signal,
    memory,
  });
  const refOf = (apiVersion: string, kind: string, name: string): VersionedRef => ({
    ...parseApiVersion(apiVersion),
    kind,
    namespace,
    name,
  });
  return {
    namespace,
    clock,
    reads,
    writes,
    /** What the API server refuses. */
    forbidden,
    /** One step: what it has read it does not read again. It is killed before it writes once more than it may. */
    step(
      options: CanaryOptions = {},
      settings: Partial<CanarySettings> = {},
      { dieAfter = Number.POSITIVE_INFINITY, memory }: { dieAfter?: number; memory?: StepMemory | undefined } = {},
    ) {
      writesLeft = dieAfter;
      reads.length = 0;
      writes.length = 0;
      return workloadOf(canaryOf(namespace, options), depsWith(settings, memory));
    },
    scaler(options: CanaryOptions, settings: Partial<CanarySettings> = {}) {
      reads.length = 0;
      writes.length = 0;
      const scaler = scalerOf(canaryOf(namespace, options), depsWith(settings));
      if (scaler === undefined) throw new Error("the Canary has no autoscaler");
      return scaler;
    },
    async put(manifest: Manifest): Promise<void> {
      const placed = { ...manifest, metadata: { ...manifest.metadata, namespace } };
      await cluster.apply(placed, { manager: "bench", force: true }, signal);
    },
    async change(
      apiVersion: string,
      kind: string,
      name: string,
      body: JsonObject,
      subresource?: string,
    ): Promise<void> {
      const options = { manager: "bench", ...(subresource === undefined ? {} : { subresource }) };
      await cluster.patch(refOf(apiVersion, kind, name), { type: "merge", body }, options, signal);
    },
    async get(apiVersion: string, kind: string, name: string): Promise<LiveObject | undefined> {
      return await cluster.get(refOf(apiVersion, kind, name), signal);
    },
    async remove(apiVersion: string, kind: string, name: string): Promise<void> {
      await cluster.delete(refOf(apiVersion, kind, name), { propagation: "Background" }, signal);
    },
  };
}

export type WorkloadWorld = Awaited<ReturnType<typeof workloadWorld>>;
