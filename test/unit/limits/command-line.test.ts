import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitFolder, maxGitAnswerBytes } from "../../../cli/git-folder.ts";
import { maxStdinBytes, readAll } from "../../../cli/push-artifact.ts";
import { timeoutOf } from "../../../cli/session.ts";
import { maxTimerMs } from "../../../lib/core/duration.ts";
import { maxSettingsBytes, readSettingsFile } from "../../../local/read-settings-file.ts";

test("standard input has a limit", async () => {
  async function* input(bytes: number): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(bytes - 1);
    yield Buffer.alloc(1);
  }
  expect(await readAll(input(maxStdinBytes - 1))).toHaveLength(maxStdinBytes - 1);
  expect(await readAll(input(maxStdinBytes))).toHaveLength(maxStdinBytes);
  await expect(readAll(input(maxStdinBytes + 1))).rejects.toThrow(`more than ${maxStdinBytes} bytes`);
});

test("--timeout is limited to the longest timer, in whole milliseconds", () => {
  const timeouts = ["1.5ms", `${maxTimerMs - 1}ms`, `${maxTimerMs}ms`, `${maxTimerMs + 1}ms`, "99999999m"];
  const waits = [2, maxTimerMs - 1, maxTimerMs, maxTimerMs, maxTimerMs];
  expect(timeouts.map((timeout) => timeoutOf({ timeout }))).toEqual(waits);
});

test("a settings file has a limit", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-settings-"));
  const read = async (bytes: number) => {
    const path = join(folder, "settings.yaml");
    await writeFile(path, "{}".padEnd(bytes));
    return readSettingsFile(path);
  };
  try {
    expect((await read(maxSettingsBytes - 1)).given.size).toBe(0);
    expect((await read(maxSettingsBytes)).given.size).toBe(0);
    await expect(read(maxSettingsBytes + 1)).rejects.toThrow(`larger than ${maxSettingsBytes} bytes`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("an answer of git has a limit", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-git-"));
  const source = async (bytes: number) => {
    const address = `https://git.test/`;
    const program = `#!/bin/sh\nprintf ${address}; head -c ${bytes - address.length} /dev/zero | tr '\\0' a\n`;
    await writeFile(join(folder, "git"), program);
    await chmod(join(folder, "git"), 0o755);
    const env = { PATH: `${folder}:${process.env["PATH"]}` };
    return (await gitFolder(folder, env, new AbortController().signal)).source();
  };
  try {
    expect(await source(maxGitAnswerBytes - 1)).toHaveLength(maxGitAnswerBytes - 1);
    expect(await source(maxGitAnswerBytes)).toHaveLength(maxGitAnswerBytes);
    await expect(source(maxGitAnswerBytes + 1)).rejects.toThrow(`more than ${maxGitAnswerBytes} bytes`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
