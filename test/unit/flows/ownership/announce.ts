import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { ObservedResources } from "../../../../lib/core/ports/observed-resources.ts";
import type { Subscriptions } from "../../../../lib/core/ports/subscriptions.ts";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { type ObserveDeps, observeAll, observeGone, observeResource } from "../../../../lib/queue/observe-resource.ts";
import { reconcileRequests } from "../../../../lib/queue/request-reconcile.ts";
import { effect, type Machine } from "../../queue/simulator/machines.ts";
import type { SimulatedDeps, Simulation } from "../../queue/simulator/simulation.ts";

const { signal: never } = new AbortController();

interface Known {
  readonly subscriptions: Subscriptions;
  readonly observed: ObservedResources;
  readonly observe?: typeof observeResource | undefined;
}

/** How what happens in the cluster and in sources becomes requests: by the real subscriptions and observed resources, under the story's faults. */
export function announcer({ subscriptions, observed, observe = observeResource }: Known, simulation: Simulation) {
  const { world } = simulation;

  /** `dies`: after so many of these calls the machine does. */
  const observeDeps = (on: Machine, deps: SimulatedDeps, dies?: number): ObserveDeps => {
    let count = 0;
    const call = <Result>(name: string, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> => {
      const worked = async (): Promise<Result> => {
        const result = await work();
        if ((count += 1) === dies) on.crash();
        return result;
      };
      return effect(on, name, worked, signal, world);
    };
    return {
      requests: reconcileRequests(deps),
      // No Receiver is in these stories.
      subscriptions: { subscribers: async () => [] },
      observed: {
        get: (key, signal) => call("observed", () => observed.get(key, never), signal),
        put: (key, text, signal) => call("put observed", () => observed.put(key, text, never), signal),
        remove: (key, signal) => call("remove observed", () => observed.remove(key, never), signal),
        list: (kind, signal) => call("list observed", () => observed.list(kind, never), signal),
      },
    };
  };

  const self = {
    /** The watch: its event may be lost, and its process may die of another; then the sweep finds it. */
    changed(key: WorkKey, live: () => LiveObject | undefined): void {
      if (world.faulty && world.chance.chance(0.2)) return;
      const on = simulation.machine();
      const dies = world.chance.chance(0.3) ? world.chance.int(1, 4) : undefined;
      on.resume(() => {
        const deps = observeDeps(on, simulation.depsOf(on), dies);
        const found = live();
        const work =
          found === undefined
            ? observeGone(key, deps, on.signal)
            : observe({ key, metadata: found.metadata }, deps, on.signal);
        work.catch(() => {});
      });
    },
    /** What the sweep does for custom resources. */
    swept(on: Machine, kind: WorkKey, list: () => readonly LiveObject[]): void {
      on.resume(() => {
        const present = list().map(({ metadata }) => ({ key: { ...kind, name: metadata.name }, metadata }));
        observeAll(kind, present, observeDeps(on, simulation.depsOf(on)), on.signal).catch(() => {});
      });
    },
    /** Asks for a run of everyone who listens to a source; tried again until it is done, as events are. */
    pushed(source: WorkKey): void {
      const on = simulation.machine();
      let isTold = false;
      const tell = async (): Promise<void> => {
        const find = () => subscriptions.subscribers(sourceTopic(source), never);
        const keys = await effect(on, "subscribers", find, on.signal, world);
        const requests = reconcileRequests(simulation.depsOf(on));
        for (const key of keys) await requests.request(key, "pushed", on.signal);
        isTold = true;
      };
      on.resume(() => void tell().catch(() => {}));
      world.time.in(world.chance.int(1_000, 20_000), () => !isTold && self.pushed(source));
    },
  };
  return self;
}
