import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { portOnLoopback } from "../doubles/port-on-loopback.ts";
import { ask } from "./ask.ts";
import { partFolder } from "./folders.ts";
import { borrowed } from "./install.ts";
import type { PartRun } from "./part.ts";
import { partWorld } from "./part-world.ts";
import { isAlive, readPidFiles } from "./pid-file.ts";
import { status } from "./status.ts";

const { cache, fakePart, installed, onlyProcess, said, start, stop } = partWorld();

describe("a part that is brought up", () => {
  test("answers, and a second up does not change it", async () => {
    const { s3 = "" } = await start();
    expect((await ask(s3))?.text).toBe("here");
    const { pid } = onlyProcess();
    expect(await start()).toEqual({ s3 });
    expect(onlyProcess().pid).toBe(pid);
    expect(installed()).toBe(1);
  });

  test("is deleted with its data once it is stopped, even if it ignores TERM", async () => {
    await start(fakePart("deaf"));
    const process = onlyProcess();
    await stop();
    expect(isAlive(process)).toBe(false);
    expect(await readdir(join(cache(), "run"))).toEqual([]);
  });

  test("is named with the end of its log if it dies during its start, and leaves no process behind", async () => {
    await expect(start(fakePart("dying"))).rejects.toThrow(/^s3: fake died as it started.*\n {2}no luck today$/s);
    expect(readPidFiles(partFolder("s3"))).toEqual([]);
  });

  test("installs nothing in a borrowed cache, and uses its content", async () => {
    process.env[borrowed] = "true";
    try {
      await expect(start()).rejects.toThrow("s3: versitygw in the cache is missing; it is another's");
      expect(installed()).toBe(0);
      delete process.env[borrowed];
      await start();
      await stop();
      process.env[borrowed] = "true";
      await start();
      expect(installed()).toBe(1);
    } finally {
      delete process.env[borrowed];
    }
  });

  test("is named if it has died since, and is started again", async () => {
    await start();
    const first = onlyProcess();
    process.kill(first.pid, "SIGKILL");
    await expect.poll(() => isAlive(first)).toBe(false);
    const lines: string[] = [];
    expect(await status([fakePart()], (line) => lines.push(line))).toBe(1);
    expect(lines[0]).toMatch(/^s3: broken: fake has died\./);
    await start();
    expect(said().at(-2)).toMatch(/^s3: starting it anew, for fake has died\./);
    expect(isAlive(onlyProcess())).toBe(true);
  });

  test("uses other ports if its own is taken meanwhile", async () => {
    const squatter = createServer((socket) => socket.destroy());
    const taken = await portOnLoopback(squatter);
    let tries = 0;
    const choose = async (run: PartRun): Promise<number> => {
      tries += 1;
      return tries === 1 ? taken : ((await run.ports(1))[0] ?? 0);
    };
    try {
      await start(fakePart("", choose));
      expect(tries).toBe(2);
      await stop();
      await expect(start(fakePart("", async () => taken))).rejects.toThrow(/^s3: fake died .*address already in use/s);
    } finally {
      squatter.close();
    }
  });

  test("does not kill a process that has reused the id of one of its own", async () => {
    await start();
    const { pid, name } = onlyProcess();
    const file = join(partFolder("s3"), `${name}.pid`);
    const text = await readFile(file, "utf8");
    await writeFile(file, `${pid}\n1\n`);
    expect(isAlive(onlyProcess())).toBe(false);
    await writeFile(file, text);
  });
});
