import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";

/** Made from the recordings of real Flux by `write-fixtures.ts`. */
const fixtures = join(import.meta.dirname, "../../fixtures/flux-images");

const AnyObject = z.custom<JsonObject>(isJsonObject);
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

/** Objects are named `Kind/name`. */
export const Action = z.union([
  /** The number of what the source publishes. */
  z.strictObject({ publish: z.string() }),
  z.strictObject({ apply: Manifest }),
  z.strictObject({ delete: z.string() }),
  /** What `flux reconcile` does. */
  z.strictObject({ request: z.string(), object: z.string() }),
  /** Waits until no run is under way. */
  z.literal("settle"),
]);
export type Action = z.infer<typeof Action>;

/** What a step left in the cluster. */
const Left = z.strictObject({ objects: z.array(AnyObject), events: z.array(AnyObject) });
export type Left = z.infer<typeof Left>;

const Recording = z.strictObject({
  /** By `N. repository, tags`: digests by tag, removed tags, or many tags of one digest. */
  source: z.record(z.string(), z.union([z.record(z.string(), z.string()), z.array(z.string())])),
  steps: z.array(
    z.strictObject({ step: z.string(), notes: z.string().exactOptional(), do: z.array(Action), flux: Left }),
  ),
});

/** A recorded scenario of real image-reflector-controller. */
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
      return { ...recording, name, namespace: `golden-${name}` };
    }),
  );
}
