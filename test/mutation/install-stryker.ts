import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;

/**
 * Installs Stryker from its own lock file into `folder` unless it is there, and answers its command. It has 177 packages that
 * neither users nor CI need. The folder has to lie in the project, whose vitest Stryker then finds.
 */
export function installStryker(folder: string): string {
  const installed = join(folder, "package-lock.json");
  const lock = join(here, "package-lock.json");
  const command = join(folder, "node_modules/@stryker-mutator/core/bin/stryker.js");
  if (existsSync(command) && existsSync(installed) && readFileSync(installed).equals(readFileSync(lock)))
    return command;
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(here, "package.json"), join(folder, "package.json"));
  // If npm has started this, it names its own path.
  const npm = process.env["npm_execpath"];
  const [program, ...first] = npm === undefined ? ["npm"] : [process.execPath, npm];
  copyFileSync(lock, installed);
  // The peer, vitest, is the project's own.
  const flags = ["ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync(program, [...first, ...flags], { cwd: folder, stdio: ["ignore", 2, 2] });
  if (status !== 0)
    throw new Error(`Stryker could not be installed in ${folder}: npm ci ended with ${status}`, { cause: error });
  return command;
}
