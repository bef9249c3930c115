import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject, parseJson } from "../../../lib/core/json.ts";

/** For each scenario `NAME.yaml`, what a person wrote, and `NAME.json`, what Flux left. */
export const fixtures = join(import.meta.dirname, "../../fixtures/flux");

/** What Flux left, by step. */
export type Recording = Readonly<Record<string, JsonObject>>;

const Recording = z.record(z.string(), z.custom<JsonObject>(isJsonObject));
const recordings = new Map<string, Promise<Recording>>();

/** Each file is read once in a worker. */
export function readRecording(scenario: string): Promise<Recording> {
  const found = recordings.get(scenario) ?? read(scenario);
  recordings.set(scenario, found);
  return found;
}

export async function readRecordedStep(scenario: string, step: string): Promise<JsonObject> {
  const recorded = (await readRecording(scenario))[step];
  if (recorded === undefined) throw new Error(`${scenario}.json has no ${step}`);
  return recorded;
}

async function read(scenario: string): Promise<Recording> {
  return Recording.parse(parseJson(await readFile(recordingFile(scenario), "utf8")));
}

export function recordingFile(scenario: string): string {
  return join(fixtures, `${scenario}.json`);
}
