import { mkdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import { messageOf } from "../../lib/core/failure.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { closedPipeExitCode, onClosedPipe, stopOnSignal } from "../../local/end-of-process.ts";
import { lockFolder } from "../../local/folders.ts";
import { type Addresses, environmentOf } from "./addresses.ts";
import { cacheFolder } from "./folders.ts";
import { type Part, partNames } from "./part.ts";
import { PartFailure } from "./part-failure.ts";
import { partState } from "./part-state.ts";
import { allParts } from "./parts/all-parts.ts";
import { status } from "./status.ts";
import { stopPart } from "./stop-part.ts";
import { up } from "./up.ts";

const usage = `usage: npm run real -- COMMAND [PART...]

  up [--json] [--audit]     install what is missing, start what is not up, print the addresses
  status                    what is up, and with how much memory; status 1 where a part is not up
  env                       the addresses of what is up as shell variables: eval "$(npm run --silent real -- env)"
  down                      end the processes and delete their data
  reset [--json] [--audit]  down and up again: every part empty

Without a PART all are meant: ${partNames.join(", ")}.
--json prints the addresses as one line of JSON: npm run --silent real -- up --json
--audit makes the API server keep an audit log.
Without --silent npm begins the output with lines of its own.
`;
/** Long enough for another command to install everything. */
const lockPatienceMs = 2_400_000;

const stop = new AbortController();
const stoppedWith = stopOnSignal(["SIGINT", "SIGTERM"], (reason) => stop.abort(reason));
onClosedPipe([process.stdout, process.stderr], () => process.exit(closedPipeExitCode));

try {
  process.exitCode = await main(process.argv.slice(2), stop.signal);
} catch (error) {
  // A command that was stopped by a signal is not a bug: no stack.
  process.stderr.write(`${stop.signal.aborted ? messageOf(stop.signal.reason) : textOf(error)}\n`);
  process.exitCode = stoppedWith() ?? 1;
}

async function main(args: string[], signal: AbortSignal): Promise<number> {
  const options = { json: { type: "boolean" }, audit: { type: "boolean" }, help: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const { json = false, audit = false, help = false } = values;
  const [command, ...names] = positionals;
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const unknown = names.find((name) => !allParts.some((part) => part.name === name));
  if (unknown !== undefined) {
    process.stderr.write(`there is no part ${unknown}\n\n${usage}`);
    return 2;
  }
  const parts = names.length === 0 ? allParts : allParts.filter(({ name }) => names.includes(name));
  switch (command) {
    case "up":
    case "reset":
      await locked(async () => {
        if (command === "reset") await stopAll(parts, signal);
        print(await up(parts, { audit, say }, signal), json);
      }, signal);
      return 0;
    case "down":
      await locked(() => stopAll(parts, signal), signal);
      return 0;
    case "status":
      return status(parts, (line) => process.stdout.write(`${line}\n`));
    case "env":
      await printEnvironment(parts);
      return 0;
    case undefined:
    default:
      process.stderr.write(command === undefined ? usage : `there is no command ${command}\n\n${usage}`);
      return 2;
  }
}

/** One at a time in a checkout: a second command waits, and then finds everything done. */
async function locked(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const folder = cacheFolder();
  await mkdir(folder, { recursive: true });
  const lock = await lockFolder(folder, 0, systemClock, signal).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes("in use"))) throw error;
    say("waiting for another `npm run real` of this checkout");
    return lockFolder(folder, lockPatienceMs, systemClock, signal);
  });
  try {
    await work();
  } finally {
    lock.release();
  }
}

async function stopAll(parts: readonly Part[], signal: AbortSignal): Promise<void> {
  await Promise.all(parts.map(({ name }) => stopPart(name, signal)));
}

function print(addresses: Addresses, json: boolean): void {
  const text = json ? JSON.stringify(addresses) : shellVariables(addresses);
  process.stdout.write(`${text}\n`);
}

async function printEnvironment(parts: readonly Part[]): Promise<void> {
  const states = await Promise.all(parts.map(partState));
  const found = states.reduce<Addresses>(
    (all, state) => (state.kind === "up" ? { ...all, ...state.started.addresses } : all),
    {},
  );
  process.stdout.write(`${shellVariables(found)}\n`);
}

function shellVariables(addresses: Addresses): string {
  const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
  return Object.entries(environmentOf(addresses))
    .map(([name, value]) => `export ${name}=${quoted(value)}`)
    .join("\n");
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(textOf).join("\n");
  // An error of the file system: no space, no permission, or another file of that name.
  if (error instanceof Error && "syscall" in error) {
    const folder = `the cache folder ${cacheFolder()} cannot be used: ${error.message}`;
    return `${folder}. Fix this, or name another folder with SLUICE_REAL_CACHE`;
  }
  // Any other error is a bug of these scripts or a fault of the machine: its stack says where.
  return error instanceof PartFailure || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message);
}
