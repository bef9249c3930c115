import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { lockFolder } from "../../../local/folders.ts";
import { writePorts } from "../../../local/remembered-ports.ts";
import { startEmbeddedCluster } from "../../../local/start-embedded-cluster.ts";
import { openStateFolder, resetStateFolder, type StateFolder } from "../../../local/state-folder.ts";
import { silentLog } from "../../doubles/silent-log.ts";

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

  test("is readable only by its user, and keeps its key over restarts", async () => {
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

  describe("that is reset", () => {
    const reset = (confirm: (path: string) => Promise<boolean>) =>
      resetStateFolder(folder, confirm, { clock: systemClock }, never);
    const yes = () => Promise.resolve(true);

    test("is empty after the user has confirmed, and the next start creates a new installation", async () => {
      const before = await openAndClose();
      await mkdir(join(folder, "registry"));
      await writeFile(join(folder, "registry", "blob"), "");
      const asked: string[] = [];
      expect(await reset(async (path) => asked.push(path) > 0)).toEqual({ kind: "removed", left: [] });
      expect(asked).toEqual([folder]);
      expect((await readdir(folder)).filter((name) => !name.startsWith("lock."))).toEqual([]);
      expect((await openAndClose()).installationKey.reveal()).not.toBe(before.installationKey.reveal());
    });

    test("is kept if the user does not confirm it", async () => {
      await openAndClose();
      const before = await readdir(folder);
      expect(await reset(() => Promise.resolve(false))).toEqual({ kind: "declined" });
      expect(await readdir(folder)).toEqual(before);
    });

    test("is refused without a question while a process uses it", async () => {
      const running = await open();
      await expect(reset(() => Promise.reject(new Error("asked")))).rejects.toThrow(
        `the state folder ${folder} is in use by process ${process.pid}`,
      );
      running.close();
    });

    test("is refused if it is missing or is not a state folder", async () => {
      await expect(reset(yes)).rejects.toThrow(`${folder} is not a state folder of Sluice`);
      await mkdir(folder);
      await writeFile(join(folder, "thesis.txt"), "");
      await expect(reset(yes)).rejects.toThrow(`${folder} is not a state folder of Sluice`);
      expect(await readdir(folder)).toEqual(["thesis.txt"]);
    });

    test("loses everything that Sluice has written to it", async () => {
      const state = await open();
      const cluster = await startEmbeddedCluster({ stateFolder: folder, port: 0, names: [], log: silentLog });
      await writeFile(state.kubeconfig, cluster.kubeconfig());
      await writePorts(state, {});
      for (const name of [state.artifacts, state.registry]) await mkdir(name, { recursive: true });
      await cluster.close();
      state.close();
      for (const name of [
        "state.db-wal",
        "kubernetes.db-shm",
        "kubernetes-tokens.json.new",
        "layout.layout.unfinished",
      ]) {
        await writeFile(join(folder, name), "");
      }
      expect(await reset(yes)).toEqual({ kind: "removed", left: [] });
      expect((await readdir(folder)).toSorted()).toEqual(["lock.db", "lock.pid"]);
    });

    test("keeps the files of the user, and names them", async () => {
      await openAndClose();
      await mkdir(join(folder, ".git"));
      for (const name of ["deploy.yaml", "state.db.copy", "locker"]) await writeFile(join(folder, name), "");
      const left = [".git", "deploy.yaml", "locker", "state.db.copy"];
      expect(await reset(yes)).toEqual({ kind: "removed", left });
      expect((await readdir(folder)).toSorted()).toEqual([...left, "lock.db", "lock.pid"].toSorted());
    });

    test("is refused and stays unchanged if it contains only a file named layout with a number", async () => {
      await mkdir(join(folder, ".git"), { recursive: true });
      await writeFile(join(folder, "layout"), "1\n");
      await expect(reset(yes)).rejects.toThrow(`${folder} is not a state folder of Sluice`);
      expect((await readdir(folder)).toSorted()).toEqual([".git", "layout"]);
    });

    test.each(["installation-key", "state.db"])(
      "can be reset again if an earlier reset was killed midway, when only layout and %s were left",
      async (kept) => {
        await openAndClose();
        for (const name of ["installation-key", "state.db"]) if (name !== kept) await rm(join(folder, name));
        expect(await reset(yes)).toEqual({ kind: "removed", left: [] });
        expect((await readdir(folder)).filter((name) => !name.startsWith("lock."))).toEqual([]);
      },
    );
  });

  test("a state folder keeps committed data over a restart", async () => {
    const state = await open();
    state.database.connection.exec("INSERT INTO edges (what, key) VALUES ('src#a', 'home/g/K/ns/web')");
    state.close();
    const again = await open();
    expect(again.database.connection.prepare("SELECT key FROM edges").all()).toEqual([{ key: "home/g/K/ns/web" }]);
    again.close();
  });

  test("a state folder with other content is refused and stays unchanged", async () => {
    await mkdir(folder, { mode: 0o755 });
    await writeFile(join(folder, "thesis.txt"), "");
    await expect(open()).rejects.toThrow(
      `${folder} is not a state folder of Sluice: it is not empty and holds thesis.txt`,
    );
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    expect(await readdir(folder)).toEqual(["thesis.txt"]);
  });

  test("a state folder of a newer version is refused and named", async () => {
    await openAndClose();
    await writeFile(join(folder, "layout"), "2\n");
    await expect(open()).rejects.toThrow(`${folder} was written by a newer Sluice (layout 2, this one knows 1)`);
  });

  test.each([
    { name: "layout", content: "what?", says: "its file layout does not hold a number" },
    { name: "installation-key", content: "abc", says: "its file installation-key does not hold an installation key" },
    { name: "state.db", content: "this is no database, and long enough to be looked at ".repeat(20), says: "state.db" },
  ])("a damaged $name is refused and named, and the lock is released", async ({ name, content, says }) => {
    await openAndClose();
    await writeFile(join(folder, name), content);
    const refused = open();
    await expect(refused).rejects.toThrow(`the state folder ${folder} is damaged`);
    await expect(refused).rejects.toThrow(says);
    (await lockFolder(folder, 0, systemClock, never)).release();
  });

  test("a state file with an overwritten page is refused as damaged", async () => {
    const state = await open();
    const insert = state.database.connection.prepare("INSERT INTO edges (what, key) VALUES (?, ?)");
    for (let number = 0; number < 2_000; number++) insert.run(`src#${number}`, "home/g/K/ns/web");
    state.close();
    const bytes = await readFile(join(folder, "state.db"));
    await writeFile(join(folder, "state.db"), bytes.fill(0xff, 8_192, bytes.length - 8_192));
    await expect(open()).rejects.toThrow("is damaged: state.db");
  });

  test("a state path that cannot be a folder gives one clear error", async () => {
    await writeFile(join(parent, "file"), "");
    folder = join(parent, "file", "state");
    await expect(open()).rejects.toThrow(`the state folder ${folder} cannot be used: ENOTDIR`);
  });

  test("a second process in the folder is refused with the names of folder and lock holder until the first ends", async () => {
    const first = await lockOf(folder);
    await expect(lockFolder(folder, 100, systemClock, never)).rejects.toThrow(
      `the state folder ${folder} is in use by process ${process.pid}`,
    );
    const waiting = lockFolder(folder, 60_000, systemClock, never);
    first.release();
    (await waiting).release();
  });

  test("the lock of a killed process is released at once", async () => {
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
