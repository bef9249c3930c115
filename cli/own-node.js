// Plain JavaScript for old versions of Node: the launchers find a Node that runs TypeScript directly by it.
import { existsSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

export const wantedMajor = 24;

/** Whether the Node that runs this is new enough. */
export const isNewEnough = Number(process.versions.node.split(".")[0]) >= wantedMajor;

const isWindows = process.platform === "win32";
const platform = `node-${isWindows ? "win" : process.platform}-${process.arch}`;

/** The Node that npm has installed for us, where it has one for this platform. */
export const installedNode = join(
  dirname(fileURLToPath(import.meta.url)),
  "../node_modules",
  platform,
  "bin",
  isWindows ? "node.exe" : "node",
);

/**
 * What to say where there is none.
 * @param {string} command
 */
export function missingNode(command) {
  return `✗ ${command} needs Node ${wantedMajor} or later, this is ${process.version} and ${installedNode} is missing: run npm ci\n`;
}

/** A Node that is new enough; undefined where there is none. */
export function ownNode() {
  if (isNewEnough) return process.execPath;
  return existsSync(installedNode) ? installedNode : undefined;
}
