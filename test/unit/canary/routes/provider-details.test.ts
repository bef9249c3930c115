import { describe, expect, it } from "vitest";
import { type RoutesWorld, type Scene } from "./routes-world.ts";
import { to, providerWorlds } from "./provider-scenes.ts";

const worldOf = providerWorlds();

describe("Kuma", () => {
  const kuma: Scene = { settings: { meshProvider: "kuma" } };

  it("canary/28: sets weights for the Services by their names in the mesh; one of another namespace is refused", async () => {
    const [world, other] = [await worldOf(), await worldOf()];
    await world.router(kuma).ensure();
    await world.router(kuma).setRoutes(to(30));
    const route = await world.get("kuma.io/v1alpha1", "TrafficRoute", "podinfo");
    const service = (name: string) => ({ "kuma.io/service": `${name}_${world.namespace}_svc_9898` });
    expect(route).toMatchObject({
      mesh: "default",
      spec: {
        sources: [{ match: { "kuma.io/service": "*" } }],
        destinations: [{ match: service("podinfo") }],
        conf: {
          split: [
            { weight: 70, destination: service("podinfo-primary") },
            { weight: 30, destination: service("podinfo-canary") },
          ],
        },
      },
    });
    expect(await world.router(kuma).routes()).toEqual(to(30));
    await expect(other.router(kuma).ensure()).rejects.toThrow("TrafficRoute podinfo is about another Service");
    await other.router(kuma).finalize();
    await world.router(kuma).finalize();
    expect(await world.get("kuma.io/v1alpha1", "TrafficRoute", "podinfo")).toBeUndefined();
  });
});

describe("a TrafficRoute of a user for the same Service", () => {
  it("is restored and not deleted", async () => {
    const world = await worldOf();
    const service = { "kuma.io/service": `theirs_${world.namespace}_svc_9898` };
    const spec = { destinations: [{ match: service }], conf: { split: [] } };
    const scene: Scene = { service: { name: "theirs" }, settings: { meshProvider: "kuma" } };
    const routeOf = () => world.get("kuma.io/v1alpha1", "TrafficRoute", "theirs");
    await world.router(scene).ensure();
    await world.edit(await routeOf(), { metadata: { annotations: null }, spec: { ...spec, sources: null } });
    await world.router(scene).finalize();
    await world.router(scene).ensure({ takeOver: world.takeOver });
    await world.router({ ...scene, annotations: world.originals() }).finalize();
    const route = await routeOf();
    expect({ annotations: route?.metadata.annotations, spec: route?.["spec"] }).toEqual({
      annotations: undefined,
      spec,
    });
  });

  it("is not written in another namespace, whatever the annotation of the Canary says", async () => {
    const [world, other] = [await worldOf(), await worldOf()];
    const scene: Scene = { service: { name: "shared" }, settings: { meshProvider: "kuma" } };
    const routeOf = () => world.get("kuma.io/v1alpha1", "TrafficRoute", "shared");
    await world.router(scene).ensure();
    const before = await routeOf();
    if (before !== undefined) await other.takeOver({ ...before, spec: { of: "evil" } });
    await other.router({ ...scene, annotations: other.originals() }).finalize();
    expect(await routeOf()).toEqual(before);
  });
});

describe("Knative", () => {
  const knative: Scene = {
    spec: { targetRef: { apiVersion: "serving.knative.dev/v1", kind: "Service", name: "podinfo" } },
    settings: { meshProvider: "knative" },
  };
  const serviceOf = (world: RoutesWorld) => world.get("serving.knative.dev/v1", "Service", "podinfo");

  it("canary/28: requests are split between the latest revision and the one in production", async () => {
    const world = await worldOf();
    const spec = { template: {} };
    await world.create({ apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: { name: "podinfo" }, spec });
    await expect(world.router(knative).ensure()).rejects.toThrow("has no revision yet");
    await world.edit(await serviceOf(world), { status: { latestCreatedRevisionName: "podinfo-00001" } }, "status");
    await world.router(knative).ensure();
    expect(await world.router(knative).routes()).toEqual(to(0));
    await world.router(knative).setRoutes(to(30));
    expect(await serviceOf(world)).toMatchObject({
      metadata: { annotations: { "flagger.app/primary-revision": "podinfo-00001" } },
      spec: {
        template: {},
        traffic: [
          { latestRevision: true, percent: 30 },
          { revisionName: "podinfo-00001", percent: 70 },
        ],
      },
    });
    expect(await world.router(knative).routes()).toEqual(to(30));
    world.writes.splice(0);
    await world.router(knative).setRoutes(to(30));
    await world.router(knative).ensure();
    await world.router(knative).ensure({ weight: 30 });
    expect(world.writes).toEqual([]);
    await world.router(knative).ensure({ weight: 0 });
    expect(await world.router(knative).routes()).toEqual(to(0));
    await world.router(knative).finalize();
    await world.router(knative).finalize();
    expect((await serviceOf(world))?.metadata.annotations).toBeUndefined();
  });
});

describe("App Mesh", () => {
  it.each(["appmesh", "appmesh:v1beta2"])(
    "%s is refused, and the message names a replacement",
    async (meshProvider) => {
      const world = await worldOf();
      expect(() => world.router({ settings: { meshProvider } })).toThrow(
        `provider ${meshProvider} is not supported: AWS App Mesh is at its end of life. Set spec.provider to gatewayapi:v1`,
      );
    },
  );
});
