import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../lib/core/failure.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs, untilDeadline } from "../deadline.ts";
import type { Addresses } from "./addresses.ts";
import { findTool } from "./find-tool.ts";
import { partFolder } from "./folders.ts";
import { freePorts, isPortTaken, maxStarts } from "./free-ports.ts";
import { logTail } from "./log-tail.ts";
import type { Part, PartRun, ProcessSpec } from "./part.ts";
import { PartFailure } from "./part-failure.ts";
import { writeStarted } from "./part-state.ts";
import { isAlive, readPidFiles, type StartedProcess } from "./pid-file.ts";
import { startProcessIn } from "./start-process.ts";
import { stopPart } from "./stop-part.ts";
import type { Program } from "./versions.ts";

const lookAgainMs = 100;

export interface StartOptions {
  readonly installed: ReadonlyMap<Program, string>;
  readonly audit: boolean;
}

/** Starts a part from nothing; again with other ports if another process takes a chosen one before the part does. */
export async function startPart(part: Part, options: StartOptions, signal: AbortSignal): Promise<Addresses> {
  for (let starts = 1; ; starts++) {
    try {
      return await startOnce(part, options, signal);
    } catch (error) {
      await stopPart(part.name, untilDeadline());
      if (starts === maxStarts || !isPortTaken(error)) throw error;
    }
  }
}

async function startOnce(part: Part, { installed, audit }: StartOptions, signal: AbortSignal): Promise<Addresses> {
  const folder = partFolder(part.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const run: PartRun = {
    folder,
    audit,
    ports: freePorts,
    installed: (program) => installed.get(program) ?? missing(part, program),
    spawn: (process) => startProcess(part, folder, process),
    until: (what, isTrue) => until(part, folder, what, isTrue, signal),
  };
  const addresses = await part.start(run);
  await writeStarted(part.name, {
    addresses,
    programs: part.installations.map(({ program }) => run.installed(program)),
  });
  return addresses;
}

function missing({ name }: Part, program: Program): never {
  throw new PartFailure(name, `starts ${program} without listing it as an installation`);
}

async function startProcess(part: Part, folder: string, spec: ProcessSpec): Promise<void> {
  try {
    await startProcessIn(folder, { ...spec, command: findTool(spec.command, part.name) });
  } catch (error) {
    if (error instanceof PartFailure) throw error;
    throw new PartFailure(part.name, `${spec.command} could not be started: ${messageOf(error)}`, { cause: error });
  }
}
async function until(
  { name }: Part,
  folder: string,
  what: string,
  isTrue: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    const answered = await isTrue();
    const processes = readPidFiles(folder);
    const dead = processes.find((process) => !isAlive(process));
    // Even if there was an answer: another process may listen on the port that the dead one wanted.
    if (dead !== undefined)
      throw new PartFailure(name, `${dead.name} died as it started. ${await logsOf([dead], folder)}`);
    if (answered) return;
    if (performance.now() > giveUpAt) {
      throw new PartFailure(name, `no ${what} after ${deadlineMs / 1_000} s. ${await logsOf(processes, folder)}`);
    }
    await systemClock.sleep(lookAgainMs, signal);
  }
}

async function logsOf(processes: readonly StartedProcess[], folder: string): Promise<string> {
  const tails = processes.map(async ({ name }) => `${name}:\n${await logTail(join(folder, `${name}.log`))}`);
  return `The end of the log of ${(await Promise.all(tails)).join("\n")}`;
}
