import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Addresses, environmentOf } from "../real/addresses.ts";
import type { Step } from "./run-step.ts";

const program = join(import.meta.dirname, "../real/main.ts");

export const startRealParts: Step = { name: "real parts", command: [process.execPath, program, "up"] };

/**
 * The variables by which tests find the real parts, all of which are up.
 *
 * @throws Error with the command's reason if one is not up and cannot be started
 */
export function realPartsEnvironment(): Readonly<Record<string, string>> {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "up", "--json"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the real parts are not up: ${stderr.trim()}`);
  return environmentOf(Addresses.parse(JSON.parse(stdout)));
}

/** Ends their processes, and deletes their data. */
export function stopRealParts(): void {
  spawnSync(process.execPath, [program, "down"], { stdio: "ignore" });
}
