import { expect, test } from "vitest";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { maxAnswerBytes, timeoutMs } from "../../../../lib/sops/keys/ask-key-service.ts";
import { maxNameChars, vaultKeySource } from "../../../../lib/sops/keys/vault.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";
import { answering } from "../../../doubles/recorded-exchanges.ts";

const recipient = {
  kind: "hc_vault",
  vaultAddress: "https://vault.example.com",
  enginePath: "transit",
  keyName: "sops",
  enc: "vault:v1:AAAA",
} as const;
const token = () => Promise.resolve(new Secret("hvs.test-token"));

test("a key service has ten seconds and 256 KiB for its answer, and redirects are not followed", async () => {
  const http = answering(200, { data: { plaintext: "AAAA" } });
  await vaultKeySource(http, token).open(recipient, never);
  expect(http.seen).toMatchObject([{ timeoutMs, maxBytes: maxAnswerBytes }]);
  expect(http.seen[0]).not.toHaveProperty("maxRedirects");
});

test.each(["timeout", "too-large", "refused", "unreachable"] as const)(
  "a key service that %s is reported on the file, with the text of the port",
  async (reason) => {
    const http = { send: () => Promise.reject(new HttpError(reason, "PUT https://vault.example.com/v1: said so")) };
    await expect(vaultKeySource(http, token).open(recipient, never)).rejects.toThrow(
      new SopsFault(
        "failed to decrypt sops data key from Vault transit backend 'transit/decrypt/sops': PUT https://vault.example.com/v1: said so",
      ),
    );
  },
);

test("an aborted run is not blamed on the file", async () => {
  const reason = new Error("the time is up");
  await expect(vaultKeySource(answering(200, {}), token).open(recipient, AbortSignal.abort(reason))).rejects.toBe(
    reason,
  );
});

test("a path and an address have a maximum length", async () => {
  const http = answering(200, {});
  const source = vaultKeySource(http, token);
  const long = "a".repeat(maxNameChars + 1);
  await expect(source.open({ ...recipient, enginePath: long }, never)).rejects.toThrow("is not a path of Vault's API");
  await expect(source.open({ ...recipient, vaultAddress: `https://${long}` }, never)).rejects.toThrow(
    "is not an http or https URL",
  );
  expect(http.seen).toEqual([]);
});
