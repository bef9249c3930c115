import { beforeAll } from "vitest";
import { CanarySpec, CanaryStatus } from "../../../../lib/api/canary.ts";
import { originalsAnnotation } from "../../../../lib/api/names.ts";
import type { Canary } from "../../../../lib/canary/canary.ts";
import type { StepDeps } from "../../../../lib/canary/canary-deps.ts";
import { type Originals, type TakeOver, withOriginal } from "../../../../lib/canary/routes/originals.ts";
import { routerOf } from "../../../../lib/canary/routes/providers/router-of.ts";
import type { Router, Services } from "../../../../lib/canary/routes/router.ts";
import { servicesOf } from "../../../../lib/canary/routes/services.ts";
import { type CanarySettings, defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../../lib/core/manifest.ts";
import { refOf } from "../../../../lib/core/manifest.ts";
import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const { signal } = new AbortController();

/** What of a Canary is otherwise than in most tests. */
export interface Scene {
  readonly name?: string;
  readonly annotations?: Record<string, string>;
  readonly service?: JsonObject;
  readonly analysis?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly ports?: ReadonlyMap<string, number>;
  readonly settings?: Partial<CanarySettings>;
}

/** A namespace with a Canary `podinfo` of a Deployment `podinfo`. Each call of `router` and `services` is a step of its own. */
export interface RoutesWorld {
  readonly namespace: string;
  /** Methods that change the cluster, in order, since the world began or since it was emptied. */
  readonly writes: string[];
  readonly reads: string[];
  /** Which writes do not happen, as if the step had been killed before them. */
  fail(isKilled: (write: string) => boolean, fault?: Error): void;
  canary(scene?: Scene): Canary;
  router(scene?: Scene): Router;
  services(scene?: Scene): Services;
  /** Keeps what is taken over, by KIND/NAME: `originals()` is the Canary's annotation with it. */
  readonly takeOver: TakeOver;
  readonly taken: string[];
  originals(): Record<string, string>;
  get(apiVersion: string, kind: string, name: string): Promise<LiveObject | undefined>;
  create(manifest: Manifest): Promise<LiveObject>;
  remove(live: LiveObject | undefined): Promise<unknown>;
  edit(live: LiveObject | undefined, body: JsonObject, subresource?: string): Promise<LiveObject>;
}

const served: JsonObject = { port: 9898, gatewayRefs: [{ name: "edge", namespace: "edge-system" }] };

/** A cluster with these definitions for all tests of the file that calls this. */
export function routesWorlds(prefix: string, definitions: readonly Manifest[]) {
  const embedded = fileCluster({ definitions: false, controllers: false });
  let count = 0;
  beforeAll(async () => {
    for (const definition of definitions) {
      await embedded.cluster.create(definition, { manager: "test" }, signal);
    }
  });
  return async (): Promise<RoutesWorld> => {
    const namespace = `${prefix}-${count++}`;
    const { cluster } = embedded;
    await cluster.create(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { manager: "test" },
      signal,
    );
    return worldIn(namespace, cluster);
  };
}

const withoutOriginals = { originals: {} as Originals, text: "{}" };

function worldIn(namespace: string, cluster: Cluster): RoutesWorld {
  const writes: string[] = [];
  const reads: string[] = [];
  let isKilled: (write: string) => boolean = () => false;
  let killedBy = new Error("killed");
  const note = (write: string) => {
    if (isKilled(write)) throw killedBy;
    writes.push(write);
  };
  const seen = seenCluster(cluster, note, reads);
  const canary = (scene: Scene = {}): Canary => canaryOf(namespace, scene);
  const taken: string[] = [];
  let kept = withoutOriginals;
  const deps = ({ settings }: Scene): StepDeps => ({
    cluster: asHome(seen),
    settings: { ...defaultCanarySettings, meshProvider: "gatewayapi:v1", ...settings },
    clock: steppedClock(),
    log: silentLog,
    hooksLeftMs: () => 0,
    signal,
  });
  const target = ({ ports = new Map() }: Scene) => ({ label: "app", labelValue: "podinfo", ports });
  return {
    namespace,
    writes,
    reads,
    fail: (killed, fault = new Error("killed")) => {
      isKilled = killed;
      killedBy = fault;
    },
    canary,
    taken,
    takeOver: async (live) => {
      taken.push(`${live.kind}/${live.metadata.name}`);
      kept = withOriginal(kept.originals, live);
    },
    originals: () => ({ [originalsAnnotation]: kept.text }),
    router: (scene = {}) => routerOf(canary(scene), target(scene), deps(scene)),
    services: (scene = {}) => servicesOf(canary(scene), target(scene), deps(scene)),
    get: (apiVersion, kind, name) => cluster.get(refOf({ apiVersion, kind, metadata: { name, namespace } }), signal),
    create: (manifest) =>
      cluster.create({ ...manifest, metadata: { ...manifest.metadata, namespace } }, { manager: "test" }, signal),
    remove: async (live) => {
      if (live === undefined) throw new Error("there is no such object");
      return cluster.delete(refOf(live), { propagation: "Background" }, signal);
    },
    edit: async (live, body, subresource) => {
      if (live === undefined) throw new Error("there is no such object");
      const options = { manager: "test", ...(subresource === undefined ? {} : { subresource }) };
      return cluster.patch(refOf(live), { type: "merge", body }, options, signal);
    },
  };
}

function seenCluster(cluster: Cluster, note: (write: string) => void, reads: string[]): Cluster {
  return {
    ...cluster,
    get: (ref, ...rest) => {
      reads.push(`get ${ref.kind}/${ref.name}`);
      return cluster.get(ref, ...rest);
    },
    list: (query, ...rest) => {
      reads.push(`list ${query.kind}`);
      return cluster.list(query, ...rest);
    },
    create: async (manifest, ...rest) => {
      note(`create ${manifest.kind}/${manifest.metadata.name}`);
      return cluster.create(manifest, ...rest);
    },
    patch: async (ref, ...rest) => {
      note(`patch ${ref.kind}/${ref.name}`);
      return cluster.patch(ref, ...rest);
    },
    delete: async (ref, ...rest) => {
      note(`delete ${ref.kind}/${ref.name}`);
      return cluster.delete(ref, ...rest);
    },
  };
}

function canaryOf(
  namespace: string,
  { name = "podinfo", annotations = {}, service, analysis = {}, spec, status }: Scene,
): Canary {
  // An analysis is by iterations or by weights.
  const weighted = "iterations" in analysis ? {} : { stepWeight: 10, maxWeight: 50 };
  const parsed = CanarySpec.parse({
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
    service: { ...served, ...service },
    analysis: { interval: "10s", threshold: 5, ...weighted, ...analysis },
    ...spec,
  });
  const uid = `00000000-0000-4000-8000-${name.length.toString().padStart(12, "0")}`;
  return {
    live: {
      apiVersion: "flagger.app/v1beta1",
      kind: "Canary",
      metadata: { name, namespace, uid, annotations },
      spec: parsed,
    },
    name,
    namespace,
    uid,
    spec: parsed,
    analysis: parsed.analysis,
    status: CanaryStatus.parse(status ?? {}),
  };
}
