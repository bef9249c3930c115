import { afterAll, beforeAll } from "vitest";
import { type EmbeddedCluster, embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { configurationStories } from "./configuration-stories.ts";
import { definitionsStories } from "./stories.ts";

let embedded: EmbeddedCluster;
beforeAll(async () => {
  embedded = await embeddedCluster({ definitions: false });
});
afterAll(() => embedded[Symbol.asyncDispose]());

definitionsStories("the embedded API server", () => embedded.cluster);
configurationStories("the embedded API server", () => embedded.cluster);
