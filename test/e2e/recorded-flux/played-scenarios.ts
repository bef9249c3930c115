import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fixtures } from "./steps.ts";

/** The scenarios that say step by step what to do. */
export async function playedScenarios(): Promise<readonly string[]> {
  const names = await readdir(fixtures);
  const played = await Promise.all(
    names.map((name) =>
      access(join(fixtures, name, "steps.yaml")).then(
        () => [name],
        () => [],
      ),
    ),
  );
  return played.flat().toSorted();
}
