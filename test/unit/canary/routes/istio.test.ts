import { describe, expect, it } from "vitest";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

const group = "networking.istio.io";
const worldOf = routesWorlds("istio", [
  smallDefinition(group, "VirtualService", "virtualservices", ["v1beta1"]),
  smallDefinition(group, "DestinationRule", "destinationrules", ["v1beta1"]),
]);

const serviceOf = (world: RoutesWorld) => world.get(`${group}/v1beta1`, "VirtualService", "podinfo");
const specOf = async (world: RoutesWorld) => (await serviceOf(world))?.["spec"];
const to = (host: string, weight: number) => ({ destination: { host }, weight });
const split = (primary: number, canary: number) => [to("podinfo-primary", primary), to("podinfo-canary", canary)];
const weights = (canary: number, isMirrored = false) => ({ primary: 100 - canary, canary, isMirrored });
const istio = (scene: Scene = {}): Scene => ({ ...scene, settings: { meshProvider: "istio" } });

describe("the VirtualService of a Canary", () => {
  it("canary/28: is written after its DestinationRules, and has the weights that are set", async () => {
    const world = await worldOf();
    const scene = istio({ service: { trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } } } });
    await world.router(scene).ensure();
    expect(world.writes).toEqual([
      "create DestinationRule/podinfo-canary",
      "create DestinationRule/podinfo-primary",
      "create VirtualService/podinfo",
    ]);
    expect((await world.get(`${group}/v1beta1`, "DestinationRule", "podinfo-canary"))?.["spec"]).toEqual({
      host: "podinfo-canary",
      trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } },
    });
    expect(await specOf(world)).toEqual({ hosts: ["podinfo"], gateways: ["mesh"], http: [{ route: split(100, 0) }] });
    await world.router(scene).setRoutes(weights(20));
    expect(await specOf(world)).toMatchObject({ http: [{ route: split(80, 20) }] });
    world.writes.splice(0);
    await world.router(scene).ensure();
    expect(await world.router(scene).routes()).toEqual(weights(20));
    expect(world.writes).toEqual([]);
  });

  it("has hosts, gateways and all request settings of spec.service", async () => {
    const world = await worldOf();
    const service = {
      hosts: ["app.example.test"],
      gateways: ["public"],
      portDiscovery: true,
      match: [{ uri: { prefix: "/api" } }],
      rewrite: { uri: "/", type: "ReplaceFullPath" },
      timeout: "5s",
      retries: { attempts: 3, perTryTimeout: "1s" },
      corsPolicy: { allowOrigin: ["a"] },
      headers: { request: { add: { a: "b" } } },
    };
    await world.router(istio({ service })).ensure();
    const { match, timeout, retries, corsPolicy, headers } = service;
    const port = { number: 9898 };
    expect(await specOf(world)).toEqual({
      hosts: ["app.example.test", "podinfo"],
      gateways: ["public"],
      http: [
        {
          ...{ match, rewrite: { uri: "/" }, timeout, retries, corsPolicy, headers },
          route: [
            { destination: { host: "podinfo-primary", port }, weight: 100 },
            { destination: { host: "podinfo-canary", port }, weight: 0 },
          ],
        },
      ],
    });
  });

  it("as a delegate has neither hosts nor gateways, and is refused if the Canary sets them", async () => {
    const world = await worldOf();
    await world.router(istio({ service: { delegation: true } })).ensure();
    expect(await specOf(world)).toEqual({ hosts: [], http: [{ route: split(100, 0) }] });
    await expect(world.router(istio({ service: { delegation: true, hosts: ["a"] } })).ensure()).rejects.toThrow(
      new StepFault(
        `reconcileVirtualService failed: VirtualService podinfo.${world.namespace} cannot have hosts and gateways when delegation enabled`,
      ),
    );
  });

  it("canary/34: in an A/B test sends only matching requests to the canary", async () => {
    const world = await worldOf();
    const match = [{ headers: { x: { exact: "y" } } }];
    const scene = istio({ analysis: { iterations: 2, match }, service: { match: [{ uri: { prefix: "/api" } }] } });
    await world.router(scene).ensure();
    await world.router(scene).setRoutes(weights(100));
    expect(await specOf(world)).toMatchObject({
      http: [
        { match: [{ uri: { prefix: "/api" }, headers: { x: { exact: "y" } } }], route: split(0, 100) },
        { match: [{ uri: { prefix: "/api" } }], route: [to("podinfo-primary", 100)] },
      ],
    });
    expect(await world.router(scene).routes()).toEqual(weights(100));
  });

  it("mirrors requests with the weight of the mirror", async () => {
    const world = await worldOf();
    const scene = istio({ analysis: { mirror: true, mirrorWeight: 25 }, status: { phase: "Progressing" } });
    await world.router(scene).ensure();
    await world.router(scene).setRoutes(weights(0, true));
    expect(await specOf(world)).toMatchObject({
      http: [{ mirror: { host: "podinfo-canary" }, mirrorPercentage: { value: 25 }, route: split(100, 0) }],
    });
    expect(await world.router(scene).routes()).toEqual(weights(0, true));
  });

  it("canary/40: keeps a client with the cookie on the canary, and removes the cookie after the run", async () => {
    const world = await worldOf();
    const scene = (status = {}) => istio({ analysis: { sessionAffinity: { cookieName: "c" } }, status });
    await world.router(scene()).ensure();
    const begun = await world.router(scene()).setRoutes(weights(10));
    const cookie = begun.sessionAffinityCookie ?? "";
    const sticky = { match: [{ headers: { Cookie: { regex: `.*c.*${cookie.split("=")[1]}.*` } } }] };
    const add = (value: string) => ({ headers: { response: { add: { "Set-Cookie": value } } } });
    expect(await specOf(world)).toMatchObject({
      http: [
        { ...sticky, route: split(0, 100) },
        {
          route: [to("podinfo-primary", 90), { ...to("podinfo-canary", 10), ...add(`${cookie}; Max-Age=86400`) }],
        },
      ],
    });
    const ended = await world.router(scene(begun)).setRoutes(weights(0));
    expect(await specOf(world)).toMatchObject({
      http: [{ ...sticky, ...add(`${cookie}; Max-Age=-1`), route: split(100, 0) }, { route: split(100, 0) }],
    });
    expect(await world.router(scene({ ...begun, ...ended })).routes()).toEqual(weights(0));
  });

  it("routes connections if the protocol is tcp", async () => {
    const world = await worldOf();
    const scene = istio({ service: { appProtocol: "TCP", match: [{ port: 9898 }] } });
    await world.router(scene).ensure();
    await world.router(scene).setRoutes(weights(40));
    expect(await specOf(world)).toMatchObject({ tcp: [{ match: [{ port: 9898 }], route: split(60, 40) }] });
    expect(await world.router(scene).routes()).toEqual(weights(40));
  });

  it("created by a user keeps its labels, and gets its original spec back at the end", async () => {
    const world = await worldOf();
    const original = { hosts: ["podinfo"], http: [{ route: [to("podinfo", 100)] }] };
    await world.create({
      apiVersion: `${group}/v1beta1`,
      kind: "VirtualService",
      metadata: { name: "podinfo", labels: { team: "web" } },
      spec: original,
    });
    await world.router(istio()).ensure();
    await world.router(istio({ service: { timeout: "5s" } })).ensure();
    expect((await serviceOf(world))?.metadata.labels).toEqual({ team: "web" });
    expect(await specOf(world)).toMatchObject({ http: [{ timeout: "5s", route: split(100, 0) }] });
    await world.router(istio()).finalize();
    expect(await specOf(world)).toEqual(original);
  });

  it("created by a user is stored before it is written, and gets everything back", async () => {
    const world = await worldOf();
    const spec = { hosts: ["podinfo"], http: [{ route: [to("podinfo", 100)] }] };
    const metadata = { name: "podinfo", labels: { team: "web" }, annotations: { note: "ours" } };
    await world.create({ apiVersion: `${group}/v1beta1`, kind: "VirtualService", metadata, spec });
    await world.router(istio()).ensure({ takeOver: world.takeOver });
    await world.router(istio({ annotations: world.originals() })).finalize();
    const { labels, annotations } = (await serviceOf(world))?.metadata ?? {};
    expect({ labels, annotations, spec: await specOf(world) }).toEqual({
      ...{ labels: metadata.labels, annotations: metadata.annotations, spec },
    });
  });

  it("a DestinationRule of a user with other content is refused", async () => {
    const world = await worldOf();
    const metadata = { name: "podinfo-primary" };
    await world.create({ apiVersion: `${group}/v1beta1`, kind: "DestinationRule", metadata, spec: { host: "theirs" } });
    await expect(world.router(istio()).ensure()).rejects.toThrow(
      /DestinationRule podinfo-primary.* has not made it, so it is not overwritten/,
    );
    expect(await serviceOf(world)).toBeUndefined();
  });

  it("that was never created, or is missing, does not block a deletion", async () => {
    const world = await worldOf();
    await world.router(istio()).finalize();
    expect(await serviceOf(world)).toBeUndefined();
  });

  it.each(["kubectl.kubernetes.io/last-applied-configuration", "flagger.kubernetes.io/original-configuration"])(
    "an annotation %s that is not JSON ends the step, and the spec is kept",
    async (annotation) => {
      const world = await worldOf();
      await world.router(istio()).ensure();
      await world.edit(await serviceOf(world), { metadata: { annotations: { [annotation]: "{" } } });
      const before = await specOf(world);
      await expect(world.router(istio()).finalize()).rejects.toThrow(
        new StepFault(`VirtualService podinfo.${world.namespace} failed to unMarshal annotation ${annotation}`),
      );
      expect(await specOf(world)).toEqual(before);
    },
  );

  it("without a route for the Canary is reported with Flagger's text", async () => {
    const world = await worldOf();
    await world.router(istio()).ensure();
    await world.edit(await serviceOf(world), { spec: { http: [] } });
    await expect(world.router(istio()).routes()).rejects.toThrow(
      new StepFault(
        `VirtualService podinfo.${world.namespace} does not contain routes for podinfo-primary and podinfo-canary`,
      ),
    );
  });

  it("an unknown provider name is treated as Istio", async () => {
    const world = await worldOf();
    await world.router({ settings: { meshProvider: "unheard-of" } }).ensure();
    expect(await specOf(world)).toMatchObject({ hosts: ["podinfo"] });
  });
});
