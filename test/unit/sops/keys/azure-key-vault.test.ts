import { createVerify, generateKeyPairSync, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Http } from "../../../../lib/core/ports/http.ts";
import { readAzureCredentials, tokenForm } from "../../../../lib/sops/keys/azure-credentials.ts";
import { azureKeyVaultSource } from "../../../../lib/sops/keys/azure-key-vault.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";
import { pem } from "../../../doubles/pem.ts";
import { answering, type RecordedExchanges, recordedExchanges } from "../../../doubles/recorded-exchanges.ts";

const ids = {
  tenantId: "00000000-0000-0000-0000-00000000aaaa",
  clientId: "00000000-0000-0000-0000-00000000bbbb",
};
const entry = { ...ids, clientSecret: "test-secret" };
const recipient = {
  kind: "azure_kv",
  vaultUrl: "https://apps.vault.azure.net",
  keyName: "sops",
  version: "adb0ac0c1f5a4b2e8f0f7e0f1f2f3f4f",
  enc: "dW5yZWFkYWJsZQ",
} as const;
const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };

async function sourceOf(http: RecordedExchanges, credentials: object = entry) {
  return azureKeyVaultSource(http, clock, await readAzureCredentials(Buffer.from(JSON.stringify(credentials))));
}

describe("a data key of Azure Key Vault", () => {
  test.each([
    { name: "clientSecret", credentials: entry },
    {
      name: "the deprecated fields",
      credentials: { tenant: ids.tenantId, appId: ids.clientId, password: "test-secret" },
    },
  ])("is decrypted by $name, with one token per run", async ({ credentials }) => {
    const http = recordedExchanges("azure-key-vault");
    const source = await sourceOf(http, credentials);
    const opened = await source.open(recipient, never);
    expect(Buffer.from(opened ?? []).toString()).toBe("the data key of sops, 32 bytes..");
    await source.open(recipient, never);
    expect(http.seen).toHaveLength(3);
  });

  test("is requested with a token of its cloud, until a minute before the token expires", async () => {
    let now = clock.now();
    const scopes: string[] = [];
    const tokens: string[] = [];
    const http: Http = {
      send: async ({ url, headers, body }) => {
        const isToken = url.includes("/oauth2/");
        if (isToken) scopes.push(new URLSearchParams(Buffer.from(body ?? []).toString()).get("scope") ?? "");
        else tokens.push(headers?.["authorization"] ?? "");
        const answer = isToken ? { access_token: `t${scopes.length}`, expires_in: 3_600 } : { value: "eA" };
        return { url, status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
      },
    };
    const credentials = await readAzureCredentials(Buffer.from(JSON.stringify(entry)));
    const source = azureKeyVaultSource(http, { now: () => now }, credentials);
    const open = (vaultUrl: string) => source.open({ ...recipient, vaultUrl }, never);
    for (const vaultUrl of [
      "https://a.vault.azure.net",
      "https://b.vault.azure.net",
      "https://a.managedhsm.azure.net",
    ]) {
      await open(vaultUrl);
    }
    now += 3_539_000;
    await open("https://a.vault.azure.net");
    now += 1_000;
    await open("https://a.vault.azure.net");
    const [vaults, modules] = ["https://vault.azure.net/.default", "https://managedhsm.azure.net/.default"];
    expect(scopes).toEqual([vaults, modules, vaults]);
    expect(tokens).toEqual(["t1", "t1", "t2", "t1", "t3"].map((token) => `Bearer ${token}`));
  });

  test("cannot be decrypted if the vault refuses, with its text", async () => {
    const tokens = recordedExchanges("azure-key-vault");
    const refusing = answering(403, {
      error: { code: "Forbidden", message: "The user does not have keys decrypt permission" },
    });
    const either: RecordedExchanges = {
      seen: [],
      send: (request, signal) => (request.url.includes("/oauth2/") ? tokens : refusing).send(request, signal),
    };
    const source = await sourceOf(either);
    const name = `${recipient.vaultUrl}/keys/sops/${recipient.version}`;
    await expect(source.open(recipient, never)).rejects.toThrow(
      new SopsFault(
        `failed to decrypt sops data key with Azure Key Vault key '${name}': Forbidden: The user does not have keys decrypt permission`,
      ),
    );
  });

  test("cannot be decrypted if Entra ID knows no such application", async () => {
    const words = "AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1\r\nTimestamp: 2";
    const source = await sourceOf(answering(401, { error: "invalid_client", error_description: words }));
    await expect(source.open(recipient, never)).rejects.toThrow(
      /: invalid_client: AADSTS7000215: Invalid client secret provided\.$/,
    );
  });

  test.each<[string, Record<string, string>, string]>([
    ["a foreign host", { vaultUrl: "https://vault.example.com" }, "is not a vault of Azure"],
    [
      "a host that only looks like one",
      { vaultUrl: "https://apps.vault.azure.net.evil.example" },
      "is not a vault of Azure",
    ],
    ["the bare domain", { vaultUrl: "https://vault.azure.net" }, "is not a vault of Azure"],
    ["no encryption", { vaultUrl: "http://apps.vault.azure.net" }, "is not a vault of Azure"],
    ["a port", { vaultUrl: "https://apps.vault.azure.net:8443" }, "is not a vault of Azure"],
    ["a key with a path to another place", { keyName: "../secrets" }, "does not name a key and version"],
    ["no version", { version: "" }, "does not name a key and version"],
    ["a data key that is not base64", { enc: "a b" }, "failed to base64 decode"],
  ])("is not sent, and no token is requested, with %s", async (_, changed, says) => {
    const http = recordedExchanges("azure-key-vault");
    const source = await sourceOf(http);
    await expect(source.open({ ...recipient, ...changed }, never)).rejects.toThrow(says);
    expect(http.seen).toEqual([]);
  });
});

describe("the entry sops.azure-kv", () => {
  const read = (text: string | Buffer) => readAzureCredentials(Buffer.from(text));
  const yaml = `tenantId: ${ids.tenantId}\nclientId: ${ids.clientId}\nclientSecret: s3cret\n`;

  test.each([
    { name: "YAML", bytes: Buffer.from(yaml) },
    { name: "UTF-8 with a byte order mark", bytes: Buffer.from(`\uFEFF${yaml}`) },
    { name: "UTF-16 of little end", bytes: Buffer.from(`\uFEFF${yaml}`, "utf16le") },
    { name: "UTF-16 of big end", bytes: Buffer.from(`\uFEFF${yaml}`, "utf16le").swap16() },
  ])("is parsed as $name", async ({ bytes }) => {
    const { tokenUrl, clientId, proof } = await read(bytes);
    expect(tokenUrl).toBe(`https://login.microsoftonline.com/${ids.tenantId}/oauth2/v2.0/token`);
    expect(clientId).toBe(ids.clientId);
    expect(proof.kind === "secret" && proof.secret.reveal()).toBe("s3cret");
  });

  test.each([
    { tenantId: "t", clientId: "c", clientSecret: "s" },
    { tenant: "t", appId: "c", password: "s" },
    { tenantId: "t", clientId: "c", clientSecret: "s", tenant: "x", appId: "x", password: "x" },
    { tenantId: "x", tenant: "t", appId: "c", password: "s" },
  ])("names the application and its tenant at the authority of its cloud: %j", async (fields) => {
    for (const [authorityHost, origin] of [
      [undefined, "https://login.microsoftonline.com"],
      ["https://login.microsoftonline.us/", "https://login.microsoftonline.us"],
    ]) {
      const { tokenUrl, clientId, proof } = await read(JSON.stringify({ ...fields, authorityHost }));
      expect([tokenUrl, clientId]).toEqual([`${origin}/t/oauth2/v2.0/token`, "c"]);
      expect(proof.kind === "secret" && proof.secret.reveal()).toBe("s");
    }
  });

  test.each([true, false])("signs with a certificate, and sends the chain on request (%s)", async (sends) => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const [certificate, key] = [await pem("rsa.crt"), await pem("rsa.key")];
    const other = rsa.export({ type: "pkcs8", format: "pem" }).toString();
    const entryOf = (pemText: string) =>
      JSON.stringify({ ...ids, clientCertificate: pemText, clientCertificateSendChain: sends });
    await expect(read(entryOf(certificate + other))).rejects.toThrow("does not hold a certificate and its RSA key");
    const credentials = await read(entryOf(certificate + key));
    const { form } = tokenForm(credentials, "https://vault.azure.net/.default", clock.now());
    const [header = "", claims = "", signature = ""] = (form["client_assertion"] ?? "").split(".");
    const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    const { raw, fingerprint, publicKey } = new X509Certificate(certificate);
    const x5t = Buffer.from(fingerprint.replaceAll(":", ""), "hex").toString("base64url");
    expect(decoded(header)).toEqual({
      alg: "RS256",
      typ: "JWT",
      x5t,
      ...(sends ? { x5c: [raw.toString("base64")] } : {}),
    });
    const { jti: _jti, ...rest } = z.record(z.string(), z.unknown()).parse(decoded(claims));
    const nbf = clock.now() / 1000;
    expect(rest).toEqual({ aud: credentials.tokenUrl, iss: ids.clientId, sub: ids.clientId, nbf, exp: nbf + 600 });
    const verifier = createVerify("sha256").update(`${header}.${claims}`);
    expect(verifier.verify(publicKey, signature, "base64url")).toBe(true);
  });

  test("names another authority", async () => {
    const { tokenUrl } = await read(`${yaml}authorityHost: https://login.microsoftonline.us/\n`);
    expect(tokenUrl).toBe(`https://login.microsoftonline.us/${ids.tenantId}/oauth2/v2.0/token`);
  });

  test.each([
    { name: "nothing", text: "", says: "invalid data: requires a 'clientId' field, a combination of" },
    { name: "no YAML", text: "{hunter2", says: "it is neither YAML nor JSON" },
    { name: "a number", text: "clientSecret: 12345", says: "clientSecret has the wrong type" },
    {
      name: "a managed identity",
      text: "clientId: a",
      says: "a managed identity of Azure, which Sluice does not have",
    },
    {
      name: "an authority without encryption",
      text: `${yaml}authorityHost: http://login.example`,
      says: "authorityHost must be an https URL",
    },
    {
      name: "a tenant with a path to another place",
      text: yaml.replace(ids.tenantId, "a/../b"),
      says: "tenantId must be the id or the domain of a tenant",
    },
    {
      name: "a certificate with a password",
      text: `${yaml.replace("clientSecret: s3cret", "clientCertificatePassword: hunter2\nclientCertificate: aGk=")}`,
      says: "clientCertificate must be PEM with the certificate and its key, without a password",
    },
    {
      name: "half a certificate",
      text: yaml.replace("clientSecret: s3cret", 'clientCertificate: "-----BEGIN CERTIFICATE-----"'),
      says: "clientCertificate does not hold a certificate and its RSA key",
    },
  ])("is refused with $name without quoting it", async ({ text, says }) => {
    const fault = await read(text).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SopsFault);
    expect(String(fault)).toContain(says);
    expect(String(fault)).not.toMatch(/hunter2|s3cret/);
  });
});
