import type { EffectiveSettings } from "../functions/settings/effective-settings.ts";
import { readSettings } from "../functions/settings/read-settings.ts";
import { messageOf } from "../lib/core/failure.ts";
import { readLimitedFile } from "../lib/kube/read-limited-file.ts";

export const maxSettingsBytes = 256 * 1024;

/**
 * The settings of a file, or the defaults without a file. Throws one error that names the file and every fault.
 */
export async function readSettingsFile(path: string | undefined): Promise<EffectiveSettings> {
  const settings = readSettings(path === undefined ? "" : await readText(path));
  if (!("faults" in settings)) return settings;
  throw new Error(`settings file ${path} cannot be used: ${settings.faults.join("; ")}`);
}

async function readText(path: string): Promise<string> {
  try {
    return await readLimitedFile(path, maxSettingsBytes);
  } catch (error) {
    throw new Error(`settings file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
