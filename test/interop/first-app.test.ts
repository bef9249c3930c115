import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { gitPrograms } from "../../local/demo/git-http-backend.ts";
import { layerKubectl } from "../../local/layer.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";
import { freePorts } from "../real/free-ports.ts";
import { ageKeygen, installSops, sops } from "./build-clients.ts";

const root = join(import.meta.dirname, "../..");
const page = await readFile(join(root, "docs/first-app.md"), "utf8");
const blocksOf = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
const missing = gitPrograms === undefined ? ": git has no http-backend" : await installSops();

/** A folder with the commands that the page needs, as a reader has them on the PATH. */
async function commands(folder: string): Promise<string> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await symlink(await layerKubectl(() => {}), join(bin, "kubectl"));
  await symlink(sops, join(bin, "sops"));
  await symlink(ageKeygen, join(bin, "age-keygen"));
  await symlink(process.execPath, join(bin, "node"));
  await writeFile(join(bin, "sluice"), `#!/bin/sh\nexec "${process.execPath}" "${join(root, "cli/main.ts")}" "$@"\n`);
  await chmod(join(bin, "sluice"), 0o755);
  return bin;
}

/** Stops a terminal with all that runs in it. */
function closeTerminal(shell: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (shell.exitCode !== null || shell.pid === undefined) resolve();
    shell.once("exit", () => resolve());
    if (shell.pid !== undefined) process.kill(-shell.pid, "SIGTERM");
  });
}

test.skipIf(missing !== undefined)(
  `every command of docs/first-app.md does what the page says, typed in its three terminals${missing ?? ""}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-first-app-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const person = ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "A team"],
      [`GIT_${who}_EMAIL`, "team@example.com"],
    ]);
    const path = `${await commands(folder)}:${process.env["PATH"] ?? ""}`;
    const env = { PATH: path, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", ...Object.fromEntries(person) };
    /** A terminal that stays open, and what it has printed. */
    const open = (cwd: string, script: string): (() => string) => {
      const shell = spawn("bash", ["-e", "-c", script], {
        cwd,
        env,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => closeTerminal(shell));
      let text = "";
      for (const stream of [shell.stdout, shell.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
      }
      return () => text;
    };
    const [port] = await freePorts(1);
    const [start = "", addresses = "", host = "", ...rest] = blocksOf("sh").map((block) =>
      block.replaceAll("8080", String(port)),
    );
    const work = join(folder, "first-app");

    const first = open(folder, start);
    const receiver = await vi.waitFor(() => {
      const [, url = ""] = /^ *receiver +(\S+)/m.exec(first()) ?? [];
      if (url === "") throw new Error(`sluice local has not started: ${first()}`);
      return url;
    }, withinDeadline);
    await writeFile(join(work, "git-host.js"), blocksOf("js").join(""));
    open(work, host);
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), withinDeadline);
    const second = [addresses.replace("http://127.0.0.1:PORT", receiver), ...rest].join("\n");
    const { stdout } = await promisify(execFile)("bash", ["-e", "-o", "pipefail", "-c", second], {
      ...{ cwd: work, env, timeout: 10 * deadlineMs },
    });

    const inOrder = [
      /^app +\t\S+ *\tFalse +\tTrue +\tApplied revision: main@sha1:/m,
      /^hello +1\/1 /m,
      /Deployment\/default\/hello configured/,
      /Helm install succeeded for release default\/greeter\.v1/,
      /^text +\tinline\t"Hello from Helm"/m,
      /^Hello from Helm$/m,
      /^ *password: ENC\[AES256_GCM/m,
      /correct horse battery staple/,
      /\tFalse\tDeployment\/default\/hello dry-run failed/,
      /error Kustomization\/default\/app ReconciliationFailed\n.*\.spec\.replicas/,
      /^hello +2\/2 /m,
      /^app +\t\S+ *\tFalse +\tTrue +\tApplied revision: main@sha1:/m,
    ];
    let left = stdout;
    for (const expected of inOrder) {
      expect(left).toMatch(expected);
      left = left.slice(left.search(expected) + 1);
    }
  },
  20 * deadlineMs,
);
