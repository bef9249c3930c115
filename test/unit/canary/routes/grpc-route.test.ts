import { describe, expect, it } from "vitest";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

const group = "gateway.networking.k8s.io";
const worldOf = routesWorlds("grpc", [
  smallDefinition(group, "HTTPRoute", "httproutes", ["v1"]),
  smallDefinition(group, "GRPCRoute", "grpcroutes", ["v1"]),
]);

const routeOf = (world: RoutesWorld, kind = "GRPCRoute") => world.get(`${group}/v1`, kind, "podinfo");
const to = (canary: number) => ({ primary: 100 - canary, canary, isMirrored: false });
const grpc = (scene: Scene = {}): Scene => ({ ...scene, annotations: { "sluice.dev/route-kind": "GRPCRoute" } });
const weights = (canary: number) => ({
  backendRefs: [
    { group: "", kind: "Service", name: "podinfo-primary", port: 9898, weight: 100 - canary },
    { group: "", kind: "Service", name: "podinfo-canary", port: 9898, weight: canary },
  ],
});

describe("a GRPCRoute of a Canary", () => {
  it("canary/28: splits all calls by weight, and is not written if it is correct", async () => {
    const world = await worldOf();
    await world.router(grpc()).ensure();
    await world.router(grpc()).setRoutes(to(20));
    expect((await routeOf(world))?.["spec"]).toEqual({
      parentRefs: [{ group, kind: "Gateway", name: "edge", namespace: "edge-system" }],
      rules: [weights(20)],
    });
    world.writes.splice(0);
    await world.router(grpc()).ensure();
    expect(await world.router(grpc()).routes()).toEqual(to(20));
    expect(world.writes).toEqual([]);
  });

  it("canary/34: supports an A/B test of the calls of one service", async () => {
    const world = await worldOf();
    const scene = grpc({
      service: { match: [{ uri: { prefix: "/acme.Orders/" } }, { uri: { exact: "/acme.Users/Get" } }] },
      analysis: { iterations: 2, match: [{ headers: { x: { exact: "y" } } }] },
    });
    await world.router(scene).ensure();
    await world.router(scene).setRoutes(to(100));
    const [orders, users] = [{ service: "acme.Orders" }, { service: "acme.Users", method: "Get" }];
    const headers = [{ name: "x", type: "Exact", value: "y" }];
    expect((await routeOf(world))?.["spec"]).toMatchObject({
      rules: [
        {
          matches: [
            { method: orders, headers },
            { method: users, headers },
          ],
          ...weights(100),
        },
        { matches: [{ method: orders }, { method: users }], backendRefs: [{ name: "podinfo-primary", weight: 100 }] },
      ],
    });
    expect(await world.router(scene).routes()).toEqual(to(100));
  });

  it.each([
    [
      "a path that is not a gRPC call",
      { match: [{ uri: { prefix: "/api" } }] },
      "spec.service.match[0].uri is not a call",
    ],
    ["a method of HTTP", { match: [{ method: { exact: "GET" } }] }, "cannot match method of spec.service.match[0]"],
    [
      "parameters",
      { match: [{ queryParams: { a: { exact: "b" } } }] },
      "cannot match queryParams of spec.service.match[0]",
    ],
    ["a rewrite", { rewrite: { uri: "/" } }, "a GRPCRoute has no spec.service.rewrite"],
    ["a timeout", { timeout: "5s" }, "a GRPCRoute has no spec.service.timeout"],
  ])("refuses %s, which it cannot express", async (_, service, text) => {
    const world = await worldOf();
    await expect(world.router(grpc({ service })).ensure()).rejects.toThrow(text);
    expect(world.writes).toEqual([]);
  });

  it("is refused for another kind of route", async () => {
    const world = await worldOf();
    const scene: Scene = { annotations: { "sluice.dev/route-kind": "TCPRoute" } };
    expect(() => world.router(scene)).toThrow("annotation sluice.dev/route-kind must be HTTPRoute or GRPCRoute");
  });

  it.each([
    ["HTTPRoute", "GRPCRoute", {}, grpc()],
    ["GRPCRoute", "HTTPRoute", grpc(), {}],
  ])(
    "if %s is replaced, %s is created with the same weights before the old one is deleted",
    async (former, next, before, after) => {
      const world = await worldOf();
      await world.router(before).ensure();
      await world.router(before).setRoutes(to(30));
      world.writes.splice(0);
      await world.router(after).ensure();
      expect(await world.router(after).routes()).toEqual(to(30));
      expect(await routeOf(world, former)).toBeUndefined();
      const annotations = (await routeOf(world, next))?.metadata.annotations ?? {};
      expect(Object.keys(annotations)).not.toContain("sluice.dev/replaces");
      expect(world.writes[0]).toBe(`create ${next}/podinfo`);
    },
  );

  it("a step killed before the old route is deleted leaves that to the next step", async () => {
    const world = await worldOf();
    await world.router().ensure();
    world.fail((write) => write.startsWith("delete"));
    await expect(world.router(grpc()).ensure()).rejects.toThrow("killed");
    expect(await routeOf(world, "HTTPRoute")).toBeDefined();
    world.fail(() => false);
    await world.router(grpc()).ensure();
    expect(await routeOf(world, "HTTPRoute")).toBeUndefined();
  });
});
