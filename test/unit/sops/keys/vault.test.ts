import { describe, expect, test } from "vitest";
import { Secret } from "../../../../lib/core/secret.ts";
import { maxQuotedChars } from "../../../../lib/sops/keys/ask-key-service.ts";
import { maxCiphertextChars, vaultKeySource, vaultLogin } from "../../../../lib/sops/keys/vault.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";
import { answering, type RecordedExchanges, recordedExchanges } from "../../../doubles/recorded-exchanges.ts";

const recipient = {
  kind: "hc_vault",
  vaultAddress: "https://vault.example.com:8200",
  enginePath: "team-a/transit",
  keyName: "sops-key",
  enc: "vault:v1:8SDd3WHDOjf7mq69CyCqYjBXAiQQAVZRkFM13ok481zoCmHnSeDX9vyf7w==",
} as const;
const token = new Secret("hvs.test-token");
const failure = "failed to decrypt sops data key from Vault transit backend 'team-a/transit/decrypt/sops-key'";

async function open(http: RecordedExchanges, changed: Partial<typeof recipient> | Record<string, string> = {}) {
  const source = vaultKeySource(http, () => Promise.resolve(token));
  return Buffer.from((await source.open({ ...recipient, ...changed }, never)) ?? []).toString();
}

describe("a data key that Vault's transit engine has encrypted", () => {
  test("is decrypted at the address, the engine and the key that the file names", async () => {
    expect(await open(recordedExchanges("vault-transit"))).toBe("the data key of sops, 32 bytes..");
  });

  test("is decrypted at an address with a path, and at an engine path with slashes at its ends", async () => {
    const http = answering(200, { data: { plaintext: "AAAA" } });
    await open(http, { vaultAddress: "https://proxy.example.com/vault/", enginePath: "/transit/" });
    expect(http.seen[0]?.url).toBe("https://proxy.example.com/vault/v1/transit/decrypt/sops-key");
  });

  test("cannot be decrypted if Vault refuses, with Vault's text", async () => {
    const fault = open(answering(403, { errors: ["permission denied", "2 errors occurred"] }));
    const url = "https://vault.example.com:8200/v1/team-a/transit/decrypt/sops-key";
    const said = `Error making API request.\n\nURL: PUT ${url}\nCode: 403. Errors:\n\n* permission denied\n* 2 errors occurred`;
    await expect(fault).rejects.toThrow(new SopsFault(`${failure}: ${said}`));
  });

  test.each([
    {
      name: "words with the token in them",
      status: 400,
      json: { errors: ["no hvs.test-token here"] },
      says: "no <redacted> here",
    },
    {
      name: "no end of words",
      status: 400,
      json: { errors: ["x".repeat(10_000)] },
      says: new RegExp(`x{${maxQuotedChars - 2}}[.]{3}$`),
    },
    { name: "a page of a proxy", status: 502, json: "<html>", says: "HTTP status 502" },
    {
      name: "no data key",
      status: 200,
      json: { data: { plaintext: "%" } },
      says: "the answer is not that of a key service",
    },
  ])("reports what went wrong if the server answers $name", async ({ status, json, says }) => {
    const fault = await open(answering(status, json)).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SopsFault);
    expect(String(fault)).toMatch(says);
    expect(String(fault)).not.toContain("hvs.");
    expect(String(fault).length).toBeLessThan(1_000);
  });

  test.each<[string, Record<string, string>, string]>([
    ["a path to another place", { enginePath: "transit/../sys" }, "is not a path of Vault's API"],
    ["a key with a path to another place", { keyName: "../../sys/seal" }, "is not a path of Vault's API"],
    [
      "a password in the address",
      { vaultAddress: "https://u:p@vault.example.com" },
      "without user, query and fragment",
    ],
    ["another protocol", { vaultAddress: "file:///etc/passwd" }, "is not an http or https URL"],
    ["no end of ciphertext", { enc: "x".repeat(maxCiphertextChars + 1) }, "more than 8192 characters"],
  ])("is not sent anywhere with %s", async (_, changed, says) => {
    const http = answering(200, {});
    await expect(open(http, changed)).rejects.toThrow(says);
    expect(http.seen).toEqual([]);
  });

  test("is sent even if the key's name contains a query", async () => {
    const http = answering(200, { data: { plaintext: "AAAA" } });
    await open(http, { keyName: "a?b=c#d" });
    expect(http.seen[0]?.url).toBe("https://vault.example.com:8200/v1/team-a/transit/decrypt/a%3Fb%3Dc%23d");
  });
});

describe("a login at Vault with the token of a service account", () => {
  const jwtOf = (claims: object) =>
    new Secret(["{}", JSON.stringify(claims)].map((part) => Buffer.from(part).toString("base64url")).join(".") + ".x");
  const at = { address: recipient.vaultAddress, loginPath: "auth/kubernetes/login" };

  test("names the role after the account", async () => {
    const http = recordedExchanges("vault-login");
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const claims = { aud: [recipient.vaultAddress], sub: "system:serviceaccount:apps:decrypts" };
    const jwt = new Secret(`${encoded({ alg: "RS256" })}.${encoded(claims)}.c2lnbmF0dXJl`);
    expect((await vaultLogin(http, { ...at, jwt }, never)).reveal()).toBe("hvs.test-token");
  });

  test.each([
    {
      name: "a refusal",
      http: answering(400, { errors: ['invalid role name "apps_web"'] }),
      says: "failed to authenticate with Vault 'https://vault.example.com:8200' at login path 'auth/kubernetes/login' as role 'apps_web': Error making API request.",
    },
    {
      name: "no token",
      http: answering(200, { auth: null }),
      says: "Vault 'https://vault.example.com:8200' returned no token for login at 'auth/kubernetes/login' as role 'apps_web'",
    },
  ])("fails with Flux's text on $name", async ({ http, says }) => {
    const jwt = jwtOf({ sub: "system:serviceaccount:apps:web" });
    await expect(vaultLogin(http, { ...at, jwt }, never)).rejects.toThrow(says);
  });

  test.each([
    { name: "is not a JWT", jwt: new Secret("opaque"), says: "not a JWT" },
    { name: "cannot be decoded", jwt: new Secret("a.%.c"), says: "failed to decode token payload" },
    { name: "is of a user", jwt: jwtOf({ sub: "jane" }), says: "unexpected token subject" },
  ])("is not tried with a token that $name", async ({ jwt, says }) => {
    const http = answering(200, {});
    await expect(vaultLogin(http, { ...at, jwt }, never)).rejects.toThrow(
      `failed to derive Vault role for authentication: ${says}`,
    );
    expect(http.seen).toEqual([]);
  });
});
