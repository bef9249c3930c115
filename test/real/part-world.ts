import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { ask } from "./ask.ts";
import { partFolder } from "./folders.ts";
import type { Installation, Part, PartRun } from "./part.ts";
import { readPidFiles } from "./pid-file.ts";
import { stopPart } from "./stop-part.ts";
import { up } from "./up.ts";

/** A part of a few lines: a web server that can ignore TERM, or print something and exit. */
export const server = `
import { createServer } from "node:http";
const [port, how] = process.argv.slice(2);
if (how === "deaf") process.on("SIGTERM", () => {});
if (how === "dying") { console.error("no luck today"); process.exit(3); }
createServer((_, response) => response.end("here")).listen(Number(port), "127.0.0.1");
`;

/** A cache of its own for each test of the file that calls this, in which a part of a few lines is brought up. */
export function partWorld() {
  let cache = "";
  let said: string[] = [];
  let installed = 0;
  const { signal } = new AbortController();
  const stop = () => stopPart("s3", signal);

  // Test files share a process: the ones that run later in it need the cache that CI names.
  const named = process.env["SLUICE_REAL_CACHE"];

  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), "sluice-real-"));
    process.env["SLUICE_REAL_CACHE"] = cache;
    said = [];
    installed = 0;
  });
  afterEach(async () => {
    await stop();
    if (named === undefined) delete process.env["SLUICE_REAL_CACHE"];
    else process.env["SLUICE_REAL_CACHE"] = named;
    await rm(cache, { recursive: true });
  });

  const installation: Installation = {
    program: "versitygw",
    toolchain: "go",
    locks: [],
    needsMegabytes: 1,
    async install(folder) {
      installed += 1;
      await writeFile(join(folder, "server.mjs"), server);
    },
  };

  function fakePart(how = "", choosePort = async (run: PartRun) => (await run.ports(1))[0] ?? 0): Part {
    return {
      name: "s3",
      installations: [installation],
      async start(run) {
        const port = await choosePort(run);
        const program = join(run.installed("versitygw"), "server.mjs");
        await run.spawn({ name: "fake", command: process.execPath, args: [program, `${port}`, how] });
        const s3 = `http://127.0.0.1:${port}`;
        await run.until("answer", async () => (await ask(s3)) !== undefined);
        return { s3 };
      },
      answers: async ({ s3 = "" }) => (await ask(s3)) !== undefined,
    };
  }

  return {
    /** The folder of all installations and processes. */
    cache: () => cache,
    /** The messages while it was brought up. */
    said: () => said,
    /** How often its program was installed. */
    installed: () => installed,
    installation,
    fakePart,
    start: (part = fakePart()) => up([part], { audit: false, say: (line) => void said.push(line) }, signal),
    stop,
    onlyProcess: () => {
      const [process, ...others] = readPidFiles(partFolder("s3"));
      expect(others).toEqual([]);
      if (process === undefined) throw new Error("no process was started");
      return process;
    },
  };
}
