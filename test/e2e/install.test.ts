import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { oldNode } from "./old-node.ts";

/** A stand-in for npm that notes how it was called and installs, or ends with the code that it is told. */
const npm = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
console.log("added 1 package");
appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n");
if (process.env.NPM_FAILS) process.exit(Number(process.env.NPM_FAILS));
mkdirSync("node_modules", { recursive: true });
writeFileSync("node_modules/.package-lock.json", "{}");
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-install-"));
  await mkdir(join(folder, "cli"));
  await copyFile(join(import.meta.dirname, "../../cli/install.js"), join(folder, "cli/install.js"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "npm.js"), npm);
  await writeFile(join(folder, "package-lock.json"), "{}");
  await utimes(join(folder, "package-lock.json"), new Date(1000), new Date(1000));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

interface Installed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function install(env: Record<string, string> = {}, node = process.execPath): Installed {
  return spawnSync(node, [join(folder, "cli/install.js")], {
    cwd: tmpdir(),
    env: { ...process.env, npm_execpath: join(folder, "npm.js"), ...env },
    encoding: "utf8",
  });
}

async function calls(): Promise<readonly string[]> {
  const text = await readFile(join(folder, "calls"), "utf8");
  return text.trimEnd().split("\n");
}

describe("installing packages before the demo and the tests", () => {
  test("happens once: a second run installs nothing", async () => {
    expect(install().status).toBe(0);
    expect(install().status).toBe(0);
    expect(await calls()).toEqual([
      "ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error",
    ]);
  });

  test("is announced on stderr; nothing is printed if there is nothing to install", () => {
    const first = install();
    expect(first.stderr).toBe(
      "► installing the packages of package-lock.json, once (npm ci, about a minute)\nadded 1 package\n",
    );
    expect(first.stdout).toBe("");
    expect(install()).toMatchObject({ stdout: "", stderr: "" });
  });

  test("happens again if the lock file is newer than the installed packages", async () => {
    install();
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, "package-lock.json"), later, later);
    install();
    expect(await calls()).toHaveLength(2);
  });

  test("does not happen if node_modules is a link to another checkout's, which npm ci would empty", async () => {
    await mkdir(join(folder, "theirs"));
    await symlink("theirs", join(folder, "node_modules"));
    const { status, stderr } = install();
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: "► node_modules is a link: installing nothing and using the packages there\n",
    });
    await expect(calls()).rejects.toThrow("ENOENT");
  });

  test("fails with one line if npm fails", () => {
    const { status, stderr } = install({ NPM_FAILS: "7" });
    expect(status).toBe(1);
    expect(stderr).toContain("✗ npm ci has failed (it ended with 7)");
  });

  test.skipIf(oldNode === undefined)("by a Node that is too old reports that if it did not bring a newer one", () => {
    const { status, stderr } = install({}, oldNode);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /✗ Node 24 or later is needed, this is v\d+\.\d+\.\d+, and npm has no Node for \w+ on \w+: install Node and try again\n$/,
    );
  });
});
