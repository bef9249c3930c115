import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { type RoutesWorld, type Scene } from "./routes-world.ts";
import { type Provider, providers, to, providerWorlds } from "./provider-scenes.ts";

const worldOf = providerWorlds();

const isMadeUp = ({ route }: Provider) => route[2] !== "podinfo";
const scenedBy = ({ name, scene = {} }: Provider): Scene => ({
  ...scene,
  settings: { ...scene.settings, meshProvider: name },
});
const theirs = ({ route }: Provider): JsonObject =>
  route[1] === "Ingress" ? { defaultBackend: { service: { name: "x", port: { number: 1 } } } } : { of: "x" };
const createTheirs = (world: RoutesWorld, provider: Provider, metadata: object = {}) => {
  const [apiVersion, kind, name] = provider.route;
  return world.create({ apiVersion, kind, metadata: { ...metadata, name }, spec: theirs(provider) });
};

describe("a route that the Canary did not create", () => {
  it.each(providers.filter(isMadeUp))(
    "is refused by $name, because its name is derived from the Canary",
    async (provider) => {
      const { given, route } = provider;
      const scened = scenedBy(provider);
      const world = await worldOf();
      await given?.(world);
      const before = await createTheirs(world, provider);
      await expect(world.router(scened).ensure()).rejects.toThrow(
        new RegExp(
          `${route[1]} ${route[2]}.* has not made it, so it is not overwritten: delete or rename it, or give spec`,
        ),
      );
      expect(await world.get(...route)).toEqual(before);
    },
  );

  it.each(providers.filter(isMadeUp))(
    "of $name that an earlier Canary left behind is adopted: its name is derived from the Canary, and it points to its Services",
    async (provider) => {
      const { given, route } = provider;
      const scened = scenedBy(provider);
      const world = await worldOf();
      await given?.(world);
      await world.router(scened).ensure();
      await world.router(scened).setRoutes(to(30));
      await world.edit(await world.get(...route), { metadata: { ownerReferences: null } });
      const router = world.router(scened);
      await router.ensure();
      expect((await world.get(...route))?.metadata.ownerReferences).toMatchObject([
        { kind: "Canary", name: "podinfo" },
      ]);
      await router.setRoutes(to(40));
      expect(await world.router(scened).routes()).toEqual(to(40));
      world.writes.splice(0);
      await world.router(scened).ensure();
      expect(world.writes).toEqual([]);
    },
  );

  it("an Upstream of Gloo that an earlier Canary left behind is adopted; one for another Service is refused", async () => {
    const world = await worldOf();
    await world.services().ensureOwn();
    const gloo: Scene = { settings: { meshProvider: "gloo" } };
    const upstream = () => world.get("gloo.solo.io/v1", "Upstream", `${world.namespace}-podinfo-canaryupstream-9898`);
    await world.router(gloo).ensure();
    await world.edit(await upstream(), { metadata: { ownerReferences: null } });
    await world.router(gloo).ensure();
    expect((await upstream())?.metadata.ownerReferences).toMatchObject([{ kind: "Canary", name: "podinfo" }]);
    const spec = { kube: { serviceName: "theirs" } };
    await world.edit(await upstream(), { metadata: { ownerReferences: null }, spec });
    await expect(world.router(gloo).ensure()).rejects.toThrow("has not made it, so it is not overwritten");
  });

  it.each(providers.filter((one) => !isMadeUp(one)))(
    "is stored by $name before it is written, and restored",
    async (provider) => {
      const { given, route } = provider;
      const scened = scenedBy(provider);
      const world = await worldOf();
      await given?.(world);
      const annotations = { note: "ours" };
      await createTheirs(world, provider, { labels: { team: "web" }, annotations });
      await world.router(scened).ensure({ takeOver: world.takeOver });
      await world.router({ ...scened, annotations: world.originals() }).ensure({ takeOver: world.takeOver });
      await world.router(scened).setRoutes(to(30));
      expect(world.taken).toEqual([`${route[1]}/podinfo`]);
      expect(await world.router(scened).routes()).toEqual(to(30));
      const scene = { ...scened, annotations: world.originals() };
      await world.router(scene).finalize();
      const after = await world.get(...route);
      const { annotations: left, labels } = after?.metadata ?? {};
      expect({ labels, annotations: left, spec: after?.["spec"] }).toEqual({
        ...{ labels: { team: "web" }, annotations, spec: theirs(provider) },
      });
      world.writes.splice(0);
      await world.router(scene).finalize();
      expect(world.writes).toEqual([]);
    },
  );
});
