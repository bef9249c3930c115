import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { routesWorlds, type RoutesWorld, type Scene } from "../unit/canary/routes/routes-world.ts";
import { smallDefinition } from "../doubles/small-definition.ts";

const group = "gateway.networking.k8s.io";
const worldOf = routesWorlds("weights", [smallDefinition(group, "HTTPRoute", "httproutes", ["v1"])]);

const Spec = z.object({
  rules: z.array(z.object({ backendRefs: z.array(z.object({ name: z.string(), weight: z.number() })) })),
});

/** What happens to a route between two looks at it. */
type Step =
  | { readonly kind: "set"; readonly canary: number; readonly isMirrored: boolean }
  | { readonly kind: "ensure" }
  | { readonly kind: "foreign weights"; readonly primary: number; readonly canary: number }
  | { readonly kind: "foreign rules"; readonly names: readonly string[] }
  | { readonly kind: "deleted rules" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), canary: fc.integer({ min: 0, max: 100 }), isMirrored: fc.boolean() }),
  fc.record({ kind: fc.constant("ensure" as const) }),
  fc.record({ kind: fc.constant("foreign weights" as const), primary: fc.nat(1_000), canary: fc.nat(1_000) }),
  fc.record({
    kind: fc.constant("foreign rules" as const),
    names: fc.array(fc.constantFrom("podinfo-primary", "podinfo-canary", "other"), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("deleted rules" as const) }),
);

const scene: fc.Arbitrary<Scene> = fc.record({
  analysis: fc.record(
    {
      match: fc.constantFrom([], [{ headers: { x: { exact: "y" } } }]),
      sessionAffinity: fc.constant({ cookieName: "c", primaryCookieName: "p" }),
      mirror: fc.boolean(),
      iterations: fc.constantFrom(0, 2),
    },
    { requiredKeys: [] },
  ),
  status: fc.record({ phase: fc.constantFrom("Progressing", "Succeeded", "Failed") }),
});

const routeOf = (world: RoutesWorld) => world.get(`${group}/v1`, "HTTPRoute", "podinfo");
const backend = (name: string, weight = 1) => ({ group: "", kind: "Service", name, port: 9898, weight });

interface Shares {
  readonly before: object;
  readonly after: object;
}

/** The shares before and after it, where it must not change them. */
async function play(one: Step, world: RoutesWorld, given: Scene): Promise<Shares | undefined> {
  const router = world.router(given);
  const write = async (rules: unknown[]) => {
    await world.edit(await routeOf(world), { spec: JSON.parse(JSON.stringify({ rules })) });
  };
  switch (one.kind) {
    case "set":
      await router.setRoutes({ primary: 100 - one.canary, canary: one.canary, isMirrored: one.isMirrored });
      return undefined;
    case "ensure": {
      const before = await shares(world, given);
      await router.ensure();
      return { before, after: await shares(world, given) };
    }
    case "foreign weights":
      await write([{ backendRefs: [backend("podinfo-primary", one.primary), backend("podinfo-canary", one.canary)] }]);
      return undefined;
    case "foreign rules":
      await write([{ backendRefs: one.names.map((name) => backend(name)) }]);
      break;
    case "deleted rules":
      await write([]);
  }
  await world.router(given).ensure();
  return undefined;
}

async function shares(world: RoutesWorld, given: Scene): Promise<object> {
  const { primary, canary } = await world.router(given).routes();
  return { primary, canary };
}

describe("weights of a route", () => {
  it("canary/28: after any writes, repairs and foreign changes each rule shares 100 percent, and repairs keep the shares", async () => {
    const property = fc.asyncProperty(scene, fc.array(step, { maxLength: 8 }), async (given, steps) => {
      const world = await worldOf();
      await world.router(given).ensure();
      for (const one of steps) {
        const played = await play(one, world, given);
        expect(played?.after).toEqual(played?.before);
        if (one.kind === "foreign weights") continue;
        const { rules } = Spec.parse((await routeOf(world))?.["spec"]);
        expect(rules.length).toBeGreaterThan(0);
        for (const { backendRefs } of rules) {
          expect(backendRefs.reduce((sum, { weight }) => sum + weight, 0)).toBe(100);
        }
      }
    });
    await fc.assert(property, { numRuns: 25 });
  });
});
