import type { Run } from "../../../../lib/core/ports/run.ts";
import { type Content, type OwnershipWorld, ownerOf } from "./ownership-world.ts";

/** One push: what the folders of its Kustomizations hold from then on. */
export interface Published {
  readonly at: number;
  readonly source: string;
  readonly content: Content;
}

/** When to strike: at which of all the moments before and after an effect, or of those before and after a write. */
export interface Strike {
  readonly moment: number;
  readonly ofWrites: boolean;
  /** Its process dies where this is undefined. */
  readonly frozenMs: number | undefined;
}

const isWrite = /^(save|claim|release|remove|apply|delete|patch)/;

/**
 * Sees to it that no run deletes what carries another's labels, or what a folder of its source has held at every moment
 * since the run began. Answers how to strike the next run of an owner before or after one of its effects: its process dies,
 * or stands still until another has taken over.
 */
export function watchRuns(world: OwnershipWorld, published: readonly Published[]) {
  const { time } = world.simulation.world;
  const runs = new WeakMap<Run, { readonly beganAt: number; moments: number; ofWrites: number }>();
  const strikes = new Map<string, Strike>();
  const soFar = (run: Run) => {
    const known = runs.get(run) ?? { beganAt: time.now(), moments: 0, ofWrites: 0 };
    runs.set(run, known);
    return known;
  };

  world.watcher = {
    step({ machine }, run, effectOfRun) {
      const { name } = run.key;
      const so = soFar(run);
      so.moments += 1;
      if (isWrite.test(effectOfRun)) so.ofWrites += 1;
      world.simulation.world.trace(() => `${machine.name} ${name} ${effectOfRun}`);
      const struck = strikes.get(name);
      if (struck === undefined || (struck.ofWrites ? so.ofWrites : so.moments) !== struck.moment) return;
      strikes.delete(name);
      if (struck.frozenMs === undefined) machine.crash();
      else machine.freeze(struck.frozenMs);
    },
    deletes(run, live) {
      const { kind, metadata } = live;
      if (kind !== "ConfigMap") return;
      const { name } = run.key;
      const owner = ownerOf(live);
      if (owner !== name)
        world.simulation.violate(`${name} deleted ${metadata.name}, which had the labels of ${owner}`);
      for (const sibling of wantedBy(metadata.name, name, soFar(run).beganAt))
        world.simulation.violate(`${name} deleted ${metadata.name}, which ${sibling} wanted`);
    },
  };

  /** The owners of the same source, itself too, whose folders have held the object at every moment since then. */
  const wantedBy = (object: string, name: string, since: number): readonly string[] => {
    const own = published.findLast(({ content }) => name in content);
    if (own === undefined) return [];
    const pushes = published.filter(({ source }) => source === own.source);
    const first = pushes.findLastIndex(({ at }) => at <= since);
    const seen = pushes.slice(Math.max(0, first));
    return Object.keys(own.content).filter((sibling) => {
      const live = world.kustomization(sibling);
      if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
      return seen.every(({ content }) => content[sibling]?.includes(object) === true);
    });
  };

  return (name: string, strike: Strike): void => {
    strikes.set(name, strike);
  };
}
