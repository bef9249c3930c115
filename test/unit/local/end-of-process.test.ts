import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launcherVariable } from "../../../local/end-of-process.ts";

const module = join(import.meta.dirname, "..", "..", "..", "local", "end-of-process.ts");

/** Says its pid, then stays until its launcher is gone. */
const child = `
  const { followLauncher } = await import(${JSON.stringify(module)});
  // Before it says anything: after that the launcher may be killed at any moment.
  const launcher = process.ppid;
  setInterval(() => {}, 60_000);
  followLauncher(process.env, () => process.exit(0));
  console.log(process.pid);
  let checks = 0;
  const orphan = setInterval(() => {
    if (process.ppid === launcher || ++checks < 4) return;
    clearInterval(orphan);
    console.log("still here as an orphan");
  }, 250);`;

describe.runIf(process.platform === "linux")("a process that follows its launcher", () => {
  let folder: string;
  let launcher: ChildProcess | undefined;
  let followerPid = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-launcher-"));
    await writeFile(join(folder, "child.mjs"), child);
    // Named as npm's own script is, which is how it is known.
    await writeFile(
      join(folder, "npx-cli.js"),
      `const args = process.argv[2] === "sh" ? ["sh", "-c", '"$0" "$1"; true'] : [];
       const [command, ...rest] = [...args, process.execPath, process.argv[3]];
       require("node:child_process").spawn(command, rest, { stdio: "inherit" });`,
    );
  });
  afterEach(() => {
    launcher?.kill("SIGKILL");
    if (isAlive(followerPid)) process.kill(followerPid, "SIGKILL");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const launch = async (through: "node" | "sh", env: Readonly<Record<string, string>>): Promise<void> => {
    const script = join(folder, "npx-cli.js");
    const args = [script, through, join(folder, "child.mjs")];
    launcher = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
    const { stdout } = launcher;
    if (stdout === null) throw new Error("the launcher has no output");
    const [line]: unknown[] = await once(stdout, "data");
    followerPid = Number(String(line));
    expect(isAlive(followerPid)).toBe(true);
  };

  test.each([
    { name: "npx", through: "node", env: { npm_command: "exec" } },
    { name: "npx with a shell between", through: "sh", env: { npm_command: "exec" } },
    { name: "our own launcher", through: "node", env: { [launcherVariable]: "1" } },
  ] as const)("ends when $name is killed", async ({ through, env }) => {
    await launch(through, env);
    launcher?.kill("SIGKILL");
    await expect.poll(() => isAlive(followerPid)).toBe(false);
  });

  test("does not follow a process if there is no sign of a launcher", async () => {
    await launch("node", {});
    const { stdout } = launcher ?? {};
    launcher?.kill("SIGKILL");
    if (stdout === null || stdout === undefined) throw new Error("the launcher has no output");
    const [line]: unknown[] = await once(stdout, "data");
    expect(String(line)).toBe("still here as an orphan\n");
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
