import { describe, expect, it } from "vitest";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "./small-definition.ts";

const worldOf = routesWorlds("providers", [
  smallDefinition("split.smi-spec.io", "TrafficSplit", "trafficsplits", ["v1alpha2", "v1alpha1", "v1alpha3"]),
  smallDefinition("projectcontour.io", "HTTPProxy", "httpproxies", ["v1"]),
  smallDefinition("traefik.io", "TraefikService", "traefikservices", ["v1alpha1"]),
  smallDefinition("apisix.apache.org", "ApisixRoute", "apisixroutes", ["v2"]),
  smallDefinition("gateway.solo.io", "RouteTable", "routetables", ["v1"]),
  smallDefinition("gloo.solo.io", "Upstream", "upstreams", ["v1"]),
  smallDefinition("kuma.io", "TrafficRoute", "trafficroutes", ["v1alpha1"], "Cluster"),
  smallDefinition("serving.knative.dev", "Service", "services", ["v1"]),
]);

const to = (canary: number) => ({ primary: 100 - canary, canary, isMirrored: false });

interface Provider {
  readonly name: string;
  readonly route: readonly [apiVersion: string, kind: string, name: string];
  readonly scene?: Scene;
  /** What there is before the first step. */
  readonly given?: (world: RoutesWorld) => Promise<unknown>;
  /** Parts of the route with 30 % on the canary. */
  readonly split: (world: RoutesWorld) => object;
}

const ingress: JsonObject = {
  ingressClassName: "nginx",
  rules: [
    {
      host: "app.example.test",
      http: {
        paths: [
          { path: "/", pathType: "Prefix", backend: { service: { name: "podinfo", port: { number: 80 } } } },
          { path: "/x", pathType: "Prefix", backend: { service: { name: "other", port: { number: 80 } } } },
        ],
      },
    },
  ],
};
const ingressRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "web" };
const givenIngress = (world: RoutesWorld) =>
  world.create({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", labels: { app: "podinfo" }, annotations: { "example.test/a": "b" } },
    spec: ingress,
  });
const path = (name: string, at = "/") => ({ path: at, backend: { service: { name, port: { number: 80 } } } });
const splits = (name: string, version: string, weight: (percent: number) => unknown): Provider => ({
  name,
  route: [`split.smi-spec.io/${version}`, "TrafficSplit", "podinfo"],
  split: () => ({
    spec: {
      service: "podinfo",
      backends: [
        { service: "podinfo-canary", weight: weight(30) },
        { service: "podinfo-primary", weight: weight(70) },
      ],
    },
  }),
});

const providers: readonly Provider[] = [
  splits("linkerd", "v1alpha1", String),
  splits("osm", "v1alpha2", (percent) => percent),
  splits("smi:v1alpha3", "v1alpha3", (percent) => percent),
  {
    name: "nginx",
    route: ["networking.k8s.io/v1", "Ingress", "web-canary"],
    scene: { spec: { ingressRef } },
    given: givenIngress,
    split: () => ({
      metadata: {
        labels: { app: "podinfo" },
        annotations: {
          "example.test/a": "b",
          "nginx.ingress.kubernetes.io/canary": "true",
          "nginx.ingress.kubernetes.io/canary-weight": "30",
        },
      },
      spec: { ingressClassName: "nginx", rules: [{ http: { paths: [path("podinfo-canary"), path("other", "/x")] } }] },
    }),
  },
  {
    name: "skipper",
    route: ["networking.k8s.io/v1", "Ingress", "web-canary"],
    scene: { spec: { ingressRef } },
    given: givenIngress,
    split: () => ({
      metadata: {
        annotations: {
          "zalando.org/backend-weights": '{"podinfo-canary":30,"podinfo-primary":70}',
          "zalando.org/skipper-predicate": "Weight(100)",
        },
      },
      spec: { rules: [{ http: { paths: [path("podinfo-primary"), path("other", "/x"), path("podinfo-canary")] } }] },
    }),
  },
  {
    name: "contour",
    route: ["projectcontour.io/v1", "HTTPProxy", "podinfo"],
    scene: {
      service: { timeout: "5s", retries: { attempts: 3, retryOn: "5xx,reset" } },
      settings: { ingressClass: "c" },
    },
    split: ({ namespace }) => ({
      spec: {
        ingressClassName: "c",
        routes: [
          {
            conditions: [{ prefix: "/" }],
            timeoutPolicy: { response: "5s", idle: "5m" },
            retryPolicy: { count: 3, retryOn: ["5xx", "reset"] },
            services: [
              {
                name: "podinfo-primary",
                weight: 70,
                requestHeadersPolicy: {
                  set: [{ name: "l5d-dst-override", value: `podinfo-primary.${namespace}.svc.cluster.local:9898` }],
                },
              },
              { name: "podinfo-canary", weight: 30 },
            ],
          },
        ],
      },
    }),
  },
  {
    name: "traefik",
    route: ["traefik.io/v1alpha1", "TraefikService", "podinfo"],
    split: ({ namespace }) => ({
      spec: {
        weighted: {
          services: [
            { name: "podinfo-primary", namespace, port: 9898, weight: 70 },
            { name: "podinfo-canary", namespace, port: 9898, weight: 30 },
          ],
        },
      },
    }),
  },
  {
    name: "apisix",
    route: ["apisix.apache.org/v2", "ApisixRoute", "web-podinfo-canary"],
    scene: { spec: { routeRef: { apiVersion: "apisix.apache.org/v2", kind: "ApisixRoute", name: "web" } } },
    given: (world) =>
      world.create({
        apiVersion: "apisix.apache.org/v2",
        kind: "ApisixRoute",
        metadata: { name: "web" },
        spec: {
          http: [
            { name: "other", backends: [{ serviceName: "other", servicePort: 80 }] },
            { name: "app", match: { paths: ["/*"] }, backends: [{ serviceName: "podinfo", servicePort: 80 }] },
          ],
        },
      }),
    split: () => ({
      spec: {
        http: [
          {
            name: "app",
            priority: 10_000,
            match: { paths: ["/*"] },
            backends: [
              { serviceName: "podinfo-primary", servicePort: 80, weight: 70 },
              { serviceName: "podinfo-canary", servicePort: 80, weight: 30 },
            ],
          },
        ],
      },
    }),
  },
  {
    name: "gloo",
    route: ["gateway.solo.io/v1", "RouteTable", "podinfo"],
    given: (world) => world.services().ensureOwn(),
    split: ({ namespace }) => ({
      spec: {
        routes: [
          {
            inheritablePathMatchers: true,
            routeAction: {
              multi: {
                destinations: [
                  {
                    destination: { upstream: { name: `${namespace}-podinfo-primaryupstream-9898`, namespace } },
                    weight: 70,
                  },
                  {
                    destination: { upstream: { name: `${namespace}-podinfo-canaryupstream-9898`, namespace } },
                    weight: 30,
                  },
                ],
              },
            },
          },
        ],
      },
    }),
  },
];

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

describe("A/B tests", () => {
  const match = [{ headers: { "x-canary": { exact: "insider" } } }, { headers: { cookie: { exact: "always" } } }];
  const tested = (meshProvider: string, scene: Scene = {}): Scene => ({
    ...scene,
    analysis: { iterations: 2, match },
    settings: { meshProvider },
  });

  it("canary/34: nginx matches requests by header or cookie during a run, and none at rest", async () => {
    const world = await worldOf();
    await givenIngress(world);
    const scene = tested("nginx", { spec: { ingressRef } });
    const annotations = async () =>
      (await world.get("networking.k8s.io/v1", "Ingress", "web-canary"))?.metadata.annotations;
    const prefix = "nginx.ingress.kubernetes.io";
    await world.router(scene).ensure();
    const atRest = await annotations();
    expect(atRest).toMatchObject({ [`${prefix}/canary`]: "true", [`${prefix}/canary-weight`]: "0" });
    await world.router(scene).setRoutes(to(100));
    expect(await annotations()).toEqual({
      ...atRest,
      [`${prefix}/canary-by-header`]: "x-canary",
      [`${prefix}/canary-by-header-value`]: "insider",
      [`${prefix}/canary-by-cookie`]: "always",
    });
    expect(await world.router(scene).routes()).toEqual(to(100));
    await world.router(scene).setRoutes(to(0));
    expect(await annotations()).toEqual(atRest);
  });

  it("canary/34: contour and gloo have one route for the requests of the test, and one to the primary for all others", async () => {
    const world = await worldOf();
    await world.services().ensureOwn();
    for (const provider of ["contour", "gloo"]) {
      await world.router(tested(provider)).ensure();
      await world.router(tested(provider)).setRoutes(to(100));
      expect(await world.router(tested(provider)).routes()).toEqual(to(100));
    }
    // As Flagger they name no weight of 0, which is the default of their kinds.
    const weight = (share: number) => (share === 0 ? {} : { weight: share });
    const services = (canary: number) => [
      { name: "podinfo-primary", ...weight(100 - canary) },
      { name: "podinfo-canary", ...weight(canary) },
    ];
    const proxy = await world.get("projectcontour.io/v1", "HTTPProxy", "podinfo");
    const table = await world.get("gateway.solo.io/v1", "RouteTable", "podinfo");
    expect(JSON.stringify([proxy, table])).not.toContain('"weight":0');
    expect(proxy?.["spec"]).toMatchObject({
      routes: [
        { conditions: [{ prefix: "/", header: { name: "x-canary", exact: "insider" } }], services: services(100) },
        { conditions: [{ prefix: "/", header: { name: "cookie", exact: "always" } }], services: services(100) },
        { conditions: [{ prefix: "/" }], services: services(0) },
      ],
    });
    const destinations = (canary: number) => ({
      routeAction: { multi: { destinations: [weight(100 - canary), weight(canary)] } },
    });
    expect(table?.["spec"]).toMatchObject({
      routes: [
        {
          matchers: [
            { headers: [{ name: "x-canary", value: "insider" }] },
            { headers: [{ name: "cookie", value: "always" }] },
          ],
          ...destinations(100),
        },
        destinations(0),
      ],
    });
  });

  it.each(["linkerd", "traefik", "apisix", "skipper", "kuma", "knative"])(
    "canary/34: %s is refused, because it cannot match requests and would send all of them to the canary",
    async (provider) => {
      const world = await worldOf();
      const routeRef = { apiVersion: "apisix.apache.org/v2", kind: "ApisixRoute", name: "web" };
      await expect(world.router(tested(provider, { spec: { ingressRef, routeRef } })).ensure()).rejects.toThrow(
        `provider ${provider} cannot route requests by spec.analysis.match`,
      );
      expect(world.writes).toEqual([]);
    },
  );
});

describe("mirrors", () => {
  it("a provider that cannot mirror refuses a mirror before weights, for which Flagger waits forever", async () => {
    const world = await worldOf();
    const scene: Scene = { analysis: { mirror: true }, settings: { meshProvider: "linkerd" } };
    await expect(world.router(scene).ensure()).rejects.toThrow("provider linkerd cannot mirror requests");
  });
});

describe("Ingresses", () => {
  it.each(["nginx", "skipper"])(
    "%s ends the step with Flagger's text if it is missing, or if the apex Service is not in it",
    async (provider) => {
      const world = await worldOf();
      const settings = { meshProvider: provider };
      await expect(world.router({ settings }).ensure()).rejects.toThrow(new StepFault("ingress selector is empty"));
      const scene: Scene = { spec: { ingressRef }, settings };
      await expect(world.router(scene).ensure()).rejects.toThrow(
        `ngress web.${world.namespace} get query error: ingresses.networking.k8s.io "web" not found`,
      );
      await givenIngress(world);
      await expect(world.router({ ...scene, service: { name: "else" } }).ensure()).rejects.toThrow(
        new StepFault("backend else not found in ingress web"),
      );
    },
  );

  it("skipper's own route is disabled after a run and deleted at the end, and a second deletion does not fail", async () => {
    const world = await worldOf();
    await givenIngress(world);
    const scene: Scene = { spec: { ingressRef }, settings: { meshProvider: "skipper" } };
    const route = () => world.get("networking.k8s.io/v1", "Ingress", "web-canary");
    await world.router(scene).ensure();
    const predicates = [(await route())?.metadata.annotations?.["zalando.org/skipper-predicate"]];
    for (const canary of [30, 0, 40]) {
      await world.router(scene).setRoutes(to(canary));
      await world.router(scene).ensure();
      predicates.push((await route())?.metadata.annotations?.["zalando.org/skipper-predicate"]);
    }
    expect(predicates).toEqual(["Weight(100)", "Weight(100)", "False()", "Weight(100)"]);
    await world.router(scene).finalize();
    await world.router(scene).finalize();
    expect(await route()).toBeUndefined();
  });
});

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
