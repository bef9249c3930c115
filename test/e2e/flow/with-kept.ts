import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** A world in which ConfigMap `a` of Kustomization `app` has left the artifact and was kept by `prune: false`. */
export async function withKept(newWorld: () => Promise<World>): Promise<World> {
  const world = await newWorld();
  await world.publish("v1", [configMap("a")]);
  await world.kustomization("app", { prune: false });
  await world.run("app");
  await world.publish("v2", []);
  await world.run("app");
  return world;
}
