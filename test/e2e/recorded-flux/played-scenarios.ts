import { readdir } from "node:fs/promises";
import { fixtures } from "./recording.ts";

/** The scenarios that say step by step what to do. */
export async function playedScenarios(): Promise<readonly string[]> {
  const names = (await readdir(fixtures)).filter((file) => file.endsWith(".yaml") && file !== "given.yaml");
  return names.map((file) => file.replace(/\.yaml$/, "")).toSorted();
}
