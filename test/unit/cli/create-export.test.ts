import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../doubles/run-command.ts";
import { readRecording, wordsOf } from "../../fixtures/flux-create/recorded-commands.ts";

const folder = fileURLToPath(new URL("../../..", import.meta.url));

describe("sluice create … --export", () => {
  test.each(readRecording())("prints the same bytes as flux: $line", async (command) => {
    expect(await runCommand(wordsOf(command), { env: {}, folder })).toEqual({ code: 0, out: command.output, err: "" });
  });
});
