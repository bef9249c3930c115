import { afterEach, beforeEach } from "vitest";
import { z } from "zod";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { readRecordedStep } from "../../e2e/recorded-flux/recording.ts";
import { withoutMends } from "../../doubles/without-mends.ts";
import { renamed } from "../../e2e/recorded-flux/shown.ts";
import { sourceWorld, type World } from "./source-world.ts";

const Status = z
  .object({
    observedGeneration: z.number(),
    artifact: z.object({ digest: z.string(), revision: z.string(), path: z.string() }).loose().optional(),
    conditions: z.array(z.object({ type: z.string() }).loose()),
  })
  .loose();

const Told = z.object({
  object: z.string(),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  source: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
});

/** What every world's repository holds at first. */
export const file = { "a.yaml": "kind: ConfigMap\n" };

/** A world for each test of the file that calls this: what can be seen of its sources, and what was told of them. */
export function seenSources() {
  let own: World | undefined;
  beforeEach(async () => {
    own = await sourceWorld();
  });
  afterEach(() => own?.close());

  function world(): World {
    if (own === undefined) throw new Error("asked for before the test began");
    return own;
  }

  function url(): string {
    return `oci://${world().address}/app`;
  }

  function statusOf(name: string) {
    return Status.parse(world().get(name)["status"]);
  }

  function artifactOf(name: string) {
    const { artifact } = statusOf(name);
    if (artifact === undefined) throw new Error("no artifact");
    return artifact;
  }

  function observedGeneration(name: string): number {
    return statusOf(name).observedGeneration;
  }

  function condition(name: string, type: string) {
    return statusOf(name).conditions.find((one) => one.type === type);
  }

  function conditionTypes(name: string): string[] {
    return statusOf(name).conditions.map(({ type }) => type);
  }

  function statusWrites(): unknown[] {
    return world()
      .writes.filter(({ subresource }) => subresource === "status")
      .map(({ body }) => body);
  }

  function told() {
    return world().events.map(({ type, reason, message, metadata: { annotations } }) => ({
      type,
      reason,
      message,
      annotations,
    }));
  }

  /** Status and events of an object as they are, times left out. */
  function seenNow(name: string) {
    const conditions = statusOf(name).conditions.map((one) => ({
      ...one,
      message: withoutMends(z.string().parse(one["message"])),
      lastTransitionTime: "<time>",
    }));
    const events = world().events.map((event) =>
      Told.parse({
        ...event,
        message: withoutMends(z.string().parse(event["message"])),
        object: `OCIRepository/${name}`,
        source: componentOf(event),
        ...annotated(event),
      }),
    );
    return { status: { ...statusOf(name), conditions }, events };
  }

  /** What Flux 2.9 wrote, with its address and names replaced by ours. */
  async function recordedFrom(scenario: string, step: string, name: string) {
    const withOurs = (text: string) =>
      text.replaceAll("127.0.0.1:15000", world().address).replaceAll(`/golden-${scenario}`, "/app");
    const Recorded = z.object({
      objects: z.array(z.object({ metadata: z.object({ name: z.string() }), status: Status })),
      events: z.array(Told),
    });
    const { objects, events } = Recorded.parse(renamed(await readRecordedStep(scenario, step), withOurs));
    const status = objects.find(({ metadata }) => metadata.name === name)?.status;
    return { status, events: events.filter(({ object }) => object === `OCIRepository/${name}`) };
  }
  return {
    world,
    url,
    artifactOf,
    observedGeneration,
    condition,
    conditionTypes,
    statusWrites,
    told,
    seenNow,
    recordedFrom,
  };
}

function componentOf(event: LiveObject): string {
  return z.object({ component: z.string() }).parse(event["source"]).component;
}

function annotated({ metadata: { annotations = {} } }: LiveObject): object {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

/** Without what is different at each push: digests, sizes, times, where the registry is, whose artifact it is. */
export function masked(value: object): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{64}/g, "<hex>")
    .replaceAll(/"size":\d+/g, '"size":0')
    .replaceAll(/"(lastUpdateTime|org\.opencontainers\.image\.created)":"[^"]+"/g, '"$1":"<time>"')
    .replaceAll(/sha1:0+/g, "sha1:0")
    .replaceAll(/ocirepository\/[^/]+\//g, "ocirepository/<namespace>/");
  return JSON.parse(text);
}
