import type { JsonObject } from "../../../../lib/core/json.ts";
import { embeddedCluster } from "../../../doubles/embedded-cluster.ts";
import { generatorWorld } from "./generator-world.ts";

export const { signal } = new AbortController();
export const files = { "apps/web/a.yaml": "web", "apps/api/a.yaml": "api", "base/b.yaml": "base" };

export const output = (name: string): JsonObject => ({
  name,
  copy: [{ from: `@repo/apps/${name}/**`, to: "@artifact/" }],
});

/** Two artifacts of one source, each of its own folder. */
export function split(more: JsonObject = {}, change: JsonObject = {}): JsonObject {
  return {
    sources: [{ alias: "repo", kind: "OCIRepository", name: "repo" }],
    artifacts: ["web", "api"].map((name) => ({ ...output(name), ...change })),
    ...more,
  };
}

/** A cluster of a test file, which disposes of it, with a namespace for each of its worlds. */
export async function generatorSpaces() {
  const embedded = await embeddedCluster();
  let spaces = 0;
  /** A world of generators in a namespace of its own. */
  const world = async () => {
    const namespace = `gen-${spaces++}`;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await embedded.cluster.create(manifest, { manager: "test" }, signal);
    return generatorWorld(embedded.cluster, namespace);
  };
  return {
    world,
    /** The two artifacts of {@link split}, published. */
    async ready() {
      const one = await world();
      await one.source("repo", files);
      await one.generator(split());
      await one.run();
      return one;
    },
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  };
}

export type World = Awaited<ReturnType<typeof generatorWorld>>;

export const succeeded = "Ready=True Succeeded: reconciliation succeeded, generated 2 artifact(s)";

/** New content of the source. */
export async function repoWith(one: World, change: Readonly<Record<string, string>>, revision = "v2"): Promise<void> {
  await one.source("repo", { ...files, ...change }, { revision });
}
