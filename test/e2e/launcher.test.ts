import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deadlineMs } from "../deadline.ts";
import { oldNode } from "./old-node.ts";

const main = `
const [what, value] = process.argv.slice(2);
if (what === "exit") process.exit(Number(value));
if (what === "die") process.kill(process.pid, value);
process.on("SIGTERM", () => { console.log("told"); process.exit(7); });
console.log("ready", process.pid, process.env.SLUICE_LAUNCHER ?? "", process.version);
setTimeout(() => {}, ${2 * deadlineMs});
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-launcher-"));
  await mkdir(join(folder, "cli"));
  for (const name of ["sluice.js", "own-node.js"])
    await copyFile(join(import.meta.dirname, "../../cli", name), join(folder, "cli", name));
  await writeFile(join(folder, "cli/main.ts"), main);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function withNode24(): Promise<void> {
  const bin = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`);
  await mkdir(bin, { recursive: true });
  if (!existsSync(join(bin, "node"))) await symlink(process.execPath, join(bin, "node"));
}

function launch(node: string, ...args: readonly string[]): ChildProcess & { read(): string } {
  const child = spawn(node, [join(folder, "cli/sluice.js"), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)));
  return Object.assign(child, { read: () => text });
}

describe.skipIf(oldNode === undefined)("the launcher on a Node that is too old (one in PATH is needed)", () => {
  const node = oldNode ?? "";

  test("without a Node 24 prints one line that says what is missing and how to fix it", async () => {
    await rm(join(folder, "node_modules"), { recursive: true, force: true });
    const child = launch(node, "exit", "0");
    expect(await once(child, "close")).toEqual([1, null]);
    expect(child.read()).toMatch(
      /^✗ sluice needs Node 24 or later, this is v\d+\.\d+\.\d+ and .* is missing: run npm ci\n$/,
    );
  });

  test("passes on the exit code", async () => {
    await withNode24();
    expect(await once(launch(node, "exit", "42"), "close")).toEqual([42, null]);
  });

  test.each(["SIGKILL", "SIGTERM"])("ends by %s if its child does", async (signal) => {
    await withNode24();
    expect(await once(launch(node, "die", signal), "close")).toEqual([null, signal]);
  });

  test("runs the command with Node 24, passes it the launcher's process id, and passes on signals", async () => {
    await withNode24();
    const child = launch(node, "wait");
    await expect.poll(() => child.read()).toMatch(/^ready \d+ \d+ v24\./);
    expect(child.read().split(" ")[2]).toBe(String(child.pid));
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([7, null]);
    expect(child.read()).toContain("told");
  });
});

describe("the launcher on Node 24", () => {
  test("runs the command in its own process", async () => {
    const child = launch(process.execPath, "wait");
    await expect.poll(() => child.read()).toMatch(/^ready \d+ {2}v/);
    expect(child.read().split(" ")[1]).toBe(String(child.pid));
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([7, null]);
  });
});
