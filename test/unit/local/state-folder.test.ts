import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { lockFolder } from "../../../local/lock-folder.ts";
import { openStateFolder, type StateFolder } from "../../../local/state-folder.ts";

const never = new AbortController().signal;

describe("the state folder", () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "sluice-state-"));
    folder = join(parent, "state");
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const open = (): Promise<StateFolder> => openStateFolder(folder, systemClock, never);
  const openAndClose = async (): Promise<StateFolder> => {
    const state = await open();
    state.close();
    return state;
  };

  test("is made for its user alone, and keeps its key over restarts", async () => {
    const first = await openAndClose();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await readdir(folder)).toSorted()).toEqual([
      "installation-key",
      "layout",
      "lock.db",
      "lock.pid",
      "state.db",
    ]);
    const second = await openAndClose();
    expect(second.installationKey.reveal()).toBe(first.installationKey.reveal());
    expect(second.path).toBe(folder);
  });

  test("what was committed is there after a restart", async () => {
    const state = await open();
    state.database.connection.exec("INSERT INTO edges VALUES ('src#a', 'home/g/K/ns/web')");
    state.close();
    const again = await open();
    expect(again.database.connection.prepare("SELECT key FROM edges").all()).toEqual([{ key: "home/g/K/ns/web" }]);
    again.close();
  });

  test("a folder that holds something else is left as it is", async () => {
    await mkdir(folder, { mode: 0o755 });
    await writeFile(join(folder, "thesis.txt"), "");
    await expect(open()).rejects.toThrow(`${folder} is not empty and no state folder of Sluice: it holds thesis.txt`);
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    expect(await readdir(folder)).toEqual(["thesis.txt"]);
  });

  test("a newer version's folder is refused and named", async () => {
    await openAndClose();
    await writeFile(join(folder, "layout"), "2\n");
    await expect(open()).rejects.toThrow(`${folder} was written by a newer Sluice (layout 2, this one knows 1)`);
  });

  test.each([
    { name: "layout", content: "what?", says: "its file layout holds no number" },
    { name: "installation-key", content: "abc", says: "its file installation-key holds no key" },
    { name: "state.db", content: "this is no database, and long enough to be looked at ".repeat(20), says: "state.db" },
  ])("a damaged $name is refused and named, and the lock is free again", async ({ name, content, says }) => {
    await openAndClose();
    await writeFile(join(folder, name), content);
    const refused = open();
    await expect(refused).rejects.toThrow(`the state folder ${folder} is damaged`);
    await expect(refused).rejects.toThrow(says);
    (await lockFolder(folder, 0, systemClock, never)).release();
  });

  test("a state file with a page overwritten is refused as damaged", async () => {
    const state = await open();
    const insert = state.database.connection.prepare("INSERT INTO edges VALUES (?, ?)");
    for (let number = 0; number < 2_000; number++) insert.run(`src#${number}`, "home/g/K/ns/web");
    state.close();
    const bytes = await readFile(join(folder, "state.db"));
    await writeFile(join(folder, "state.db"), bytes.fill(0xff, 8_192, bytes.length - 8_192));
    await expect(open()).rejects.toThrow("is damaged: state.db");
  });

  test("a path that cannot be a folder is one clear error", async () => {
    await writeFile(join(parent, "file"), "");
    folder = join(parent, "file", "state");
    await expect(open()).rejects.toThrow(`the state folder ${folder} cannot be used: ENOTDIR`);
  });

  test("a second one on the same folder is refused, naming the folder and the holder, until the first ends", async () => {
    const first = await lockOf(folder);
    await expect(lockFolder(folder, 100, systemClock, never)).rejects.toThrow(
      `the state folder ${folder} is in use by process ${process.pid}`,
    );
    const waiting = lockFolder(folder, 3_000, systemClock, never);
    first.release();
    (await waiting).release();
  });

  test("the lock of another process that is killed is free at once", async () => {
    await openAndClose();
    const script = `
      const { DatabaseSync } = require("node:sqlite");
      const lock = new DatabaseSync(${JSON.stringify(join(folder, "lock.db"))});
      lock.exec("BEGIN EXCLUSIVE");
      console.log("locked");
      setInterval(() => {}, 60_000);`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await expect(lockFolder(folder, 50, systemClock, never)).rejects.toThrow("is in use by");
    child.kill("SIGKILL");
    await once(child, "exit");
    (await lockFolder(folder, 0, systemClock, never)).release();
  });

  async function lockOf(path: string): Promise<{ release(): void }> {
    await mkdir(path);
    return lockFolder(path, 0, systemClock, never);
  }
});
