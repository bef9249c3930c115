import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "../../lib/process/system-clock.ts";
import { lockFolder } from "../../local/folders.ts";
import { ask } from "./ask.ts";
import { cacheFolder } from "./folders.ts";
import { sandboxes } from "./lambda/sandbox.ts";

const main = join(import.meta.dirname, "main.ts");
const guide = join(import.meta.dirname, "../../docs/maintainers/testing.md");
/** A small disk that only these commands see: it gets full while a part is up. */
const onFullDisk = `
mount -t tmpfs -o size=200k tmpfs "$1" && ln -s "$2" "$1/installed" && shift 2
"$@" up s3 >&2
cat /dev/zero > "$SLUICE_REAL_CACHE/full" 2>/dev/null
"$@" up sqs; echo "up ended with $?"
"$@" down; echo "down ended with $?"
ls "$SLUICE_REAL_CACHE/run"
`;
/** Whether a test may have a file system that others do not see. */
const hasMounts = sandboxes()[0] === "mount namespace";
const Printed = z.object({ s3: z.string() });

/** `npm run real` in a checkout of its own, or another command in such a checkout. */
async function run(command: string, args: readonly string[], cache: string) {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const child = spawn(command, args, { stdio, env: { ...process.env, SLUICE_REAL_CACHE: cache } });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: child.exitCode, out, err };
}
const real = (cache: string, ...args: readonly string[]) => run(process.execPath, [main, ...args, "s3"], cache);

describe("npm run real", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-real-command-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test("reports in one line that its cache folder is not a folder", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const { code, err } = await real(file, "up");
    expect(code).toBe(1);
    expect(err).toMatch(/^the cache folder .*file cannot be used: EEXIST[^\n]*\. Fix this, or name another[^\n]*\n$/);
  });

  test.skipIf(!hasMounts)("reports in one line that Go is missing, and how to get it", async () => {
    const hidden = 'mount -t tmpfs tmpfs /usr/local && PATH=/nowhere exec "$@"';
    const args = ["--mount", "--map-root-user", "sh", "-c", hidden, "no-go", process.execPath, main, "up", "s3"];
    const { code, err } = await run("unshare", args, folder);
    expect(code).toBe(1);
    expect(err).toMatch(/^s3: there is no `go` on this machine\. Install Go [^\n]* and see that it is on the PATH\n$/m);
  });

  test("reports a signal during a wait in one line, and exits with the code of the signal", async () => {
    const lock = await lockFolder(folder, 0, systemClock, new AbortController().signal);
    try {
      const env = { ...process.env, SLUICE_REAL_CACHE: folder };
      const child = spawn(process.execPath, [main, "up", "s3"], { stdio: ["ignore", "pipe", "pipe"], env });
      let err = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        err += chunk;
        if (err.endsWith("checkout\n")) child.kill("SIGTERM");
      });
      await once(child, "close");
      expect(err).toBe("waiting for another `npm run real` of this checkout\nstopped by SIGTERM\n");
      expect(child.exitCode).toBe(143);
    } finally {
      lock.release();
    }
  });

  test("whose output is closed ends silently", async () => {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const child = spawn(process.execPath, [main, "--help"], { stdio });
    child.stdout.destroy();
    const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ err, code: child.exitCode }).toEqual({ err: "", code: 141 });
  });

  test("reports a part that was never started as down, and down does nothing", async () => {
    expect(await real(folder, "status")).toEqual({ code: 1, out: "s3: down\n", err: "" });
    expect(await real(folder, "down")).toEqual({ code: 0, out: "", err: "" });
  });
});

describe.skipIf((process.env["SLUICE_REAL_S3"] ?? "") === "")(
  "npm run real with a part that is installed (set SLUICE_REAL_S3)",
  () => {
    let checkouts: readonly string[];
    beforeEach(async () => {
      checkouts = await Promise.all(["one", "two"].map((name) => mkdtemp(join(tmpdir(), `sluice-checkout-${name}-`))));
      const installed = join(cacheFolder(), "installed");
      await Promise.all(checkouts.map((cache) => symlink(installed, join(cache, "installed"))));
    });
    afterEach(async () => {
      await Promise.all(checkouts.map((cache) => real(cache, "down")));
      await Promise.all(checkouts.map((cache) => rm(cache, { recursive: true })));
    });
    const [first, second] = [() => checkouts[0] ?? "", () => checkouts[1] ?? ""];
    const up = async (cache: string): Promise<string> => {
      const { out, err, code } = await real(cache, "up", "--json");
      expect({ code, err }).toMatchObject({ code: 0 });
      return Printed.parse(JSON.parse(out)).s3;
    };
    const answers = async (address: string): Promise<boolean> => (await ask(address)) !== undefined;

    test("as documented prints the addresses as one line of JSON and nothing else", async () => {
      const documents = await Promise.all([readFile(guide, "utf8"), real(first(), "--help").then(({ out }) => out)]);
      const named = documents.map((document) => /npm run .*real -- up --json/.exec(document)?.[0]);
      const [command = "nothing"] = named;
      expect(named).toEqual([command, command]);
      const { code, out } = await run("sh", ["-c", `${command} s3`], first());
      expect({ code, lines: out.split("\n") }).toEqual({ code: 0, lines: [expect.stringMatching(/^\{.*\}$/), ""] });
      expect(await answers(Printed.parse(JSON.parse(out)).s3)).toBe(true);
    });

    test("twice at once in one checkout starts each part once; another checkout has its own parts, which keep running", async () => {
      const [one, again, other] = await Promise.all([up(first()), up(first()), up(second())]);
      expect(again).toBe(one);
      expect(other).not.toBe(one);
      expect((await real(first(), "down")).code).toBe(0);
      expect(await answers(one)).toBe(false);
      expect(await answers(other)).toBe(true);
      expect(await readdir(join(first(), "run"))).toEqual([]);
    });

    test.skipIf(!hasMounts)(
      "on a full disk up reports it in one line, and down still stops everything",
      async () => {
        const args = ["--mount", "--map-root-user", "sh", "-c", onFullDisk, "full-disk"];
        const folders = [first(), join(cacheFolder(), "installed")];
        const { out, err } = await run("unshare", [...args, ...folders, process.execPath, main], first());
        expect(err).toMatch(/^the cache folder .* cannot be used: ENOSPC: no space left on device[^\n]*\. Fix this/m);
        expect(err).not.toMatch(/^ {4}at /m);
        expect(out).toBe("up ended with 1\ndown ended with 0\n");
      },
      600_000,
    );

    test("status names a part that was killed or whose record is incomplete, and up restarts it", async () => {
      await up(first());
      const { out } = await real(first(), "status");
      const pid = Number(/process ([0-9]+)/.exec(out)?.[1]);
      process.kill(pid, "SIGKILL");
      await expect
        .poll(() => real(first(), "status"))
        .toMatchObject({ code: 1, out: expect.stringContaining("s3: broken: versitygw has died") });
      const address = await up(first());
      expect(await answers(address)).toBe(true);

      await writeFile(join(first(), "run/s3/started.json"), '{"addresses":{"s3":');
      expect((await real(first(), "status")).out).toContain("s3: broken: it was never started to the end");
      const { err } = await real(first(), "up");
      expect(err).toContain("s3: starting it anew, for it was never started to the end");
      expect(await answers(address)).toBe(false);
      await writeFile(join(first(), "run/s3/versitygw.pid"), "");
      expect((await real(first(), "status")).out).toContain("s3: broken: versitygw has died");
    });
  },
);
