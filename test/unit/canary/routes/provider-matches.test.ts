import { describe, expect, it } from "vitest";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import { type Scene } from "./routes-world.ts";
import { to, providerWorlds, ingressRef, givenIngress } from "./provider-scenes.ts";

const worldOf = providerWorlds();

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
