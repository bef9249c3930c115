import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { Http } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { readAzureCredentials } from "../../../../lib/sops/keys/azure-credentials.ts";
import { azureKeyVaultSource } from "../../../../lib/sops/keys/azure-key-vault.ts";
import { gcpKmsKeySource, readGcpCredentials } from "../../../../lib/sops/keys/gcp-kms.ts";
import { vaultKeySource, vaultLogin } from "../../../../lib/sops/keys/vault.ts";
import { never } from "../../../contract/state-back-end.ts";

const secretFields = ["client_secret", "refresh_token", "assertion", "client_assertion", "jwt"];

/** Answers the first requests with `answers`, and refuses the next one in words that quote the `nth` secret it was sent. */
function quoting(answers: readonly object[], nth: number) {
  const left = [...answers];
  const seen = { secret: "" };
  const http: Http = {
    async send({ url, headers = {}, body = new Uint8Array() }) {
      const text = Buffer.from(body).toString();
      const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
      const fields: object = isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
      const held = Object.entries(fields).flatMap(([name, value]) =>
        secretFields.includes(name) ? [String(value)] : [],
      );
      const tokens = [headers["authorization"]?.replace("Bearer ", ""), headers["x-vault-token"]];
      const secret = [...held, ...tokens.filter((one) => one !== undefined)][nth] ?? "";
      seen.secret = secret;
      const words = `you sent ${secret}`;
      const oauth = { error: "denied", error_description: words };
      const refusal = { error: { code: "x", status: "DENIED", message: words }, errors: [words] };
      const answer = left.shift();
      const json = JSON.stringify(answer ?? (isForm ? oauth : refusal));
      return { url, status: answer === undefined ? 403 : 200, headers: {}, body: Buffer.from(json) };
    },
  };
  return { http, seen };
}

const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
const clock = { now: () => Date.UTC(2026, 0, 1) };
const token = { access_token: "ya29.test-token", expires_in: 3600 };
const account = { type: "service_account", private_key: pem, client_email: "sops@web.example" };
const user = {
  type: "authorized_user",
  client_id: "c",
  client_secret: "test-secret",
  refresh_token: "1//test-refresh",
};
const jwt = new Secret(`e30.${Buffer.from('{"sub":"system:serviceaccount:n:a"}').toString("base64url")}.c2ln`);
const azure = { tenantId: "t", clientId: "c", clientSecret: "azure-secret" };

const gcp = (credentials: object) => (http: Http) =>
  gcpKmsKeySource(http, clock, readGcpCredentials(JSON.stringify(credentials))).open(
    { kind: "gcp_kms", resourceId: "projects/w/locations/l/keyRings/k/cryptoKeys/c", enc: "Ci==" },
    never,
  );
const keyVault = async (http: Http) =>
  azureKeyVaultSource(http, clock, await readAzureCredentials(Buffer.from(JSON.stringify(azure)))).open(
    { kind: "azure_kv", vaultUrl: "https://a.vault.azure.net", keyName: "k", version: "1", enc: "dW5y" },
    never,
  );
const address = "https://vault.example";
const transit = (http: Http) =>
  vaultKeySource(http, async () => new Secret("hvs.test-token")).open(
    { kind: "hc_vault", vaultAddress: address, enginePath: "transit", keyName: "k", enc: "vault:v1:x" },
    never,
  );

test.each([
  { what: "the assertion of a service account", ask: gcp(account), answers: [], nth: 0 },
  { what: "the client secret of a user", ask: gcp(user), answers: [], nth: 0 },
  { what: "the refresh token of a user", ask: gcp(user), answers: [], nth: 1 },
  { what: "a token of Google's KMS", ask: gcp(user), answers: [token], nth: 0 },
  { what: "the client secret of an application", ask: keyVault, answers: [], nth: 0 },
  { what: "a token of a key vault", ask: keyVault, answers: [token], nth: 0 },
  { what: "a token of Vault", ask: transit, answers: [], nth: 0 },
  {
    what: "the token of a service account at a login",
    ask: (http: Http) => vaultLogin(http, { address, loginPath: "auth/k/login", jwt }, never),
    answers: [],
    nth: 0,
  },
])("a service that quotes $what is reported without it", async ({ ask, answers, nth }) => {
  const { http, seen } = quoting(answers, nth);
  const message: string = await ask(http).then(
    () => "no refusal",
    (error: unknown) => String(error),
  );
  expect(seen.secret.length).toBeGreaterThan(8);
  expect(message).not.toContain(seen.secret.slice(0, 100));
  expect(message).toContain("you sent <redacted>");
});
