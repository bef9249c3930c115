import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../lib/core/failure.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { lockFolder } from "../../local/lock-folder.ts";

const execute = promisify(execFile);
const go = process.env["SLUICE_GO"] ?? "/usr/local/go/bin/go";
/** For a build from nothing on a busy machine. */
const patienceMs = 900_000;
/** Kept from run to run: a build from nothing takes minutes. */
const tools = join(import.meta.dirname, "../../.cache/interop");
/** The engine's own code as a program for this machine, which reads folders of a disk. */
export const engineNative = join(tools, "engine-native");
export const crane = join(tools, "crane");
export const orasPush = join(tools, "oras-push");
/** Says what Go makes of patterns: `test/interop/dialects`. */
export const dialects = join(tools, "dialects");

/** Builds the clients once; says why they are not there where that cannot be done, which skips the tests. */
export async function buildClients(): Promise<string | undefined> {
  return once([crane, orasPush], () => build("./oras-push", "github.com/google/go-containerregistry/cmd/crane"));
}

/** Builds {@link engineNative}, each time, since the engine's code is the project's own; Go knows what has changed. */
export async function buildEngineNative(): Promise<string | undefined> {
  return once([], () => run(join(import.meta.dirname, "../../engine/native/build.sh"), [engineNative]));
}

/** Builds {@link dialects}, each time, as it is the project's own too. */
export async function buildDialects(): Promise<string | undefined> {
  return once([], () => build("./dialects"));
}

async function once(programs: readonly string[], make: () => Promise<string | undefined>): Promise<string | undefined> {
  const areBuilt = (): boolean => programs.length > 0 && programs.every((program) => existsSync(program));
  if (areBuilt()) return undefined;
  if (!existsSync(go)) return " (skipped: no Go; SLUICE_GO names its program)";
  await mkdir(tools, { recursive: true });
  // Several suites need them: the second waits for what the first one builds.
  const lock = await lockFolder(tools, patienceMs, systemClock, AbortSignal.timeout(patienceMs));
  try {
    return areBuilt() ? undefined : await make();
  } finally {
    lock.release();
  }
}

function build(...packages: readonly string[]): Promise<string | undefined> {
  // As the real parts are built: what they share with these, Go's own library above all, is compiled once.
  const flags = [
    "build",
    "-trimpath",
    "-buildvcs=false",
    "-ldflags=-s -w",
    "-gcflags=all=-dwarf=false",
    "-o",
    `${tools}/`,
  ];
  return run(go, [...flags, ...packages]);
}

async function run(program: string, args: readonly string[]): Promise<string | undefined> {
  const PATH = [dirname(go), process.env["PATH"]].join(delimiter);
  try {
    await execute(program, args, { cwd: import.meta.dirname, timeout: patienceMs, env: { ...process.env, PATH } });
    return undefined;
  } catch (error) {
    return ` (skipped: Go could not build them: ${messageOf(error).split("\n", 2).join(" ")})`;
  }
}
