import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { runCommand } from "../doubles/run-command.ts";
import { newSshKey, sshServer } from "../doubles/ssh-server.ts";
import { formatRecording, readRecording, recordingFile, wordsOf } from "../fixtures/flux-create/recorded-commands.ts";
import { buildFlux, flux } from "./build-clients.ts";

const execute = promisify(execFile);
const checkout = fileURLToPath(new URL("../..", import.meta.url));

const missing = await buildFlux();

describe.skipIf(missing !== undefined)(`the real flux${missing ?? ""}`, () => {
  test("prints what is recorded for each flux create … --export", async () => {
    const printed = [];
    for (const command of readRecording()) {
      const { stdout } = await execute(flux, wordsOf(command), { cwd: checkout, env: { HOME: "/nowhere" } });
      printed.push({ line: command.line, output: stdout });
    }
    await expect(formatRecording(printed)).toMatchFileSnapshot(recordingFile);
  });

  test("creates the same Secret for ssh as Sluice: with a key from a file, and the host's key", async () => {
    await using server = await sshServer({ hostKey: await newSshKey(), user: { name: "git", key: await newSshKey() } });
    const key = "test/fixtures/ssh/plain";
    const url = `ssh://git@127.0.0.1:${server.port}/team/app.git`;
    const args = ["create", "secret", "git", "app", `--url=${url}`, `--private-key-file=${key}`, "--export"];
    const { stdout } = await execute(flux, args, { cwd: checkout, env: { HOME: "/nowhere" } });
    expect(await runCommand(args, { env: {}, folder: checkout })).toEqual({ code: 0, out: stdout, err: "" });
  });
});
