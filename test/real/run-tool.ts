import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";
import { findTool } from "./find-tool.ts";
import { logTail } from "./log-tail.ts";
import type { Build, PartName } from "./part.ts";
import { PartFailure } from "./part-failure.ts";

/** Runs the tools of one installation, one after the other, at low priority. */
export function buildInto(log: string, part: PartName, signal: AbortSignal): Build {
  return {
    async run(tool, args, { cwd, env = {} }) {
      await using file = await open(log, "a");
      const command = findTool(tool, part);
      await file.write(`$ ${[tool, ...args].join(" ")}\n`);
      const stdio = ["ignore", file.fd, file.fd] as const;
      // A group of its own: an interrupted build must not leave its compilers behind.
      const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: [...stdio], detached: true });
      const { pid } = child;
      if (pid !== undefined) makePolite(pid);
      const stop = (): void => {
        if (pid !== undefined) process.kill(-pid, "SIGTERM");
      };
      signal.addEventListener("abort", stop);
      try {
        await once(child, "close");
      } catch (error) {
        throw new PartFailure(part, `${command} could not be started`, { cause: error });
      } finally {
        signal.removeEventListener("abort", stop);
      }
      signal.throwIfAborted();
      if (child.exitCode === 0) return;
      const end = child.signalCode ?? `status ${child.exitCode}`;
      throw new PartFailure(
        part,
        `\`${tool} ${args[0] ?? ""}\` ended with ${end}:\n${await logTail(log)}\n  (all of it: ${log})`,
      );
    },
  };
}

/** Never above our own priority, as under `nice`: only root may raise it. */
function makePolite(pid: number): void {
  const priority = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL);
  setPriority(pid, priority);
  try {
    // If Linux shares the processors among sessions (the tool leads one), only this has an effect.
    writeFileSync(`/proc/${pid}/autogroup`, `${priority}`);
  } catch {
    // The machine shares them among processes.
  }
}
