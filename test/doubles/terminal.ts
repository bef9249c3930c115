import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { layerKubectl } from "../../local/layer.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";

const root = join(import.meta.dirname, "../..");
const person = ["AUTHOR", "COMMITTER"].flatMap((who) => [
  [`GIT_${who}_NAME`, "A team"],
  [`GIT_${who}_EMAIL`, "team@example.com"],
]);

/** The shell in which a reader types a page's commands. */
export interface Terminals extends AsyncDisposable {
  /** Opens a terminal that stays open, and answers what it has printed. */
  readonly open: (cwd: string, typed: string) => () => string;
  /** Stops all terminals that are open, with the programs in them. */
  readonly closeAll: () => Promise<void>;
  /** Runs a script to its end, and answers what it prints. Throws an error if one of its commands fails. */
  readonly run: (cwd: string, typed: string) => Promise<string>;
}

/**
 * Terminals of a machine whose home is a folder, with `sluice` and `kubectl` on the PATH.
 *
 * @param programs others on the PATH: files by their names
 */
export async function terminals(folder: string, programs: Readonly<Record<string, string>>): Promise<Terminals> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  const named = { ...programs, kubectl: await layerKubectl(() => {}), node: process.execPath };
  for (const [name, file] of Object.entries(named)) await symlink(file, join(bin, name));
  await script(join(bin, "sluice"), join(root, "cli/main.ts"));
  const env = {
    ...{ PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
    ...Object.fromEntries(person),
  };
  const shells: ChildProcess[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(shells.splice(0).map(close));
  };
  return {
    closeAll,
    open(cwd, typed) {
      const shell = spawn("bash", ["-e", "-c", typed], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
      shells.push(shell);
      let text = "";
      for (const stream of [shell.stdout, shell.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
      }
      return () => text;
    },
    async run(cwd, typed) {
      const options = { cwd, env, timeout: 10 * deadlineMs };
      return (await promisify(execFile)("bash", ["-e", "-o", "pipefail", "-c", typed], options)).stdout;
    },
    [Symbol.asyncDispose]: closeAll,
  };
}

/** Whether the machine has a program, which a page needs. @param version the word that lets it print its version */
export function hasProgram(name: string, version = "--version"): boolean {
  return spawnSync(name, [version]).status === 0;
}

/** Writes a program that runs a TypeScript file. @param args come before its own */
export async function script(program: string, file: string, ...args: readonly string[]): Promise<void> {
  await writeFile(
    program,
    `#!/bin/sh\nexec ${[process.execPath, file, ...args].map((word) => `"${word}"`).join(" ")} "$@"\n`,
  );
  await chmod(program, 0o755);
}

/** Waits until a terminal shows what `sluice local` prints, and answers the address on the line that begins with this word. */
export function printedAddress(screen: () => string, word: string): Promise<string> {
  return vi.waitFor(() => {
    const [, address = ""] = new RegExp(`^ *${word} +(\\S+)`, "m").exec(screen()) ?? [];
    if (address === "") throw new Error(`sluice local has not started: ${screen()}`);
    return address;
  }, withinDeadline);
}

/** Stops a terminal with all that runs in it. */
function close(shell: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (shell.exitCode !== null || shell.pid === undefined) resolve();
    shell.once("exit", () => resolve());
    if (shell.pid !== undefined) process.kill(-shell.pid, "SIGTERM");
  });
}
