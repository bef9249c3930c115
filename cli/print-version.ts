import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../lib/core/json.ts";
import type { Terminal } from "./terminal.ts";

/** `version`: Sluice has no controllers in the cluster, so the command's own version is all there is. */
export async function printVersion(output: string, terminal: Terminal): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(join(import.meta.dirname, "../package.json"), "utf8"));
  const version = `v${isJsonObject(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "0.0.0"}`;
  if (output === "yaml") terminal.out(`sluice: ${version}\n`);
  else if (output === "json") terminal.out(`${JSON.stringify({ sluice: version }, undefined, 2)}\n`);
  else throw new Error(`--output must be json or yaml, not ${output}`);
}
