import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
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
});
