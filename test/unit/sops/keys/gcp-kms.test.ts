import { createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { gcpKmsKeySource, readGcpCredentials } from "../../../../lib/sops/keys/gcp-kms.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";
import { answering, type RecordedExchanges, recordedExchanges } from "../../../doubles/recorded-exchanges.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const account = {
  type: "service_account",
  project_id: "web",
  private_key_id: "k1",
  private_key: pem,
  client_email: "sops@web.iam.gserviceaccount.com",
  token_uri: "https://oauth2.googleapis.com/token",
};
const user = {
  type: "authorized_user",
  client_id: "764086051850.apps.googleusercontent.com",
  client_secret: "test-secret",
  refresh_token: "1//test-refresh",
};
const recipient = {
  kind: "gcp_kms",
  resourceId: "projects/web/locations/europe-west1/keyRings/sops/cryptoKeys/apps",
  enc: "CiQAsealed==",
} as const;
const start = Date.parse("2026-01-01T00:00:00Z");

function sourceOf(http: RecordedExchanges, credentials: object, now = () => start) {
  return gcpKmsKeySource(http, { now }, readGcpCredentials(JSON.stringify(credentials)));
}

describe("a data key of Google's KMS", () => {
  test("is decrypted with the credentials of a service account, which signs for a token", async () => {
    const http = recordedExchanges("gcp-kms");
    const opened = await sourceOf(http, account).open(recipient, never);
    expect(Buffer.from(opened ?? []).toString()).toBe("the data key of sops, 32 bytes..");
    const form = new URLSearchParams(Buffer.from(http.seen[0]?.body ?? "").toString());
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(decoded(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "k1" });
    expect(decoded(claims)).toEqual({
      iss: account.client_email,
      scope: "https://www.googleapis.com/auth/cloudkms",
      aud: account.token_uri,
      iat: start / 1000,
      exp: start / 1000 + 3600,
    });
    const verifier = createVerify("sha256").update(`${header}.${claims}`);
    expect(verifier.verify(publicKey, signature, "base64url")).toBe(true);
  });

  test("needs one token per run, and a new one after it expires", async () => {
    const http = recordedExchanges("gcp-kms");
    let now = start;
    const source = sourceOf(http, account, () => now);
    await source.open(recipient, never);
    await source.open(recipient, never);
    expect(http.seen.filter(({ url }) => url.endsWith("/token"))).toHaveLength(1);
    now += 3_540_000;
    await source.open(recipient, never);
    expect(http.seen.filter(({ url }) => url.endsWith("/token"))).toHaveLength(2);
  });

  test.each([
    {
      name: "Google refuses the token of a user",
      http: recordedExchanges("gcp-user"),
      credentials: user,
      says: 'failed to decrypt sops data key with GCP KMS key: oauth2: "invalid_grant" "Token has been expired or revoked."',
    },
    {
      name: "KMS refuses",
      http: answering(403, {
        error: { code: 403, message: "Permission 'x' denied on resource y", status: "PERMISSION_DENIED" },
      }),
      credentials: account,
      says: "failed to decrypt sops data key with GCP KMS key: rpc error: code = PermissionDenied desc = Permission 'x' denied on resource y",
      token: true,
    },
  ])("cannot be decrypted if $name", async ({ http, credentials, says, token }) => {
    const tokens = recordedExchanges("gcp-kms");
    const either: RecordedExchanges = {
      seen: [],
      send: (request, signal) =>
        (token === true && request.url.endsWith("/token") ? tokens : http).send(request, signal),
    };
    await expect(sourceOf(either, credentials).open(recipient, never)).rejects.toThrow(new SopsFault(says));
  });

  test("is not requested with an invalid key name", async () => {
    const http = recordedExchanges("gcp-kms");
    const resourceId = "projects/web/locations/global/keyRings/../../../../evil";
    await expect(sourceOf(http, account).open({ ...recipient, resourceId }, never)).rejects.toThrow(
      "cannot create GCP KMS service: no valid resource ID found in",
    );
    expect(http.seen).toEqual([]);
  });
});

describe("Google credentials are refused without quoting them", () => {
  test.each([
    { name: "text", text: "hunter2", says: "the credentials are not JSON" },
    { name: "a list", text: "[1]", says: 'unknown credential type: "": give service_account or authorized_user' },
    {
      name: "a workload identity of another cloud",
      text: JSON.stringify({ type: "external_account", audience: "hunter2" }),
      says: 'unknown credential type: "external_account": give service_account or authorized_user',
    },
    {
      name: "missing fields",
      text: JSON.stringify({ type: "authorized_user", client_id: "hunter2" }),
      says: "credentials of type authorized_user lack or misspell client_secret, refresh_token",
    },
    {
      name: "an invalid key",
      text: JSON.stringify({ ...account, private_key: "hunter2" }),
      says: "private_key is not the PEM of an RSA key",
    },
    {
      name: "a token service that is a file",
      text: JSON.stringify({ ...account, token_uri: "file:///etc/hunter2" }),
      says: "credentials of type service_account lack or misspell token_uri",
    },
  ])("$name", ({ text, says }) => {
    expect(() => readGcpCredentials(text)).toThrow(new SopsFault(says));
  });
});
