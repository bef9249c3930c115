import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { Action } from "./recording.ts";

/** Made from the recordings of real Flux by `write-fixtures.ts`. */
const fixtures = join(import.meta.dirname, "../../fixtures/flux-images/automations");

const AnyObject = z.custom<JsonObject>(isJsonObject);

/** A commit of an automation. */
const Commit = z.looseObject({
  commit: z.string(),
  parents: z.array(z.string()),
  author: z.string(),
  committer: z.string(),
  signature: z.string(),
  message: z.string(),
  modes: z.array(z.string()),
  files: z.record(z.string(), z.string()),
});

/** What a step left in the cluster and in the repository. */
const Left = z.object({
  objects: z.array(AnyObject),
  events: z.array(AnyObject),
  git: z.object({ refs: z.record(z.string(), z.string()), commits: z.array(Commit) }),
});
export type Left = z.infer<typeof Left>;

const Published = z.union([
  z.object({ message: z.string(), files: z.record(z.string(), z.unknown()) }),
  z.record(z.string(), z.string()),
]);
export type Published = z.infer<typeof Published>;

const Recording = z.strictObject({
  /** By `N. repository, tags` or `N. app.git, main is now COMMIT`. */
  source: z.record(z.string(), Published),
  steps: z.array(
    z.strictObject({ step: z.string(), notes: z.string().exactOptional(), do: z.array(Action), flux: Left }),
  ),
});

/** A recorded scenario of real image-automation-controller. */
export interface AutomationRecording extends z.infer<typeof Recording> {
  readonly name: string;
  readonly namespace: string;
}

export async function readAutomationRecordings(): Promise<readonly AutomationRecording[]> {
  const files = (await readdir(fixtures)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(/\.json$/, "");
      const recording = Recording.parse(JSON.parse(await readFile(join(fixtures, file), "utf8")));
      return { ...recording, name, namespace: `golden-${name}` };
    }),
  );
}
