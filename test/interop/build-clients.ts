import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
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
export const crane = join(tools, "crane");
export const orasPush = join(tools, "oras-push");

/** Builds the clients once; says why they are not there where that cannot be done, which skips the tests. */
export async function buildClients(): Promise<string | undefined> {
  if (existsSync(crane) && existsSync(orasPush)) return undefined;
  if (!existsSync(go)) return " (skipped: no Go; SLUICE_GO names its program)";
  await mkdir(tools, { recursive: true });
  // Several suites need them: the second waits for what the first one builds.
  const lock = await lockFolder(tools, patienceMs, systemClock, AbortSignal.timeout(patienceMs));
  try {
    return await build();
  } finally {
    lock.release();
  }
}

async function build(): Promise<string | undefined> {
  if (existsSync(crane) && existsSync(orasPush)) return undefined;
  const packages = ["./oras-push", "github.com/google/go-containerregistry/cmd/crane"];
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
  try {
    await execute(go, [...flags, ...packages], { cwd: import.meta.dirname, timeout: patienceMs });
    return undefined;
  } catch (error) {
    return ` (skipped: Go could not build them: ${messageOf(error).split("\n", 2).join(" ")})`;
  }
}
