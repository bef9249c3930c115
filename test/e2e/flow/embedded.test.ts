import { afterAll, beforeAll } from "vitest";
import { type EmbeddedCluster, embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { kustomizationStories, wholeStories } from "./stories.ts";
import { world } from "./world.ts";

let embedded: EmbeddedCluster;
let worlds = 0;
beforeAll(async () => {
  embedded = await embeddedCluster();
});
afterAll(() => embedded[Symbol.asyncDispose]());

kustomizationStories("the embedded API server", wholeStories, () => {
  const { cluster } = embedded;
  return world(cluster, `flow-${worlds++}`, (user) => cluster.as(user));
});
