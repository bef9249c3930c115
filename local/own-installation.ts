import { hostname } from "node:os";
import { resolve } from "node:path";
import { keyedDigest } from "../lib/core/digest.ts";
import { ownVersion } from "../lib/core/own-version.ts";
import type { Installation, OwnInstallation } from "../lib/gate/cluster-owner.ts";
import type { StateFolder } from "./state-folder.ts";

/** How a `sluice local` reaches its cluster. */
export interface Reach {
  readonly file: string;
  readonly context?: string | undefined;
}

type Folder = Pick<StateFolder, "path" | "installationKey">;

/**
 * The installation of a state folder. Its id is derived from the folder's key, so it stays the same when the folder is moved; a
 * copy of the folder counts as the same installation.
 */
export function stateInstallation({ path, installationKey }: Folder): Installation {
  const digest = keyedDigest(installationKey, "the installation's id").replace("hmac-sha256:", "");
  return { id: `local-${digest.slice(0, 16)}`, where: `${hostname()}:${path}`, version: ownVersion };
}

/** {@link stateInstallation}, with the command that gives it the cluster of this process, and where its webhooks come in. */
export function ownInstallation(folder: Folder, { file, context }: Reach, webhookUrl?: string): OwnInstallation {
  const words = ["sluice", "take-over", "--state", folder.path, "--kubeconfig", resolve(file)];
  const command = [...words, ...(context === undefined ? [] : ["--context", context])];
  const own = { ...stateInstallation(folder), takeOverCommand: command.map(shellWord).join(" ") };
  return webhookUrl === undefined ? own : { ...own, webhookUrl };
}

/** A word as a shell reads it back. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
