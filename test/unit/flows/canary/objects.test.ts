import { describe, expect, test } from "vitest";
import { originalsOf, type TakeOver } from "../../../../lib/canary/routes/originals.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { canaryWorld, Killed } from "./canary-world.ts";

function theirs(kind: string, annotations: Record<string, string> = {}): LiveObject {
  const metadata = { name: "podinfo", namespace: "apps", uid: `${kind}-1`, labels: { team: "web" }, annotations };
  return { apiVersion: "v1", kind, metadata, spec: { of: kind } };
}

const told = (kind: string) =>
  `Warning: ${kind} podinfo.apps is taken over by Canary podinfo.apps, which did not make it: set spec.revertOnDeletion to have it given back when the Canary is deleted`;

/** A world whose apex Service and route are somebody else's, and are taken over in the same step. */
function worldOfOthers() {
  const world = canaryWorld();
  const take = async (kind: string, takeOver: TakeOver | undefined) => {
    const live = world.live();
    if (live !== undefined && kind in originals()) return;
    await takeOver?.(theirs(kind, { mine: "yes", "kubectl.kubernetes.io/last-applied-configuration": "{}" }));
  };
  const originals = (): Record<string, unknown> => {
    const live = world.live();
    if (live === undefined) throw new Error("there is a Canary");
    return Object.fromEntries(
      Object.entries(originalsOf({ live })).map(([key, one]) => [key.replace("/podinfo", ""), one] as const),
    );
  };
  const nothing = async () => {};
  world.replaced = {
    services: () => ({
      ensureOwn: nothing,
      ensureApex: async (takeOver) => {
        world.state.hasApex = true;
        await take("Service", takeOver);
      },
      finalize: nothing,
    }),
    router: () => ({
      ensure: async ({ takeOver } = {}) => {
        world.state.routes = { primary: 100, canary: 0, isMirrored: false };
        await take("HTTPRoute", takeOver);
      },
      routes: async () => ({ primary: 100, canary: 0, isMirrored: false }),
      setRoutes: async () => ({}),
      finalize: nothing,
    }),
  };
  return { world, originals };
}

describe("existing objects that a Canary takes over", () => {
  test("are stored in an annotation of the Canary; a route is announced once; an apex Service is taken over as documented", async () => {
    const { world, originals } = worldOfOthers();
    await world.run();
    await world.tick();
    expect(world.said.filter((text) => text.includes("taken over"))).toEqual([told("HTTPRoute")]);
    world.news();
    world.clock.pass(10_000);
    await world.run({ isRequested: true });
    const kept = (kind: string) => ({
      ...{ uid: `${kind}-1`, labels: { team: "web" }, annotations: { mine: "yes" }, spec: { of: kind } },
    });
    expect(originals()).toEqual({ Service: kept("Service"), HTTPRoute: kept("HTTPRoute") });
    expect(world.said.filter((text) => text.includes("taken over"))).toEqual([]);
  });

  test("a step killed before it stored a route announces it once more, and never loses it", async () => {
    const { world, originals } = worldOfOthers();
    await world.run();
    world.news();
    world.state.writesLeft = 1;
    await expect(world.tick()).rejects.toThrow(Killed);
    expect(Object.keys(originals())).toEqual(["Service"]);
    world.state.writesLeft = Number.POSITIVE_INFINITY;
    world.state.isRetry = true;
    await world.tick(1_000);
    expect(Object.keys(originals())).toEqual(["Service", "HTTPRoute"]);
    expect(world.said.filter((text) => text === told("HTTPRoute"))).toHaveLength(2);
  });
});

test("a name that is too long for the objects made from it gives one Warning per step, and nothing is created", async () => {
  const world = canaryWorld({ service: { port: 9898, name: "x".repeat(56) } });
  await world.run();
  await world.tick();
  expect(world.writes).toEqual(["status"]);
  expect(world.said).toHaveLength(2);
  expect(new Set(world.said).size).toBe(1);
});

test("a scaler of the target is paused only once Service and route point to the primary, because it scales the target to zero", async () => {
  const autoscalerRef = { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "podinfo" };
  const world = canaryWorld({ autoscalerRef });
  await world.run();
  await world.tick();
  expect(world.writes).toEqual(["status", "services", "primary", "apex", "route", "pause", "scale to zero", "status"]);
});
