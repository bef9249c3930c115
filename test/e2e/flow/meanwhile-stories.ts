import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { callStride } from "../../size.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;
const manager = { manager: "kubectl" };
/** No change takes more runs than this until nothing is left to do. */
const maxRuns = 4;

/** A run during which somebody does this at its n-th effect; whether it came to that. How it ends is its own affair. */
async function runDuring(world: World, at: number, act: () => Promise<void>): Promise<boolean> {
  let calls = 0;
  let acting: Promise<void> | undefined;
  world.fault = async (call) => {
    // After an effect is before the next one.
    if (!call.endsWith(" done") && ++calls === at) await (acting = act());
  };
  await world.run("app").catch(() => undefined);
  world.fault = () => {};
  // A run does not wait at the check of its lease, and may have ended before.
  await acting;
  return calls >= at;
}

/** A revision is applied, and the next one changes one object, brings one and takes one away. */
async function begin(world: World, at: number, spec: Parameters<World["kustomization"]>[1] = {}): Promise<string> {
  await world.publish(`before-${at}`, [configMap("a", { k: "1" }), configMap("b")]);
  await world.kustomization("app", spec);
  await world.run("app");
  expect(await world.ready("app")).toMatch(/^True/);
  return world.publish(`after-${at}`, [configMap("a", { k: "2" }), configMap("c")]);
}

/** What there is of the two revisions. */
async function found(world: World) {
  const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => world.get("ConfigMap", name)));
  return {
    ready: await world.ready("app"),
    inventory: (await world.inventory("app")).map(({ id, state }) => `${id} ${state}`),
    data: a?.["data"],
    hasB: b !== undefined,
    hasC: c !== undefined,
  };
}

/** All of the second revision, and nothing of the first. */
const whole = ({ namespace }: World, revision: string) => ({
  ready: `True ReconciliationSucceeded: Applied revision: ${revision}`,
  inventory: [`${namespace}_a__ConfigMap live`, `${namespace}_c__ConfigMap live`],
  data: { k: "2" },
  hasB: false,
  hasC: true,
});

/** A Kustomization that somebody changes in the middle of a run: at each of its effects, one after the other. */
export function meanwhileStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization that is changed while it runs on ${name}`, () => {
    test("edited at any effect of a run, observes the new generation only once that is applied", async () => {
      const world = await newWorld();
      for (let at = 1, happened = true; happened; at += callStride) {
        const [first, edition] = [`before-${at}`, `after-${at}`];
        const revision = await begin(world, at, { commonMetadata: { labels: { edition: first } } });
        const edit = () => world.patch("app", { spec: { commonMetadata: { labels: { edition } } } }, manager);
        happened = await runDuring(world, at, edit);
        const live = await world.get("Kustomization", "app", kustomize);
        const labelOf = async () => (await world.get("ConfigMap", "a"))?.metadata.labels?.["edition"];
        const isObserved = (await world.status("app"))["observedGeneration"] === live?.metadata.generation;
        const last = happened ? edition : first;
        expect({ isObserved, label: await labelOf() }, `edited at effect ${at}`).not.toEqual({
          isObserved: true,
          label: expect.not.stringMatching(`^${last}$`),
        });
        await world.run("app");
        expect(await found(world), `at effect ${at}`).toEqual(whole(world, revision));
        expect(await labelOf(), `edited at effect ${at}`).toBe(last);
      }
    });

    test("suspended at any effect of a run, ends as before or after the suspension, and continues when it is resumed", async () => {
      const world = await newWorld();
      for (let at = 1, happened = true; happened; at += callStride) {
        const revision = await begin(world, at, { suspend: false });
        happened = await runDuring(world, at, () => world.patch("app", { spec: { suspend: true } }, manager));
        const left = await found(world);
        const outcomes = happened ? [(await world.run("app")).outcome] : [];
        expect(outcomes).toEqual(happened ? ["suspended"] : []);
        expect(await found(world), `suspended at effect ${at}`).toEqual(left);
        await world.patch("app", { spec: { suspend: false } }, manager);
        await world.run("app");
        expect(await found(world), `at effect ${at}`).toEqual(whole(world, revision));
      }
    });

    test("deleted at any effect of a run, leaves nothing behind, and objects of other owners stay", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const foreign = { ...configMap("foreign"), metadata: { name: "foreign", namespace } };
      await cluster.create(foreign, { manager: "another-client" }, signal);
      for (let at = 1, happened = true; happened; at += callStride) {
        await begin(world, at);
        happened = await runDuring(world, at, () => world.remove("app"));
        if (!happened) await world.remove("app");
        const isThere = async () => (await world.get("Kustomization", "app", kustomize)) !== undefined;
        for (let runs = 0; runs < maxRuns && (await isThere()); runs++) await world.run("app");
        expect(await isThere(), `deleted at effect ${at}`).toBe(false);
        for (const each of ["a", "b", "c"])
          expect(await world.get("ConfigMap", each), `at effect ${at}`).toBeUndefined();
        expect(await world.get("ConfigMap", "foreign")).toBeDefined();
      }
    });

    test("deleted at any effect of a run and created again under its name, the new one has all of its objects", async () => {
      const world = await newWorld();
      for (let at = 1, happened = true; happened; at += callStride) {
        const revision = await begin(world, at);
        happened = await runDuring(world, at, () => world.remove("app"));
        const isThere = async () => (await world.get("Kustomization", "app", kustomize)) !== undefined;
        if (happened) for (let runs = 0; runs < maxRuns && (await isThere()); runs++) await world.run("app");
        await world.kustomization("app");
        await world.run("app");
        expect(await found(world), `at effect ${at}`).toEqual(whole(world, revision));
      }
    });
  });
}
