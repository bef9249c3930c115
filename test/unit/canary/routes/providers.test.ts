import { describe, expect, it } from "vitest";
import { type RoutesWorld, type Scene } from "./routes-world.ts";
import { providers, to, providerWorlds } from "./provider-scenes.ts";

const worldOf = providerWorlds();

describe.each(providers)("provider $name", ({ name, route, scene = {}, given, split }) => {
  const scened: Scene = { ...scene, settings: { ...scene.settings, meshProvider: name } };
  const routeOf = (world: RoutesWorld) => world.get(...route);

  it("canary/28: sends everything to the primary first, then by the weights that are set, and writes only changes", async () => {
    const world = await worldOf();
    await given?.(world);
    await world.router(scened).ensure();
    expect(await world.router(scened).routes()).toEqual(to(0));
    expect((await routeOf(world))?.metadata.ownerReferences).toMatchObject([{ kind: "Canary", name: "podinfo" }]);
    await world.router(scened).setRoutes(to(30));
    expect(await routeOf(world)).toMatchObject(split(world));
    expect(await world.router(scened).routes()).toEqual(to(30));
    world.writes.splice(0);
    const router = world.router(scened);
    await router.ensure();
    await router.setRoutes(to(30));
    expect(world.writes).toEqual([]);
    await world.router(scened).setRoutes(to(100));
    expect(await world.router(scened).routes()).toEqual(to(100));
    await world.router(scened).setRoutes(to(0));
    expect(await world.router(scened).routes()).toEqual(to(0));
  });

  it("repairs changes of other clients to the route, and the weights stay", async () => {
    const world = await worldOf();
    await given?.(world);
    await world.router(scened).ensure();
    await world.router(scened).setRoutes(to(30));
    const before = await routeOf(world);
    await world.edit(before, { spec: { defaultBackend: { service: { name: "theirs", port: { number: 1 } } } } });
    await world.router(scened).ensure();
    expect((await routeOf(world))?.["spec"]).toEqual(before?.["spec"]);
  });

  it("refuses a route that another object controls", async () => {
    const world = await worldOf();
    await given?.(world);
    await world.router({ ...scened, name: "first" }).ensure();
    world.writes.splice(0);
    await expect(world.router({ ...scened, name: "second" }).ensure()).rejects.toThrow(/belongs to Canary first/);
    expect(world.writes).toEqual([]);
  });

  it("ensure sets the given weight, and writes nothing if the route has it already", async () => {
    const world = await worldOf();
    await given?.(world);
    await world.router(scened).ensure();
    await world.router(scened).setRoutes(to(30));
    await world.router(scened).ensure({ weight: 0 });
    expect(await world.router(scened).routes()).toEqual(to(0));
    world.writes.splice(0);
    await world.router(scened).ensure({ weight: 0 });
    expect(world.writes).toEqual([]);
  });

  it("reports a missing route with its own text", async () => {
    const world = await worldOf();
    const text = new RegExp(`${route[2]}\\.${world.namespace} (get )?query error:? .*"${route[2]}" not found$`);
    await expect(world.router(scened).routes()).rejects.toThrow(text);
  });
});
