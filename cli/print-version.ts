import { ownVersion } from "../lib/core/own-version.ts";
import type { Terminal } from "./terminal.ts";

/** `version`: Sluice has no controllers in the cluster, so the command's own version is all there is. */
export function printVersion(output: string, terminal: Terminal): void {
  const version = `v${ownVersion}`;
  if (output === "yaml") terminal.document(`sluice: ${version}\n`);
  else if (output === "json") terminal.document(`${JSON.stringify({ sluice: version }, undefined, 2)}\n`);
  else throw new Error(`--output must be json or yaml, not ${output}`);
}
