import { describe, expect, it } from "vitest";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

const worldOf = routesWorlds("killed", [
  smallDefinition("gateway.networking.k8s.io", "HTTPRoute", "httproutes", ["v1"]),
  smallDefinition("networking.istio.io", "VirtualService", "virtualservices", ["v1beta1"]),
  smallDefinition("networking.istio.io", "DestinationRule", "destinationrules", ["v1beta1"]),
  smallDefinition("gateway.solo.io", "RouteTable", "routetables", ["v1"]),
  smallDefinition("gloo.solo.io", "Upstream", "upstreams", ["v1"]),
]);

const objects = {
  "gatewayapi:v1": [["gateway.networking.k8s.io/v1", "HTTPRoute", "podinfo"]],
  istio: [
    ["networking.istio.io/v1beta1", "VirtualService", "podinfo"],
    ["networking.istio.io/v1beta1", "DestinationRule", "podinfo-canary"],
    ["networking.istio.io/v1beta1", "DestinationRule", "podinfo-primary"],
  ],
  gloo: [["gateway.solo.io/v1", "RouteTable", "podinfo"]],
} as const;

/** A whole initialisation and one step of a run. */
async function play(world: RoutesWorld, scene: Scene): Promise<void> {
  const services = world.services(scene);
  await services.ensureOwn();
  await services.ensureApex();
  const router = world.router(scene);
  await router.ensure();
  await router.setRoutes({ primary: 80, canary: 20, isMirrored: false });
}

describe("a step that is killed", () => {
  it.each(Object.entries(objects))(
    "before any of its writes is continued by the next step, with %s",
    async (meshProvider, kinds) => {
      const scene: Scene = { settings: { meshProvider } };
      const shown = async (world: RoutesWorld) => {
        const read = [
          ...kinds,
          ...["podinfo", "podinfo-primary", "podinfo-canary"].map((name) => ["v1", "Service", name] as const),
        ];
        const found = await Promise.all(read.map(([apiVersion, kind, name]) => world.get(apiVersion, kind, name)));
        return found.map((one) => told(one, world.namespace));
      };
      const whole = await worldOf();
      await play(whole, scene);
      const expected = await shown(whole);
      for (const [index] of whole.writes.entries()) {
        const world = await worldOf();
        world.fail(() => world.writes.length >= index);
        await expect(play(world, scene)).rejects.toThrow("killed");
        world.fail(() => false);
        await play(world, scene);
        expect(await shown(world)).toEqual(expected);
      }
    },
  );
});

/** What is the same in each namespace. */
function told(object: LiveObject | undefined, namespace: string): unknown {
  const { labels, annotations, ownerReferences } = object?.metadata ?? {};
  const text = JSON.stringify({ labels, annotations, ownerReferences, spec: object?.["spec"] });
  return JSON.parse(text.replaceAll(namespace, "ns").replaceAll(/"clusterIPs?":(\[[^\]]*\]|"[^"]*"),?/g, ""));
}
