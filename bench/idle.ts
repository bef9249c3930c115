import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { systemClock } from "../lib/process/system-clock.ts";
import { type Figure, figure } from "./figure.ts";
import { cpuSeconds, residentMb } from "./process-memory.ts";
import { sluiceUnderTest } from "./sluice-under-test.ts";

const settleMs = 10_000;
const samples = 5;
const sampleMs = 4_000;
/** From this version of Node on, the command runs in the process that was started; below it is a launcher for another Node. */
const firstMajorWithoutLauncher = 24;

/** `sluice local` with nothing to do: memory of all its processes and its share of a core. */
export async function idle(): Promise<readonly Figure[]> {
  await using sluice = await sluiceUnderTest();
  const own = await watched(sluice.process.pid, "sluice local idle, all its processes", 150);
  const older = await olderNode();
  return older === undefined ? own : [...own, ...(await launchedBy(older))];
}

async function watched(pid: number, name: string, atMostMb: number): Promise<readonly Figure[]> {
  const { signal } = new AbortController();
  await systemClock.sleep(settleMs, signal);
  const memory: number[] = [];
  const cpu: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const before = cpuSeconds(pid);
    await systemClock.sleep(sampleMs, signal);
    cpu.push(((cpuSeconds(pid) - before) / (sampleMs / 1_000)) * 100);
    memory.push(residentMb(pid));
  }
  return [
    figure(name, "MB", memory, { of: "median", atMost: atMostMb }),
    figure(name, "percent of a core", cpu, { of: "median", atMost: 1 }),
  ];
}

/** The same, started as a user does whose own Node is older, with nothing else in the environment. */
async function launchedBy({ node, version }: OlderNode): Promise<readonly Figure[]> {
  const state = await mkdtemp(join(tmpdir(), "sluice-bench-idle-"));
  const command = join(import.meta.dirname, "../cli/sluice.js");
  const args = ["-i", "PATH=/usr/bin:/bin", node, command, "local", "--json", "--state", state];
  const launcher = spawn("/usr/bin/env", args, { stdio: ["ignore", "pipe", "ignore"] });
  try {
    await once(createInterface({ input: launcher.stdout }), "line");
    return await watched(launcher.pid ?? 0, `sluice local idle through a launcher on Node ${version}`, 190);
  } finally {
    launcher.kill("SIGTERM");
    await once(launcher, "exit");
    await rm(state, { recursive: true, force: true });
  }
}

interface OlderNode {
  readonly node: string;
  readonly version: string;
}

/** The machine's own Node, not the one that npm puts first on the PATH; undefined if it needs no launcher. */
async function olderNode(): Promise<OlderNode | undefined> {
  const run = promisify(execFile);
  const { stdout } = await run("which", ["-a", "node"]);
  const node = stdout.split("\n").find((path) => path !== "" && !path.includes("node_modules"));
  if (node === undefined) return undefined;
  const version = (await run(node, ["-p", "process.versions.node"])).stdout.trim();
  return Number.parseInt(version, 10) < firstMajorWithoutLauncher ? { node, version } : undefined;
}
