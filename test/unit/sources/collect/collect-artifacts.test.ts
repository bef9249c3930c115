import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import type { ArtifactCollection } from "../../../../lib/core/ports/artifact-collection.ts";
import { type Collected, collectArtifacts, graceMs } from "../../../../lib/sources/collect/collect-artifacts.ts";
import { openStores, type Stores } from "../../../../local/state/open-stores.ts";
import { openStateDatabase, type StateDatabase } from "../../../../local/state/state-database.ts";
import { keyOf, leased, never } from "../../../contract/state-back-end.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { type SteppedClock, steppedClock } from "../../../doubles/stepped-clock.ts";

const hourMs = 60 * 60_000;

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Sources that store artifacts, by the adapters of this machine. */
class World {
  readonly clock: SteppedClock = steppedClock();
  readonly log = recordedLog();
  readonly stores: Stores;
  readonly folder: string;
  readonly database: StateDatabase;

  private constructor(folder: string) {
    this.folder = folder;
    this.database = openStateDatabase(":memory:");
    this.stores = openStores(this.database, folder, this.clock);
  }

  static async open(): Promise<World> {
    return new World(await mkdtemp(join(tmpdir(), "sluice-collect-")));
  }

  async close(): Promise<void> {
    this.database.close();
    await rm(this.folder, { recursive: true });
  }

  put(content: string): Promise<void> {
    return this.stores.artifacts.put(digestOf(content), new TextEncoder().encode(content), never);
  }

  async record(source: string, content: string): Promise<void> {
    const fence = await leased(this.stores, keyOf(source));
    await this.stores.records.record(keyOf(source), "uid", digestOf(content), fence, never);
  }

  /** A run of a source, as `storeArtifact` and `forgetReplaced` do it: stores, records, and forgets what it has replaced. */
  async pull(source: string, content: string): Promise<void> {
    await this.put(content);
    await this.record(source, content);
    await this.retain(source, content);
  }

  async retain(source: string, ...contents: readonly string[]): Promise<void> {
    const fence = await leased(this.stores, keyOf(source));
    await this.stores.records.retain(keyOf(source), "uid", contents.map(digestOf), fence, never);
  }

  collect(artifacts: ArtifactCollection = this.stores.artifacts): Promise<Collected> {
    const { clock, log, stores } = this;
    return collectArtifacts({ artifacts, records: stores.records, clock, log }, never);
  }

  async isStored(content: string): Promise<boolean> {
    return (await this.stores.artifacts.get(digestOf(content), never)) !== undefined;
  }

  /** The collection's view of the store, with something that happens before each of its calls. */
  before(call: (name: keyof ArtifactCollection) => Promise<void>): ArtifactCollection {
    const { artifacts } = this.stores;
    return {
      async *list(signal) {
        await call("list");
        yield* artifacts.list(signal);
      },
      remove: async (artifact, signal) => (await call("remove"), artifacts.remove(artifact, signal)),
      unnamed: async (signal) => (await call("unnamed"), artifacts.unnamed(signal)),
      keepUnnamed: async (unnamed, signal) => (await call("keepUnnamed"), artifacts.keepUnnamed(unnamed, signal)),
    };
  }
}

describe("an artifact that no source names", () => {
  beforeEach(async () => {
    await world.pull("web", "old");
    await world.pull("web", "present");
    world.clock.pass(2 * graceMs);
  });

  test("is deleted by a collection one day after the collection that found it", async () => {
    expect(await world.collect()).toEqual({ stored: 2, unnamed: 1, deleted: 0 });
    world.clock.pass(graceMs - 1);
    expect(await world.collect()).toMatchObject({ deleted: 0 });
    expect(await world.isStored("old")).toBe(true);
    world.clock.pass(1);
    expect(await world.collect()).toEqual({ stored: 2, unnamed: 1, deleted: 1 });
    expect([await world.isStored("old"), await world.isStored("present")]).toEqual([false, true]);
    expect(await world.collect()).toEqual({ stored: 1, unnamed: 0, deleted: 0 });
  });

  test("stays if a source names it again, and gets another day when that source drops it", async () => {
    await world.collect();
    await world.record("other", "old");
    world.clock.pass(graceMs);
    expect(await world.collect()).toMatchObject({ unnamed: 0, deleted: 0 });
    await world.retain("other");
    world.clock.pass(graceMs);
    expect(await world.collect()).toMatchObject({ unnamed: 1, deleted: 0 });
    world.clock.pass(graceMs);
    expect(await world.collect()).toMatchObject({ deleted: 1 });
  });

  test("stays if a run stores it again just before its deletion", async () => {
    await world.collect();
    world.clock.pass(graceMs);
    const racing = world.before(async (name) => {
      if (name === "remove") await world.put("old");
    });
    expect(await world.collect(racing)).toMatchObject({ unnamed: 1, deleted: 0 });
    expect(await world.isStored("old")).toBe(true);
  });

  test("is not deleted earlier because of a wrong clock, and not much later", async () => {
    world.clock.pass(100 * graceMs);
    await world.collect();
    world.clock.pass(-100 * graceMs);
    expect(await world.collect()).toMatchObject({ unnamed: 1, deleted: 0 });
    world.clock.pass(graceMs);
    expect(await world.collect()).toMatchObject({ deleted: 1 });
  });
});

test("an artifact that a killed run stored and did not record stays for two days", async () => {
  await world.pull("web", "present");
  await world.put("unrecorded");
  for (const deleted of [0, 0, 1]) {
    expect(await world.collect()).toMatchObject({ deleted });
    world.clock.pass(graceMs);
  }
});

test("11.1/15: an artifact is never deleted if one source dropped it and another still names it", async () => {
  await world.pull("one", "shared");
  await world.pull("two", "shared");
  await world.pull("one", "present");
  for (let day = 0; day < 5; day += 1) {
    world.clock.pass(graceMs);
    await world.collect();
  }
  expect(await world.isStored("shared")).toBe(true);
});

test("no artifact is deleted if no source names any, because a lost table looks the same", async () => {
  await world.put("a");
  for (let day = 0; day < 5; day += 1) {
    world.clock.pass(graceMs);
    expect(await world.collect()).toMatchObject({ deleted: 0 });
  }
  expect(await world.isStored("a")).toBe(true);
  expect(world.log.lines).toContainEqual({ message: "no source names an artifact, so none is deleted", stored: 1 });
});

describe("deleting artifacts that no source has named for a day", () => {
  beforeEach(async () => {
    await world.pull("web", "present");
    for (const content of ["a", "b", "c"]) await world.put(content);
    world.clock.pass(graceMs);
    await world.collect();
    world.clock.pass(graceMs);
  });

  test.each(["unnamed", "list", "keepUnnamed", "remove"] as const)(
    "keeps an artifact that a run stores and records before the call %s",
    async (moment) => {
      let isDone = false;
      const racing = world.before(async (name) => {
        if (name !== moment || isDone) return;
        isDone = true;
        await world.pull("late", "a");
        await world.pull("later", "c");
      });
      expect(await world.collect(racing)).toMatchObject({ deleted: 1 });
      expect([await world.isStored("a"), await world.isStored("b"), await world.isStored("c")]).toEqual([
        true,
        false,
        true,
      ]);
    },
  );

  test.each([1, 2, 3, 4, 5, 6])(
    "keeps what a source names if it is killed at call %i, and the next collection finishes",
    async (at) => {
      let calls = 0;
      const killed = world.before(async () => {
        calls += 1;
        if (calls === at) throw new Error("killed");
      });
      await expect(world.collect(killed)).rejects.toThrow("killed");
      await world.collect();
      expect(await world.collect()).toEqual({ stored: 1, unnamed: 0, deleted: 0 });
      expect(await world.isStored("present")).toBe(true);
    },
  );
});

const content = fc.constantFrom("a", "b", "c");
const source = fc.constantFrom("one", "two");
const step = fc.oneof(
  fc.record({ do: fc.constant("pull" as const), source, content }),
  fc.record({ do: fc.constant("put, killed" as const), content }),
  fc.record({ do: fc.constant("delete source" as const), source }),
  fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constant("collect" as const) }),
);

test("every artifact that a source names is kept, in any order of runs, deletions and collections", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const one = await World.open();
      const named = new Map<string, string>();
      try {
        for (const each of steps) {
          if (each.do === "pull") {
            await one.pull(each.source, each.content);
            named.set(each.source, each.content);
          } else if (each.do === "put, killed") await one.put(each.content);
          else if (each.do === "delete source") {
            await one.retain(each.source);
            named.delete(each.source);
          } else if (each.do === "wait") one.clock.pass(each.hours * hourMs);
          else await one.collect();
          for (const wanted of named.values()) expect(await one.isStored(wanted)).toBe(true);
        }
      } finally {
        await one.close();
      }
    }),
    { numRuns: 40 },
  );
});
