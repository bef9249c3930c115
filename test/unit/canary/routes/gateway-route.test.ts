import { describe, expect, it } from "vitest";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

const group = "gateway.networking.k8s.io";
const worldOf = routesWorlds("gateway", [smallDefinition(group, "HTTPRoute", "httproutes", ["v1", "v1beta1"])]);

const routeOf = (world: RoutesWorld) => world.get(`${group}/v1`, "HTTPRoute", "podinfo");
const specOf = async (world: RoutesWorld) => (await routeOf(world))?.["spec"];

const everyPath = { path: { type: "PathPrefix", value: "/" } };
const backend = (name: string, weight: number) => ({ group: "", kind: "Service", name, port: 9898, weight });
const backends = (primary: number, canary: number) => [
  backend("podinfo-primary", primary),
  backend("podinfo-canary", canary),
];

async function setWeights(world: RoutesWorld, canary: number, scene?: Scene, isMirrored = false) {
  return world.router(scene).setRoutes({ primary: 100 - canary, canary, isMirrored });
}

describe("the HTTPRoute of a Canary", () => {
  it("canary/36: without gatewayRefs the step ends with Flagger's text and writes nothing", async () => {
    const world = await worldOf();
    const ensured = world.router({ service: { gatewayRefs: [] } }).ensure();
    await expect(ensured).rejects.toThrow(
      new StepFault("GatewayRefs must be specified when using Gateway API as a provider."),
    );
    expect(world.writes).toEqual([]);
  });

  it("canary/37: has the apex name and sends everything to the primary", async () => {
    const world = await worldOf();
    await world.router({ service: { hosts: ["app.example.test"] } }).ensure();
    const route = await routeOf(world);
    expect(route?.metadata).toMatchObject({
      annotations: {
        "helm.toolkit.fluxcd.io/driftDetection": "disabled",
        "kustomize.toolkit.fluxcd.io/reconcile": "disabled",
      },
      ownerReferences: [{ apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "podinfo", controller: true }],
    });
    expect(route?.metadata.labels).toBeUndefined();
    expect(route?.["spec"]).toEqual({
      parentRefs: [{ group, kind: "Gateway", name: "edge", namespace: "edge-system" }],
      hostnames: ["app.example.test"],
      rules: [{ matches: [everyPath], backendRefs: backends(100, 0) }],
    });
  });

  it("canary/28: returns the weights that were set, which sum to 100", async () => {
    const world = await worldOf();
    await world.router().ensure();
    await setWeights(world, 30);
    expect(await specOf(world)).toMatchObject({ rules: [{ backendRefs: backends(70, 30) }] });
    expect(await world.router().routes()).toEqual({ primary: 70, canary: 30, isMirrored: false });
  });

  it("is never written with weights that do not sum to 100", async () => {
    const world = await worldOf();
    await world.router().ensure();
    world.writes.splice(0);
    await expect(world.router().setRoutes({ primary: 90, canary: 20, isMirrored: false })).rejects.toThrow(RangeError);
    expect(world.writes).toEqual([]);
  });

  it("is read once and not written in a step that changes nothing", async () => {
    const world = await worldOf();
    await world.router().ensure();
    world.writes.splice(0);
    world.reads.splice(0);
    const router = world.router();
    await router.ensure();
    await router.routes();
    await router.setRoutes({ primary: 100, canary: 0, isMirrored: false });
    expect([...world.writes, ...world.reads]).toEqual(["get HTTPRoute/podinfo"]);
  });

  it("is repaired during a run if another client changes it, and keeps its weights", async () => {
    const world = await worldOf();
    await world.router().ensure();
    await setWeights(world, 40);
    const edited = {
      hostnames: ["evil.example.test"],
      rules: [{ matches: [everyPath], backendRefs: backends(60, 40), name: "theirs" }],
    };
    await world.edit(await routeOf(world), { metadata: { labels: { theirs: "yes" } }, spec: edited });
    await world.router().ensure();
    const route = await routeOf(world);
    expect(route?.["spec"]).toEqual({
      parentRefs: [{ group, kind: "Gateway", name: "edge", namespace: "edge-system" }],
      rules: [{ matches: [everyPath], backendRefs: backends(60, 40) }],
    });
    expect(route?.metadata.labels).toBeUndefined();
  });

  it("foreign weights that do not sum to 100 are scaled to shares that do", async () => {
    const world = await worldOf();
    await world.router().ensure();
    await world.edit(await routeOf(world), {
      spec: { rules: [{ matches: [everyPath], backendRefs: backends(1, 3) }] },
    });
    expect(await world.router().routes()).toMatchObject({ primary: 25, canary: 75 });
    await world.router().ensure();
    expect(await specOf(world)).toMatchObject({ rules: [{ backendRefs: backends(25, 75) }] });
  });

  it("canary/38: keeps annotations of other clients", async () => {
    const world = await worldOf();
    await world.router().ensure();
    await world.edit(await routeOf(world), { metadata: { annotations: { "example.test/foreign": "yes" } } });
    await world.router({ service: { hosts: ["app.example.test"] } }).ensure();
    expect((await routeOf(world))?.metadata.annotations).toMatchObject({
      "example.test/foreign": "yes",
      "helm.toolkit.fluxcd.io/driftDetection": "disabled",
    });
  });

  it("with service.apex has the labels and annotations of the apex Service, also the unmanaged ones", async () => {
    const world = await worldOf();
    const scene: Scene = {
      service: {
        apex: { labels: { tier: "apex" }, annotations: { "example.test/of": "apex" } },
        unmanagedMetadata: { labels: ["keep"], annotations: ["example.test/keep"] },
      },
    };
    await world.services(scene).ensureApex();
    await world.router(scene).ensure();
    const metadata = { labels: { keep: "yes", drop: "yes" }, annotations: { "example.test/keep": "yes" } };
    await world.edit(await world.get("v1", "Service", "podinfo"), { metadata });
    await world.edit(await routeOf(world), { metadata: { labels: { drop: "yes" } } });
    await world.router(scene).ensure();
    const route = await routeOf(world);
    expect(route?.metadata.labels).toEqual({ app: "podinfo", keep: "yes", tier: "apex" });
    expect(route?.metadata.annotations).toMatchObject({ "example.test/of": "apex", "example.test/keep": "yes" });
  });

  it.each([
    ["a Canary", { kind: "Canary", name: "other", apiVersion: "flagger.app/v1beta1" }],
    ["another controller", { kind: "Gadget", name: "g", apiVersion: "example.test/v1" }],
  ])("is refused and not written if %s controls it", async (_, owner) => {
    const world = await worldOf();
    await world.create({
      apiVersion: `${group}/v1`,
      kind: "HTTPRoute",
      metadata: {
        name: "podinfo",
        ownerReferences: [Object.assign({ uid: "00000000-0000-4000-8000-000000000009" }, owner, { controller: true })],
      },
      spec: { rules: [] },
    });
    const text = new RegExp(`HTTPRoute podinfo\\.${world.namespace} belongs to ${owner.kind} ${owner.name}`);
    await expect(world.router().ensure()).rejects.toThrow(text);
    await expect(setWeights(world, 10)).rejects.toThrow(text);
    expect(world.writes).toEqual([]);
  });

  it("created by a user is stored before it is written, and gets spec, labels and annotations back", async () => {
    const world = await worldOf();
    const spec = { rules: [{ backendRefs: [{ name: "theirs", port: 80 }] }] };
    const metadata = { name: "podinfo", labels: { team: "web" }, annotations: { note: "ours" } };
    await world.create({ apiVersion: `${group}/v1`, kind: "HTTPRoute", metadata, spec });
    await world.router().ensure({ takeOver: world.takeOver });
    await world.edit(await routeOf(world), { metadata: { annotations: { "example.test/gateway": "yes" } } });
    await world.router({ service: { hosts: ["app.example.test"] } }).ensure({ takeOver: world.takeOver });
    await setWeights(world, 30);
    expect(world.taken).toEqual(["HTTPRoute/podinfo"]);
    await world.router({ annotations: world.originals() }).finalize();
    const route = await routeOf(world);
    expect(route?.["spec"]).toEqual(spec);
    expect(route?.metadata).toMatchObject({ labels: metadata.labels });
    expect(route?.metadata.annotations).toEqual({ note: "ours", "example.test/gateway": "yes" });
  });

  it("of the Canary itself is not stored as an original, and a deletion without an original reads no route", async () => {
    const world = await worldOf();
    await world.router().ensure({ takeOver: world.takeOver });
    await world.router({ service: { hosts: ["app.example.test"] } }).ensure({ takeOver: world.takeOver });
    expect(world.taken).toEqual([]);
    world.reads.splice(0);
    await world.router().finalize();
    expect(world.reads).toEqual([]);
  });

  it("canary/39: its weights are not read until a Gateway has accepted the current generation", async () => {
    const world = await worldOf();
    await world.router().ensure();
    const parentRef = { group, kind: "Gateway", name: "edge", namespace: "edge-system" };
    const status = (accepted: string, observedGeneration: number) => ({
      status: {
        parents: [
          { parentRef, controllerName: "c", conditions: [{ type: "Accepted", status: accepted, observedGeneration }] },
        ],
      },
    });
    await world.edit(await routeOf(world), status("False", 1), "status");
    await expect(world.router().routes()).rejects.toThrow(
      new StepFault(
        `HTTPRoute podinfo.${world.namespace} parent edge is not ready (status: False, observed generation: 1, current generation: 1)`,
      ),
    );
    await world.edit(await routeOf(world), status("True", 1), "status");
    expect(await world.router().routes()).toMatchObject({ primary: 100 });
    await setWeights(world, 10);
    await expect(world.router().routes()).rejects.toThrow(
      "status: True, observed generation: 1, current generation: 2",
    );
  });

  it("that is missing when weights are read ends the step with Flagger's text", async () => {
    const world = await worldOf();
    await expect(world.router().routes()).rejects.toThrow(
      new StepFault(
        `HTTPRoute podinfo.${world.namespace} get error: httproutes.gateway.networking.k8s.io "podinfo" not found`,
      ),
    );
  });

  it.each([500, 503, 429, 0])(
    "an answer %d of the API server does not count as a fault of the Canary",
    async (code) => {
      const world = await worldOf();
      await world.router().ensure();
      world.fail(() => true, new ApiError({ code, reason: "Unreachable", message: "try again" }));
      const failed = world.router().setRoutes({ primary: 50, canary: 50, isMirrored: false });
      await expect(failed).rejects.toThrow(ApiError);
      world.fail(() => true, new ApiError({ code: 403, reason: "Forbidden", message: "not allowed" }));
      const refused = world.router().setRoutes({ primary: 50, canary: 50, isMirrored: false });
      await expect(refused).rejects.toThrow(
        new StepFault(`HTTPRoute podinfo.${world.namespace} update error: not allowed while setting weights`),
      );
    },
  );

  it("that was recreated since it was read is not written", async () => {
    const world = await worldOf();
    await world.router().ensure();
    const router = world.router();
    await router.routes();
    const before = await routeOf(world);
    await world.remove(before);
    const made = await world.create({
      apiVersion: `${group}/v1`,
      kind: "HTTPRoute",
      metadata: { name: "podinfo" },
      spec: { rules: [] },
    });
    await expect(router.setRoutes({ primary: 50, canary: 50, isMirrored: false })).rejects.toThrow(StepFault);
    expect(await routeOf(world)).toEqual(made);
  });

  it.each(["Failed", "Waiting"] as const)(
    "that is deleted after a failed promotion is recreated with all requests on the canary, since the primary does not serve (phase %s)",
    async (phase) => {
      const world = await worldOf();
      await world.router({ status: { phase, canaryWeight: 100 } }).ensure();
      expect(await specOf(world)).toMatchObject({ rules: [{ backendRefs: backends(0, 100) }] });
    },
  );

  it("is written as v1beta1 if the Canary asks for that", async () => {
    const world = await worldOf();
    await world.router({ spec: { provider: "gatewayapi:v1beta1" } }).ensure();
    expect((await routeOf(world))?.metadata.managedFields).toMatchObject([{ apiVersion: `${group}/v1beta1` }]);
  });
});

describe("A/B tests", () => {
  const scene: Scene = {
    analysis: {
      iterations: 2,
      match: [
        { headers: { "x-canary": { exact: "insider" } } },
        { headers: { cookie: { regex: "^(.*?;)?(canary=always)(;.*)?$" } } },
      ],
    },
  };
  const tested = [
    { headers: [{ name: "x-canary", type: "Exact", value: "insider" }], ...everyPath },
    { headers: [{ name: "cookie", type: "RegularExpression", value: "^(.*?;)?(canary=always)(;.*)?$" }], ...everyPath },
  ];

  it("canary/34: only matching requests go to the canary, all others to the primary", async () => {
    const world = await worldOf();
    await world.router(scene).ensure();
    await setWeights(world, 100, scene);
    expect(await specOf(world)).toMatchObject({
      rules: [
        { matches: tested, backendRefs: backends(0, 100) },
        { matches: [everyPath], backendRefs: [backend("podinfo-primary", 100)] },
      ],
    });
    expect(await world.router(scene).routes()).toMatchObject({ primary: 0, canary: 100 });
    world.writes.splice(0);
    await world.router(scene).ensure();
    expect(world.writes).toEqual([]);
  });

  it.each([
    [
      "an unsupported selector",
      { headers: { a: { suffix: "x" } } },
      "Gateway API doesn't support the specified header matching selector: map[a:{Exact: Prefix: Suffix:x Regex:}]\n",
    ],
    [
      "a condition unknown to Gateway API",
      { sourceLabels: { a: "b" } },
      "spec.analysis.match[0] has neither headers nor queryParams",
    ],
  ])("canary/34: %s is refused, because it would send every request to the canary", async (_, match, why) => {
    const world = await worldOf();
    await expect(world.router({ analysis: { iterations: 2, match: [match] } }).ensure()).rejects.toThrow(
      new StepFault(`Invalid request matching selectors: ${why}`),
    );
    expect(world.writes).toEqual([]);
  });
});

describe("mirrored requests", () => {
  it("go to the canary until the mirror is removed, also during the steps in between", async () => {
    const world = await worldOf();
    const scene: Scene = { analysis: { iterations: 2, mirror: true }, status: { phase: "Progressing" } };
    await world.router(scene).ensure();
    await setWeights(world, 0, scene, true);
    await world.router(scene).ensure();
    const requestMirror = { backendRef: { group: "", kind: "Service", name: "podinfo-canary", port: 9898 } };
    expect(await specOf(world)).toMatchObject({ rules: [{ filters: [{ type: "RequestMirror", requestMirror }] }] });
    expect(await world.router(scene).routes()).toEqual({ primary: 100, canary: 0, isMirrored: true });
    await setWeights(world, 100, scene);
    expect(await world.router(scene).routes()).toEqual({ primary: 0, canary: 100, isMirrored: false });
  });

  it("also work with weights, which Flagger never reaches", async () => {
    const world = await worldOf();
    const scene: Scene = { analysis: { mirror: true }, status: { phase: "Progressing" } };
    await world.router(scene).ensure();
    await setWeights(world, 0, scene, true);
    expect(await world.router(scene).routes()).toMatchObject({ canary: 0, isMirrored: true });
  });
});

describe("the request settings of spec.service", () => {
  it("put conditions, headers, rewrite, mirror, CORS and timeouts into each rule", async () => {
    const world = await worldOf();
    const service = {
      match: [
        {
          uri: { prefix: "/api" },
          headers: { b: { exact: "2" }, a: { regex: "1.*" } },
          queryParams: { q: { exact: "x" } },
        },
      ],
      headers: { request: { add: { z: "1", a: "2" }, set: { s: "1" }, remove: ["r"] }, response: { set: { t: "1" } } },
      rewrite: { uri: "/v1", authority: "api.example.test", type: "ReplacePrefixMatch" },
      mirror: [{ backendRef: { name: "shadow", port: 80 } }],
      corsPolicy: {
        allowOrigin: ["https://example.test"],
        allowMethods: ["GET"],
        allowCredentials: true,
        maxAge: "24h",
      },
      timeout: "15s",
      backendTimeout: "5s",
    };
    await world.router({ service }).ensure();
    expect(await specOf(world)).toMatchObject({
      rules: [
        {
          matches: [
            {
              path: { type: "PathPrefix", value: "/api" },
              headers: [
                { name: "a", type: "RegularExpression", value: "1.*" },
                { name: "b", type: "Exact", value: "2" },
              ],
              queryParams: [{ name: "q", type: "Exact", value: "x" }],
            },
          ],
          filters: [
            {
              type: "RequestHeaderModifier",
              requestHeaderModifier: {
                add: [
                  { name: "a", value: "2" },
                  { name: "z", value: "1" },
                ],
                set: [{ name: "s", value: "1" }],
                remove: ["r"],
              },
            },
            { type: "ResponseHeaderModifier", responseHeaderModifier: { set: [{ name: "t", value: "1" }] } },
            {
              type: "URLRewrite",
              urlRewrite: {
                hostname: "api.example.test",
                path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/v1" },
              },
            },
            {
              type: "RequestMirror",
              requestMirror: { backendRef: { group: "", kind: "Service", name: "shadow", port: 80 } },
            },
            {
              type: "CORS",
              cors: {
                allowOrigins: ["https://example.test"],
                allowMethods: ["GET"],
                allowCredentials: true,
                maxAge: 86_400,
              },
            },
          ],
          timeouts: { request: "15s", backendRequest: "5s" },
        },
      ],
    });
  });

  it.each([
    ["uri", { uri: {} }, "path matching selector: &{Exact: Prefix: Suffix: Regex:}"],
    ["method", { method: { prefix: "G" } }, "header matching selector: map[]"],
    [
      "queryParams",
      { queryParams: { q: { prefix: "a" } } },
      "query matching selector: map[q:{Exact: Prefix:a Suffix: Regex:}]",
    ],
  ])(
    "end the step with Flagger's text for a condition on %s that Gateway API cannot express",
    async (_, match, why) => {
      const world = await worldOf();
      await expect(world.router({ service: { match: [match] } }).ensure()).rejects.toThrow(
        new StepFault(`Invalid request matching selectors: Gateway API doesn't support the specified ${why}\n`),
      );
    },
  );
});

describe("providers", () => {
  it("canary/31: kubernetes writes nothing, and its weights only show whether a run continues", async () => {
    const world = await worldOf();
    const scene = (iterations: number): Scene => ({ spec: { provider: "kubernetes" }, status: { iterations } });
    await world.router(scene(0)).ensure();
    expect(await world.router(scene(0)).routes()).toEqual({ primary: 100, canary: 0, isMirrored: false });
    expect(await world.router(scene(3)).routes()).toEqual({ primary: 0, canary: 100, isMirrored: false });
    await setWeights(world, 100, scene(3));
    expect(world.writes).toEqual([]);
  });

  it("a Canary without a provider uses that of the installation", async () => {
    const world = await worldOf();
    await world.router({ settings: { meshProvider: "kubernetes" } }).ensure();
    expect(world.writes).toEqual([]);
  });
});
