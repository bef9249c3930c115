import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { ApiError, type Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome, asTarget, type HomeCluster } from "../../../../lib/core/ports/home-and-target.ts";
import type { InventoryStore } from "../../../../lib/core/ports/inventory-store.ts";
import type { Ledger } from "../../../../lib/core/ports/ledger.ts";
import type { Run } from "../../../../lib/core/ports/run.ts";
import type { Subscriptions } from "../../../../lib/core/ports/subscriptions.ts";
import type { KustomizationDeps } from "../../../../lib/flows/kustomization/context.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import type { Handling } from "../../queue/simulator/handling.ts";
import { effect } from "../../queue/simulator/machines.ts";
import type { Simulation } from "../../queue/simulator/simulation.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

/** The ports of a run that remember something, and its cluster. */
export interface Ports {
  readonly home: HomeCluster;
  readonly targetOf: KustomizationDeps["targetOf"];
  readonly subscriptions: Subscriptions;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
}

/** Who is told of what runs do, as it happens. */
export interface Watcher {
  /** Before each effect of a run, and after it. May kill or freeze the machine. */
  step(handling: Handling, run: Run, effectOfRun: string): void;
  /** An object has been deleted by this run, or begins to terminate. */
  deletes(run: Run, live: LiveObject): void;
}

/** What all runs work on. */
export interface Shared extends Omit<Ports, "home" | "targetOf"> {
  readonly cluster: SimulatedCluster;
  readonly clusterUid: string;
  readonly watcher: Watcher;
  readonly simulation: Simulation;
}

const { signal: never } = new AbortController();

/** The ports as one run has them: every call takes time, may be killed before and after it, and meets the story's faults. */
export function portsOf(handling: Handling, run: Run, shared: Shared): Ports {
  const { subscriptions, inventories, ledger, simulation, watcher } = shared;
  const call: Call = (name, apply, signal, cancels = false) => {
    watcher.step(handling, run, name);
    const applied = async () => {
      const result = await apply();
      watcher.step(handling, run, `${name} done`);
      return result;
    };
    return effect(handling.machine, name, applied, signal, simulation.world, { cancels });
  };
  const landed = (where: string): void => {
    const subject = simulation.subjects.find(({ key }) => key.name === run.key.name);
    if (subject?.holder !== handling.holder)
      simulation.violate(`a write of ${run.key.name} to ${where} landed after a successor of its sender had begun`);
  };
  /** A write under a fence. */
  const write = (name: string, apply: () => Promise<void>, signal: AbortSignal): Promise<void> =>
    call(name, () => apply().then(() => landed("the state")), signal);

  const cluster = clusterSeenBy(run, shared, call, landed);
  return {
    home: asHome(cluster),
    targetOf: async () => asTarget(cluster),
    subscriptions: {
      subscribe: (topics, fence, signal) =>
        call("subscribe", () => subscriptions.subscribe(topics, fence, never), signal),
      subscribers: (what, signal) => call("subscribers", () => subscriptions.subscribers(what, never), signal),
      followers: (what, signal) => call("followers", () => subscriptions.followers(what, never), signal),
    },
    inventories: {
      load: (owner, fence, signal) => call("load", () => inventories.load(owner, fence, never), signal),
      savedUnder: (owner, fence, signal) =>
        call("saved under", () => inventories.savedUnder(owner, fence, never), signal),
      clusters: (owner, fence, signal) => call("clusters", () => inventories.clusters(owner, fence, never), signal),
      save: (owner, entries, fence, signal) =>
        write("save", () => inventories.save(owner, entries, fence, never), signal),
      remove: (owner, fence, signal) => write("remove", () => inventories.remove(owner, fence, never), signal),
    },
    ledger: {
      claim: (uid, claims, fence, signal) => write("claim", () => ledger.claim(uid, claims, fence, never), signal),
      release: (uid, owner, ids, fence, signal) =>
        write("release", () => ledger.release(uid, owner, ids, fence, never), signal),
      claims: (uid, ids, signal) => call("claims", () => ledger.claims(uid, ids, never), signal),
    },
  };
}

type Call = <Result>(
  name: string,
  apply: () => Result | Promise<Result>,
  signal: AbortSignal,
  cancels?: boolean,
) => Promise<Result>;

function clusterSeenBy(run: Run, shared: Shared, call: Call, landed: (where: string) => void): Cluster {
  const { cluster, clusterUid, watcher } = shared;
  const read = async <Result>(
    name: string,
    apply: () => Result,
    signal: AbortSignal,
    cancels?: boolean,
  ): Promise<Result> => {
    try {
      return await call(name, apply, signal, cancels);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) throw error;
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" }, { cause: error });
    }
  };
  const write = async <Result>(
    name: string,
    { dryRun, beforeSend }: { readonly dryRun?: boolean; readonly beforeSend?: () => void },
    apply: () => Result,
    signal: AbortSignal,
  ): Promise<Result> => {
    if (dryRun === true) return read(`dry run of ${name}`, apply, signal);
    beforeSend?.();
    const arrive = (): Result => {
      landed("the cluster");
      return apply();
    };
    return read(name, arrive, signal, true);
  };
  return {
    ...noCluster,
    uid: async () => clusterUid,
    resource: async (query) => cluster.resource(query),
    get: (ref, signal) => read(`get ${ref.kind}`, () => cluster.get(ref), signal),
    list: (query, signal) => read(`list ${query.kind}`, () => cluster.list(query), signal),
    listMetadata: (query, signal) => read(`list ${query.kind}`, () => cluster.list(query), signal),
    apply: (manifest, options, signal) =>
      write("apply", options, () => ({ ...cluster.apply(manifest, options), warnings: [] }), signal),
    // Nothing but events is created so.
    create: async (manifest) => ({ ...manifest, metadata: { ...manifest.metadata, uid: "event" } }),
    patch: (ref, patch, options, signal) =>
      write(`patch ${ref.kind}`, options, () => cluster.patch(ref, patch, options), signal),
    delete(ref, options, signal) {
      const remove = () => {
        const live = cluster.get(ref);
        const outcome = cluster.delete(ref, options);
        if (live !== undefined && outcome !== "gone") watcher.deletes(run, live);
        return outcome;
      };
      return write("delete", options, remove, signal);
    },
  };
}
