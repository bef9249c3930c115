import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { deadlineMs } from "../deadline.ts";
import { findTool } from "./find-tool.ts";
import type { Installation, Part } from "./part.ts";
import { partWorld, server } from "./part-world.ts";

const { cache, fakePart, installation, installed, said, start, stop } = partWorld();

describe("the installation of a real part", () => {
  const programs = async (): Promise<string[]> => readdir(join(cache(), "installed"));

  test("that lost a file is reported as damaged and repeated", async () => {
    await start();
    await stop();
    const [folder = ""] = await programs();
    await rm(join(cache(), "installed", folder, "server.mjs"));
    await start();
    expect(installed()).toBe(2);
    expect(said().join("\n")).toContain(
      "s3: versitygw in the cache is damaged (server.mjs has no bytes and should have ",
    );
  });

  test("that was interrupted is repeated, and older ones are removed", async () => {
    await mkdir(join(cache(), "installed/versitygw-0.0.1-0123456789ab"), { recursive: true });
    await mkdir(join(cache(), "installed/registry-0.0.1-0123456789ab"), { recursive: true });
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

  test("waits for another one with the same toolchain, and not for one with another toolchain", async () => {
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
      // It ends only once the next one has begun.
      step("etcd", "go", () => third.promise),
      step("kwok", "go", async () => third.resolve()),
      step("moto", "python", async () => other.resolve()),
    ];
    await start({ ...fakePart(), installations });
    const ofGo = told.filter((line) => !line.startsWith("moto"));
    expect(ofGo.slice(0, 2)).toEqual(["versitygw begins", "versitygw ends"]);
    expect(ofGo.slice(2).toSorted()).toEqual(["etcd begins", "etcd ends", "kwok begins", "kwok ends"]);
  });

  test("that does not fit on the disk is not started", async () => {
    const huge: Part = { ...fakePart(), installations: [{ ...installation, needsMegabytes: 1e12 }] };
    await expect(start(huge)).rejects.toThrow(/^s3: the disk of .* has [0-9]+ MB left, and installing versitygw takes/);
    expect(installed()).toBe(0);
  });

  test("names a missing tool and how to get it", async () => {
    const path = process.env["PATH"] ?? "";
    const needy: Installation = {
      ...installation,
      install: (folder, { run }) => run("mvn", ["--version"], { cwd: folder }),
    };
    process.env["PATH"] = cache();
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
    process.env["PATH"] = cache();
    try {
      expect(() => findTool(tool, "sqs")).toThrow(
        new RegExp(`^sqs: there is no \`${tool}\` on this machine\\. .*${mend}`),
      );
    } finally {
      process.env["PATH"] = path;
    }
  });

  test("whose record is truncated is repeated", async () => {
    await start();
    await stop();
    const [folder = ""] = await programs();
    await writeFile(join(cache(), "installed", folder, "installed.json"), '{"server.mjs":');
    await start();
    expect(installed()).toBe(2);
    expect(said().join("\n")).toContain("s3: versitygw in the cache is damaged (installed.json is unreadable)");
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

  // At so low a priority everything takes long where others compute.
  test("never runs at a higher priority than its caller", async () => {
    const log = join(cache(), "log");
    const script = `
      const { buildInto } = await import(${JSON.stringify(join(import.meta.dirname, "run-tool.ts"))});
      const group = "/proc/self/autogroup";
      // It may begin before its priority is lowered.
      const say = ["-e", \`
        const giveUpAt = Date.now() + ${deadlineMs / 2};
        const look = () => {
          const text = 'nice ' + os.getPriority() + (fs.existsSync('\${group}') ? fs.readFileSync('\${group}') : '');
          if (text.trimEnd().endsWith(' 0') && Date.now() < giveUpAt) setTimeout(look, 20);
          else console.log(text);
        };
        look();\`];
      await buildInto(${JSON.stringify(log)}, "s3", AbortSignal.timeout(${deadlineMs})).run(process.execPath, say, { cwd: "/" });`;
    await promisify(execFile)("nice", ["-n", "15", process.execPath, "--input-type=module", "-e", script]);
    const numbers = [...(await readFile(log, "utf8")).matchAll(/nice (-?\d+)/g)].map(([, found]) => found);
    expect(new Set(numbers)).toEqual(new Set(["15"]));
  });
});
