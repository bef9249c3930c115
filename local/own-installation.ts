import { hostname } from "node:os";
import { resolve } from "node:path";
import { keyedDigest } from "../lib/core/keyed-digest.ts";
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
 * The installation of a state folder. Its id is derived from the folder's key, so it stays the same where the folder is moved; a
 * copy of a folder that is used beside it counts as the same installation.
 */
export function stateInstallation({ path, installationKey }: Folder): Installation {
  const digest = keyedDigest(installationKey, "the installation's id").replace("hmac-sha256:", "");
  return { id: `local-${digest.slice(0, 16)}`, where: `${hostname()}:${path}`, version: ownVersion };
}

/** {@link stateInstallation}, with the way in which this process reaches its cluster. */
export function ownInstallation(folder: Folder, { file, context }: Reach): OwnInstallation {
  const words = ["sluice", "take-over", "--state", folder.path, "--kubeconfig", resolve(file)];
  const command = [...words, ...(context === undefined ? [] : ["--context", context])];
  return { ...stateInstallation(folder), takeOverCommand: command.map(shellWord).join(" ") };
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
