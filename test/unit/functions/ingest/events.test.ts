import { describe, expect, test } from "vitest";
import { burstMs } from "../../../../lib/queue/timing.ts";
import { eventWorld } from "./event-world.ts";

/** Writes to the object. An event that says that the artifact is up to date, as Flux records at each run, is none. */
const patches = ({ world }: Awaited<ReturnType<typeof eventWorld>>): number =>
  world.writes.filter(({ verb }) => verb === "patch").length;
const names = Array.from({ length: 5 }, (_, index) => `app-${index}`);

describe("events between a push and its sources", () => {
  test("one event causes one run, which finds the new version at once", async () => {
    await using world = await eventWorld();
    await world.follow("app");
    world.change("app", "v2");
    const { runs } = world.counts;
    await world.tell("app");
    await world.work();
    expect(world.revision("app")).toBe("v2");
    expect(world.counts.runs).toBe(runs + 1);
    await world.minutes(30);
    expect(world.missed()).toBe(0);
  });

  test("if every event is dropped, the sweep finds every change, and counts the missed events", async () => {
    await using world = await eventWorld();
    for (const name of names) await world.follow(name);
    for (const name of names) world.change(name, "v2");
    await world.minutes(15);
    expect(names.map((name) => world.revision(name))).toEqual(names.map(() => "v2"));
    expect(world.missed()).toBe(names.length);
    for (const name of names.slice(0, 2)) world.change(name, "v3");
    await world.minutes(15);
    expect(names.map((name) => world.revision(name))).toEqual(["v3", "v3", "v2", "v2", "v2"]);
    expect(world.missed()).toBe(names.length + 2);
    await world.minutes(60);
    expect(world.missed()).toBe(names.length + 2);
  });

  test("if every event is doubled, there is no second request, wake-up or status, even if the double comes after the run", async () => {
    /** All writes of a push whose event comes so many times before its run, and once more after it. */
    const writesOf = async (events: number) => {
      await using world = await eventWorld();
      await world.follow("app");
      world.change("app", "v2");
      const before = { ...world.counts, patches: patches(world) };
      for (let event = 0; event < events; event++) await world.tell("app");
      const requests = world.counts.itemWrites - before.itemWrites;
      const wakeUps = world.counts.wakeUps - before.wakeUps;
      await world.work();
      const written = patches(world) - before.patches;
      await world.tell("app");
      await world.work();
      const again = patches(world) - before.patches - written;
      return { requests, wakeUps, written, again, stored: world.held.pulled };
    };
    const once = await writesOf(1);
    expect(once).toMatchObject({ requests: 1, wakeUps: 1, again: 0 });
    expect(await writesOf(2)).toEqual(once);
  });

  test("a thousand events for one source within a second cause one run before the first ends, and none is lost", async () => {
    await using world = await eventWorld();
    await world.follow("app");
    const { runs } = world.counts;
    for (let event = 0; event < 1_000; event++) {
      world.world.state.now += 1;
      world.change("app", `v${event}`);
      await world.tell("app");
    }
    await world.work();
    expect(world.revision("app")).toBe("v999");
    expect(world.counts.runs).toBe(runs + 1);
  });

  test("events that come after a run has listed its origin cause one more run", async () => {
    await using world = await eventWorld();
    await world.follow("app");
    const { runs } = world.counts;
    const { held } = world.held;
    const get = held.get.bind(held);
    let isLate = false;
    held.get = (name) => {
      const found = get(name);
      // After the run has read the version, before it ends.
      if (!isLate) {
        isLate = true;
        world.change("app", "v3");
        late = Promise.all(Array.from({ length: 500 }, () => world.tell("app")));
      }
      return found;
    };
    let late: Promise<unknown> = Promise.resolve();
    world.change("app", "v2");
    await world.tell("app");
    await world.work();
    await late;
    await world.work();
    // They may be the first of many.
    expect(world.counts.runs).toBe(runs + 1);
    world.world.state.now += burstMs;
    await world.work();
    expect(world.revision("app")).toBe("v3");
    expect(world.counts.runs).toBe(runs + 2);
  });
});
