import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { findTool } from "./find-tool.ts";
import { partFolder } from "./folders.ts";
import { borrowed } from "./install.ts";
import type { Installation, Part, PartRun } from "./part.ts";
import { isAlive, readPidFiles } from "./pid-file.ts";
import { status } from "./status.ts";
import { stopPart } from "./stop-part.ts";
import { up } from "./up.ts";

const signal = AbortSignal.timeout(120_000);
/** A part of a few lines: a web server that may be told to ignore TERM, or to say something and end. */
const server = `
import { createServer } from "node:http";
const [port, how] = process.argv.slice(2);
if (how === "deaf") process.on("SIGTERM", () => {});
if (how === "dying") { console.error("no luck today"); process.exit(3); }
createServer((_, response) => response.end("here")).listen(Number(port), "127.0.0.1");
`;

let cache: string;
let said: string[];
let installed: number;
const say = (line: string): void => {
  said.push(line);
};

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "sluice-real-"));
  process.env["SLUICE_REAL_CACHE"] = cache;
  said = [];
  installed = 0;
});
afterEach(async () => {
  await stopPart("s3", signal);
  delete process.env["SLUICE_REAL_CACHE"];
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

const start = (part = fakePart()) => up([part], { audit: false, say }, signal);
const onlyProcess = () => {
  const [process, ...others] = readPidFiles(partFolder("s3"));
  expect(others).toEqual([]);
  if (process === undefined) throw new Error("no process was started");
  return process;
};

describe("a part that is brought up", () => {
  test("answers, and a second time is left as it is", async () => {
    const { s3 = "" } = await start();
    expect((await ask(s3))?.text).toBe("here");
    const { pid } = onlyProcess();
    expect(await start()).toEqual({ s3 });
    expect(onlyProcess().pid).toBe(pid);
    expect(installed).toBe(1);
  });

  test("is gone with its data once it is stopped, also where it ignores TERM", async () => {
    await start(fakePart("deaf"));
    const process = onlyProcess();
    await stopPart("s3", signal);
    expect(isAlive(process)).toBe(false);
    expect(await readdir(join(cache, "run"))).toEqual([]);
  });

  test("is named with the end of its log where it dies as it starts, and leaves nothing running", async () => {
    await expect(start(fakePart("dying"))).rejects.toThrow(/^s3: fake died as it started.*\n {2}no luck today$/s);
    expect(readPidFiles(partFolder("s3"))).toEqual([]);
  });

  test("installs nothing in a cache that is borrowed, and uses what is there", async () => {
    process.env[borrowed] = "true";
    try {
      await expect(start()).rejects.toThrow("s3: versitygw in the cache is missing; it is another's");
      expect(installed).toBe(0);
      delete process.env[borrowed];
      await start();
      await stopPart("s3", signal);
      process.env[borrowed] = "true";
      await start();
      expect(installed).toBe(1);
    } finally {
      delete process.env[borrowed];
    }
  });

  test("is named where it has died since, and is started anew", async () => {
    await start();
    const first = onlyProcess();
    process.kill(first.pid, "SIGKILL");
    await expect.poll(() => isAlive(first)).toBe(false);
    const lines: string[] = [];
    expect(await status([fakePart()], (line) => lines.push(line))).toBe(1);
    expect(lines[0]).toMatch(/^s3: broken: fake has died\./);
    await start();
    expect(said.at(-2)).toMatch(/^s3: starting it anew, for fake has died\./);
    expect(isAlive(onlyProcess())).toBe(true);
  });

  test("tries other ports once where its own is taken in the meantime", async () => {
    const squatter = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    const taken = await new Promise<number>((resolve) => {
      squatter.on("listening", () => {
        const address = squatter.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    let tries = 0;
    const choose = async (run: PartRun): Promise<number> => {
      tries += 1;
      return tries === 1 ? taken : ((await run.ports(1))[0] ?? 0);
    };
    try {
      await start(fakePart("", choose));
      expect(tries).toBe(2);
      await stopPart("s3", signal);
      await expect(start(fakePart("", async () => taken))).rejects.toThrow(/^s3: fake died .*address already in use/s);
    } finally {
      squatter.close();
    }
  });

  test("does not end a process that has got the number of one of its own", async () => {
    await start();
    const { pid, name } = onlyProcess();
    const file = join(partFolder("s3"), `${name}.pid`);
    const text = await readFile(file, "utf8");
    await writeFile(file, `${pid}\n1\n`);
    expect(isAlive(onlyProcess())).toBe(false);
    await writeFile(file, text);
  });
});

describe("an installation", () => {
  const programs = async (): Promise<string[]> => readdir(join(cache, "installed"));

  test("that lost a file is made again, and said to be damaged", async () => {
    await start();
    await stopPart("s3", signal);
    const [folder = ""] = await programs();
    await rm(join(cache, "installed", folder, "server.mjs"));
    await start();
    expect(installed).toBe(2);
    expect(said.join("\n")).toContain(
      "s3: versitygw in the cache is damaged (server.mjs has no bytes and should have ",
    );
  });

  test("that was interrupted is made again, and older ones are removed", async () => {
    await mkdir(join(cache, "installed/versitygw-0.0.1-0123456789ab"), { recursive: true });
    await mkdir(join(cache, "installed/registry-0.0.1-0123456789ab"), { recursive: true });
    const failing: Part = {
      ...fakePart(),
      installations: [{ ...installation, install: async () => Promise.reject(new Error("interrupted")) }],
    };
    await expect(start(failing)).rejects.toThrow("interrupted");
    await start();
    const left = await programs();
    expect(left.map((name) => name.replace(/-.*/, ""))).toEqual(["registry", "versitygw"]);
    expect(left.some((name) => name.endsWith(".unfinished"))).toBe(false);
  });

  test("waits for the first of its toolchain, and for none of another", async () => {
    const told: string[] = [];
    const other = Promise.withResolvers<void>();
    const third = Promise.withResolvers<void>();
    const step = (name: Installation["program"], toolchain: Installation["toolchain"], work: () => Promise<void>) => ({
      ...installation,
      program: name,
      toolchain,
      async install(folder: string) {
        told.push(`${name} begins`);
        await work();
        await writeFile(join(folder, "server.mjs"), server);
        told.push(`${name} ends`);
      },
    });
    const installations = [
      step("versitygw", "go", () => other.promise),
      step("etcd", "go", () => third.promise),
      step("kwok", "go", async () => third.resolve()),
      step("moto", "python", async () => other.resolve()),
    ];
    await start({ ...fakePart(), installations });
    const ofGo = told.filter((line) => !line.startsWith("moto"));
    expect(ofGo.slice(0, 4)).toEqual(["versitygw begins", "versitygw ends", "etcd begins", "kwok begins"]);
    expect(ofGo.slice(4).toSorted()).toEqual(["etcd ends", "kwok ends"]);
  });

  test("that does not fit on the disk is not begun", async () => {
    const huge: Part = { ...fakePart(), installations: [{ ...installation, needsMegabytes: 1e12 }] };
    await expect(start(huge)).rejects.toThrow(/^s3: the disk of .* has [0-9]+ MB left, and installing versitygw takes/);
    expect(installed).toBe(0);
  });

  test("says which tool is missing and how to get it", async () => {
    const path = process.env["PATH"] ?? "";
    const needy: Installation = {
      ...installation,
      install: (folder, { run }) => run("mvn", ["--version"], { cwd: folder }),
    };
    process.env["PATH"] = cache;
    try {
      await expect(start({ ...fakePart(), installations: [needy] })).rejects.toThrow(
        "s3: there is no `mvn` on this machine. Install Maven (Debian: maven), and see that it is on the PATH",
      );
    } finally {
      process.env["PATH"] = path;
    }
  });

  test.each([
    { tool: "java", mend: "Install a JDK, 17 or newer" },
    { tool: "javac", mend: "a JRE is not enough" },
    { tool: "python3", mend: "Install Python 3.10 or newer with venv" },
  ])("that needs $tool says where to get it", ({ tool, mend }) => {
    const path = process.env["PATH"] ?? "";
    process.env["PATH"] = cache;
    try {
      expect(() => findTool(tool, "sqs")).toThrow(
        new RegExp(`^sqs: there is no \`${tool}\` on this machine\\. .*${mend}`),
      );
    } finally {
      process.env["PATH"] = path;
    }
  });

  test("whose record is cut off is made again", async () => {
    await start();
    await stopPart("s3", signal);
    const [folder = ""] = await programs();
    await writeFile(join(cache, "installed", folder, "installed.json"), '{"server.mjs":');
    await start();
    expect(installed).toBe(2);
    expect(said.join("\n")).toContain("s3: versitygw in the cache is damaged (installed.json is unreadable)");
  });

  test("that fails shows the end of the tool's output", async () => {
    const failing: Installation = {
      ...installation,
      install: (folder, { run }) =>
        run(process.execPath, ["-e", "console.log('cannot reach it'); process.exit(7)"], { cwd: folder }),
    };
    await expect(start({ ...fakePart(), installations: [failing] })).rejects.toThrow(
      / ended with status 7:\n.*\n {2}cannot reach it\n {2}\(all of it: .*install-versitygw\.log\)$/s,
    );
  });

  test("is never more urgent than whoever asked for it, which under `nice` only root may be", async () => {
    const log = join(cache, "log");
    const script = `
      const { buildInto } = await import(${JSON.stringify(join(import.meta.dirname, "run-tool.ts"))});
      const group = "/proc/self/autogroup";
      // It may begin before it is told to give way.
      const say = ["-e", \`
        const giveUpAt = Date.now() + 20_000;
        const look = () => {
          const text = 'nice ' + os.getPriority() + (fs.existsSync('\${group}') ? fs.readFileSync('\${group}') : '');
          if (text.trimEnd().endsWith(' 0') && Date.now() < giveUpAt) setTimeout(look, 20);
          else console.log(text);
        };
        look();\`];
      await buildInto(${JSON.stringify(log)}, "s3", AbortSignal.timeout(60_000)).run(process.execPath, say, { cwd: "/" });`;
    await promisify(execFile)("nice", ["-n", "15", process.execPath, "--input-type=module", "-e", script]);
    const numbers = [...(await readFile(log, "utf8")).matchAll(/nice (-?\d+)/g)].map(([, found]) => found);
    expect(new Set(numbers)).toEqual(new Set(["15"]));
  });
});
