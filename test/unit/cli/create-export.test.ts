import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../doubles/run-command.ts";
import { readRecording, wordsOf } from "../../fixtures/flux-create/recorded-commands.ts";

const folder = fileURLToPath(new URL("../../..", import.meta.url));

describe("sluice create … --export", () => {
  test.each(readRecording())("prints the same bytes as flux: $line", async (command) => {
    expect(await runCommand(wordsOf(command), { env: {}, folder })).toEqual({ code: 0, out: command.output, err: "" });
  });

  test.each([
    "secret oci login --url=ghcr.io --username=bot --password=p4ss",
    "secret githubapp app --app-id=1 --app-installation-id=2 --app-private-key=test/fixtures/tls/rsa.key",
  ])("labels a Secret of create %s too, unlike flux", async (line) => {
    const { out } = await runCommand(["create", ...line.split(" "), "--label=team=a", "--export"], { env: {}, folder });
    expect(out).toContain("  labels:\n    team: a\n");
  });
});
