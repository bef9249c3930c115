import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Flow } from "../../../../lib/core/run.ts";
import { ociRepositoryFlow } from "../../../../lib/flows/oci-repository/oci-repository-flow.ts";
import { untilDeadline } from "../../../deadline.ts";
import { ociRepository, sourceWorld, type World } from "../source-world.ts";

const file = { "a.yaml": "kind: ConfigMap\n" };
const names = ["a", "b", "c", "d"];

let world: World;
let flow: Flow;
beforeEach(async () => {
  world = await sourceWorld();
  await world.push("v1.0.0", file);
  flow = ociRepositoryFlow({ ...world.deps, clock: { ...world.deps.clock, monotonic: () => performance.now() } });
});
afterEach(() => world.close());

const run = (name: string) => world.run(name, untilDeadline(), () => flow);

/** Runs these at the same time; answers how often the registry was asked for tags, and for the digest of one. */
async function together(of: readonly string[]): Promise<{ readonly lists: number; readonly digests: number }> {
  world.sent.length = 0;
  await Promise.all(of.map(run));
  return {
    lists: world.sent.filter(({ url }) => url.includes("/tags/list")).length,
    digests: world.sent.filter(({ method, url }) => method === "HEAD" && url.includes("/manifests/")).length,
  };
}

function follow(name: string, ref: JsonObject): void {
  world.apply(ociRepository(name, { url: `oci://${world.address}/app`, ref }));
}

describe("sources of one repository that run at the same time", () => {
  test("ask the registry once, and each sees what was pushed before its run", async () => {
    for (const name of names) follow(name, { semver: "1.x" });
    for (const name of names) await run(name);
    expect(await together(names)).toEqual({ lists: 1, digests: 1 });
    await world.push("v1.1.0", { "b.yaml": "kind: Secret\n" });
    expect(await together(names)).toEqual({ lists: 1, digests: 1 });
    for (const name of names) expect(JSON.stringify(world.get(name)["status"])).toContain('"revision":"v1.1.0@');
  });

  /** Runs `a`, and `b` beside it, which has begun before but subscribes only when the run of `a` is over. */
  async function lateSubscriber(): Promise<number> {
    const over = Promise.withResolvers<void>();
    const { subscribe } = world.deps.subscriptions;
    world.deps.subscriptions.subscribe = async (...args) => {
      if (args[1].key.name === "b") await over.promise;
      await subscribe(...args);
    };
    world.sent.length = 0;
    const late = run("b");
    await run("a");
    over.resolve();
    await late;
    world.deps.subscriptions.subscribe = subscribe;
    return world.sent.filter(({ url }) => url.includes("/tags/list")).length;
  }

  test("and have just begun to follow it, ask for themselves: no event would have told them of a push", async () => {
    follow("a", { semver: "1.x" });
    await run("a");
    follow("b", { semver: ">=1.0" });
    expect(await lateSubscriber()).toBe(2);
    // From now on an event would: what was listed after the run began is new enough.
    await run("b");
    expect(await lateSubscriber()).toBe(1);
  });

  test("and follow different tags, ask for each once", async () => {
    await world.push("v2.0.0", file);
    for (const [index, name] of names.entries()) follow(name, { tag: index < 2 ? "v1.0.0" : "v2.0.0" });
    for (const name of names.slice(0, 2)) await run(name);
    expect(await together(names.slice(0, 2))).toEqual({ lists: 0, digests: 1 });
    for (const name of names.slice(2)) await run(name);
    expect(await together(names.slice(2))).toEqual({ lists: 0, digests: 1 });
  });
});
