import type { JsonObject } from "../../../../lib/core/json.ts";
import { embeddedCluster } from "../../../doubles/embedded-cluster.ts";
import { generatorWorld } from "./generator-world.ts";

export const { signal } = new AbortController();
/** One cluster of a test file, which stops it at its end. */
export const embedded = await embeddedCluster();
let spaces = 0;

/** A world of generators in a namespace of its own. */
export async function world() {
  const namespace = `gen-${spaces++}`;
  const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await embedded.cluster.create(manifest, { manager: "test" }, signal);
  return generatorWorld(embedded.cluster, namespace);
}

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

/** The two artifacts of {@link split}, published. */
export async function ready() {
  const one = await world();
  await one.source("repo", files);
  await one.generator(split());
  await one.run();
  return one;
}

export type World = Awaited<ReturnType<typeof world>>;

export const succeeded = "Ready=True Succeeded: reconciliation succeeded, generated 2 artifact(s)";

/** New content of the source. */
export async function repoWith(one: World, change: Readonly<Record<string, string>>, revision = "v2"): Promise<void> {
  await one.source("repo", { ...files, ...change }, { revision });
}
