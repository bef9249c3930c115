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

  test.each(["--username=bot", "--username= --password=p4ss"])(
    "says that a client certificate is stored without the login that is given beside it: %s",
    async (login) => {
      const tls = "--tls-crt-file=test/fixtures/tls/client.crt --tls-key-file=test/fixtures/tls/client.key";
      const args = `create secret helm app ${tls} ${login}`.split(" ");
      const { code, out, err } = await runCommand([...args, "--export"], { env: {}, folder });
      expect([code, out]).toEqual([0, expect.not.stringContaining("password")]);
      expect(err).toContain("holds the client certificate and no username and password");
    },
  );

  test.each([
    "alert app --provider-ref=chat --event-source=Kustomization/app",
    "alert-provider chat --type=slack",
    "receiver app --type=github --secret-ref=token --resource=GitRepository/app",
    "tenant dev --with-namespace=dev",
    "secret proxy proxy --address=https://proxy.example.com",
  ])("accepts --interval, which changes nothing: create %s", async (line) => {
    const exported = (...more: readonly string[]) =>
      runCommand(["create", ...line.split(" "), "--export", ...more], { env: {}, folder });
    const plain = await exported();
    expect(plain.code).toBe(0);
    expect(await exported("--interval=5m")).toEqual(plain);
  });
});
