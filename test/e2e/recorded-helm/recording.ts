import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";

/** Made from the recordings of real Flux by dropping times, UIDs and what Flux does not decide; see its README. */
const fixtures = join(import.meta.dirname, "../../fixtures/flux-helm");

const AnyObject = z.custom<JsonObject>(isJsonObject);
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

const Action = z.union([
  /** The number of what the source publishes. */
  z.strictObject({ publish: z.string() }),
  z.strictObject({ apply: Manifest }),
  z.strictObject({ delete: Manifest }),
  /** A merge patch by another client. */
  z.strictObject({ update: Manifest, manager: z.string() }),
  /** What `flux reconcile` does. */
  z.strictObject({ request: z.string(), object: z.string() }),
  /** Waits until no run is under way and every HelmRelease is done with its generation. */
  z.literal("settle"),
  /** Lets so many milliseconds pass at once. */
  z.strictObject({ pass: z.number() }),
]);
export type Action = z.infer<typeof Action>;

const Seen = z.looseObject({ kind: z.string(), name: z.string(), namespace: z.string().exactOptional() });

/** What a step left in the cluster. */
export const Left = z.strictObject({
  objects: z.array(Seen),
  events: z.array(z.looseObject({ object: z.string(), reason: z.string(), message: z.string() })),
  releases: z.array(AnyObject),
  managed: z.array(Seen),
});
export type Left = z.infer<typeof Left>;

const Recording = z.strictObject({
  /** By the number of what is published: the digest that its artifact has in the recording. */
  digests: z.record(z.string(), z.string()),
  source: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.unknown())])),
  steps: z.array(
    z.strictObject({ step: z.string(), notes: z.string().exactOptional(), do: z.array(Action), flux: Left }),
  ),
});

/** A recorded scenario of real helm-controller. */
export interface Recording extends z.infer<typeof Recording> {
  readonly name: string;
  readonly namespace: string;
}

export async function readRecordings(): Promise<readonly Recording[]> {
  const files = (await readdir(fixtures)).filter((file) => file.endsWith(".json")).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(/\.json$/, "");
      const recording = Recording.parse(JSON.parse(await readFile(join(fixtures, file), "utf8")));
      return { ...recording, name, namespace: `golden-helmrelease-${name}` };
    }),
  );
}
