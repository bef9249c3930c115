import { afterEach } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { type AutomationWorld, automationWorld, marked } from "./automation-world.ts";

const { signal } = new AbortController();

/** What of a scene is otherwise than in most tests. */
export interface Scene {
  /** Of the automation, beside `git`. */
  readonly spec?: JsonObject;
  readonly git?: JsonObject;
  /** Of the GitRepository. */
  readonly source?: JsonObject;
}

/** What a policy has chosen. */
export const image = (tag: string): JsonObject => ({ name: "ghcr.io/acme/app", tag });

/** A file whose image the policy `app` sets. */
export const appAt = (one: AutomationWorld, tag: string): string =>
  marked(`ghcr.io/acme/app:${tag}`, `${one.namespace}:app`);

/** A cluster for all tests of the file that calls this, with a namespace and repository for each scene. */
export function automationScenes(prefix: string) {
  const embedded = fileCluster();
  let spaces = 0;
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });

  async function world(): Promise<AutomationWorld> {
    const namespace = `${prefix}-${spaces++}`;
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await embedded.cluster.create(manifest, { manager: "test" }, signal);
    const one = await automationWorld(embedded.cluster, namespace);
    open.push(one);
    return one;
  }

  /** A repository with a marker at 1.0.0, a policy that has chosen 1.1.0, and an automation that has not run yet. */
  async function scene({ spec = {}, git = {}, source = {} }: Scene = {}): Promise<AutomationWorld> {
    const one = await world();
    await one.repository.commit({
      "apps/app.yaml": appAt(one, "1.0.0"),
      "apps/other.yaml": "image: ghcr.io/acme/app:1.0.0\n",
    });
    await one.source(source);
    await one.policy("app", image("1.1.0"));
    await one.automation(spec, git);
    return one;
  }

  return {
    world,
    scene,
    ready: async (more: Scene = {}): Promise<AutomationWorld> => {
      const one = await scene(more);
      await one.run();
      return one;
    },
  };
}
