import { z } from "zod";
import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { digestOf } from "../../core/digest.ts";
import type { Run } from "../../core/ports/run.ts";

const Carried = z.object({ settings: z.string() });

/**
 * The parts of a spec that decide about files and commit, as a short text. For a change of anything else Flux and Sluice wait until a
 * policy or the branch changes; for these fields Sluice does not wait.
 */
export function settingsDigest({ git, update }: ImageUpdateAutomationSpec): string {
  return digestOf(JSON.stringify([update, git?.commit])).slice("sha256:".length, "sha256:".length + 32);
}

/** {@link settingsDigest} of the last run that has succeeded; undefined where it is not known. */
export function lastSettings({ carried }: Pick<Run, "carried">): string | undefined {
  return Carried.safeParse(carried).data?.settings;
}
