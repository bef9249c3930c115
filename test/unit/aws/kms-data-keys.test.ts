import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { kmsDataKeys, maxCiphertextBytes, maxContextChars, maxContextPairs } from "../../../lib/aws/kms-data-keys.ts";
import type { KeyIdentity, SealedDataKey } from "../../../lib/core/ports/data-keys.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const account = "111111111111";
const sealed: SealedDataKey = {
  sealedBy: `arn:aws:kms:${region}:${account}:key/1234abcd-12ab-34cd-56ef-1234567890ab`,
  ciphertext: new Uint8Array([1, 2, 3]),
  context: { app: "web" },
};
const installation = (namespace: string): KeyIdentity => ({ kind: "installation", cluster: "c1", namespace });
const headers = { "content-type": "application/x-amz-json-1.1" };
const opened: WireFault = { status: 200, headers, body: JSON.stringify({ Plaintext: btoa("hunter2") }) };

function refusal(status: number, type: string, message: string): WireFault {
  return { status, headers, body: JSON.stringify({ __type: type, message }) };
}

/** Opens one data key over a wire that answers so; what was thrown or told, and how many requests there were. */
async function openOver(answer: WireFault, changed: Partial<SealedDataKey> = {}, namespace = "apps") {
  await using wire = await faultyWire(undefined, () => answer);
  const keys = kmsDataKeys({
    connection: { region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs },
    clock: systemClock,
    isAllowed: (tenant, key) => tenant.namespace === "apps" && key.sealedBy.includes(account),
  });
  const result: unknown = await keys
    .open({ ...sealed, ...changed }, installation(namespace), never)
    .then((secret) => secret.reveal())
    .catch((error: unknown) => error);
  keys.close();
  return { result, requests: wire.seen.length };
}

describe("KMS", () => {
  // Answers that no stand-in gives by itself: moto decrypts with disabled keys and with keys that are about to be deleted, and never throttles.
  test.each([
    ["AccessDeniedException", "denied", 1, "allow kms:Decrypt in the policy of the role and of the resource"],
    ["DisabledException", "unusable", 1, "the KMS key cannot be used; enable it"],
    ["ExpiredTokenException", "denied", 1, "the AWS credentials have expired"],
    ["IncorrectKeyException", "mismatched", 1, "it was sealed by another key"],
    ["InvalidCiphertextException", "mismatched", 1, "or for another encryption context"],
    ["InvalidKeyUsageException", "unusable", 1, "the KMS key cannot be used"],
    ["KMSInvalidStateException", "unusable", 1, "the KMS key cannot be used"],
    ["NotFoundException", "missing", 1, `it does not exist in region ${region}`],
    ["ThrottlingException", "unavailable", 4, "AWS throttles the call, even after several tries"],
    ["UnrecognizedClientException", "denied", 1, "AWS does not accept the credentials"],
    ["ValidationException", "malformed", 1, "said so"],
  ])("that answers %s gives %s, after %i attempts", async (type, reason, tries, message) => {
    const { result, requests } = await openOver(refusal(400, type, "said so"));
    const start = `kms:Decrypt on key ${sealed.sealedBy}: `;
    expect(result).toMatchObject({ name: "DataKeyError", reason, message: expect.stringContaining(start) });
    expect(result).toMatchObject({ message: expect.stringContaining(message) });
    expect(requests).toBe(tries);
  });

  test.each(["DependencyTimeoutException", "KMSInternalException", "KeyUnavailableException"])(
    "that has an internal error, %s, is called four times",
    async (type) => {
      const { result, requests } = await openOver(refusal(500, type, ""));
      expect(result).toMatchObject({
        reason: "unavailable",
        message: expect.stringContaining("AWS has an internal error"),
      });
      expect(requests).toBe(4);
    },
  );

  test("of another account than the credentials' is named with both accounts", async () => {
    const said = "User: arn:aws:sts::222222222222:assumed-role/sluice/f is not authorized to perform: kms:Decrypt";
    const { result } = await openOver(refusal(400, "AccessDeniedException", said));
    const why = `the credentials are of account 222222222222, it is of account ${account}`;
    expect(result).toMatchObject({ reason: "denied", message: expect.stringContaining(why) });
  });

  test("that returns an empty data key is an error", async () => {
    const { result } = await openOver({ status: 200, headers, body: "{}" });
    expect(result).toMatchObject({ reason: "mismatched", message: expect.stringContaining("the data key is empty") });
  });

  test("whose answer cannot be parsed is not quoted", async () => {
    const { result } = await openOver({ status: 200, headers, body: '{"Plaintext":hunter2}' });
    expect(result).toMatchObject({ reason: "unavailable" });
    expect(inspect(result, { depth: 10 })).not.toContain("hunter");
  });
});

describe("a data key", () => {
  test("is decrypted with the key that it names and the context that it is bound to", async () => {
    const bodies: unknown[] = [];
    await using wire = await faultyWire(undefined, (_, __, body) => {
      bodies.push(JSON.parse(body.toString()));
      return opened;
    });
    const connection = { region: "us-east-1", endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs };
    const keys = kmsDataKeys({ connection, clock: systemClock, isAllowed: () => true });
    await keys.open(sealed, installation("apps"), never);
    expect(bodies).toEqual([{ KeyId: sealed.sealedBy, CiphertextBlob: "AQID", EncryptionContext: { app: "web" } }]);
    keys.close();
  });

  test("of a key that the installation does not list for the namespace is not sent to KMS", async () => {
    const { result, requests } = await openOver(opened, {}, "other");
    const why = `does not lend its AWS identity to namespace other for it`;
    expect(result).toMatchObject({ reason: "denied", message: expect.stringContaining(why) });
    expect(result).toMatchObject({ message: expect.stringContaining(sealed.sealedBy) });
    expect(requests).toBe(0);
  });

  const arn = (region: string, resource: string): string => `arn:aws:kms:${region}:${account}:${resource}`;
  test.each<[string, Partial<SealedDataKey>, string]>([
    ["nothing", { ciphertext: new Uint8Array() }, "is empty"],
    ["too much", { ciphertext: new Uint8Array(maxCiphertextBytes + 1) }, "has 6145 bytes, KMS opens 6144 at most"],
    ["a key without an ARN", { sealedBy: "1234abcd" }, '"1234abcd" is not a key of KMS'],
    ["a region that is a host", { sealedBy: arn("evil.test/", "key/1") }, "is not a key of KMS"],
    ["another service", { sealedBy: `arn:aws:s3:${region}:${account}:key/1` }, "is not a key of KMS"],
    ["a name that does not end", { sealedBy: arn(region, `alias/${"a".repeat(2048)}`) }, "is not a key of KMS"],
    ["lines", { sealedBy: `${sealed.sealedBy}\nkey` }, "is not a key of KMS"],
    [
      "a context of many names",
      { context: Object.fromEntries(Array.from({ length: maxContextPairs + 1 }, (_, i) => [`${i}`, ""])) },
      "33 names",
    ],
    ["a long context", { context: { a: "x".repeat(maxContextChars) } }, "more than 8192 letters"],
  ])("of %s is malformed, and KMS is not called", async (_, changed, message) => {
    const { result, requests } = await openOver(opened, changed);
    expect(result).toMatchObject({ reason: "malformed", message: expect.stringContaining(message) });
    expect(requests).toBe(0);
  });
});

describe("the identity that decrypts a data key", () => {
  const role = "arn:aws:iam::222222222222:role/team";
  const session = (name: string) =>
    `<${name}Response><${name}Result><Credentials><AccessKeyId>SESSION</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></${name}Result></${name}Response>`;

  /** The requests that opening one data key makes: of STS its parameters, of each the access key that has signed it. */
  async function requestsOf(identity: KeyIdentity, changed: Partial<SealedDataKey> = {}) {
    const requests: Record<string, string>[] = [];
    await using wire = await faultyWire(undefined, ({ headers: { authorization = "" } }, _, body) => {
      const signedBy = /Credential=([^/]+)/.exec(authorization)?.[1] ?? "nobody";
      const parameters = Object.fromEntries(new URLSearchParams(body.toString()));
      const { Action: action } = parameters;
      requests.push(action === undefined ? { action: "Decrypt", signedBy } : { ...parameters, signedBy });
      return action === undefined
        ? opened
        : { status: 200, headers: { "content-type": "text/xml" }, body: session(action) };
    });
    const connection = { region: "us-east-1", endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs };
    const keys = kmsDataKeys({ connection, clock: systemClock, isAllowed: () => true });
    await keys.open({ ...sealed, ...changed }, identity, never);
    await keys.open({ ...sealed, ...changed }, identity, never);
    keys.close();
    return requests.map(({ Version: _version, DurationSeconds: _duration, ...request }) => request);
  }

  test("is the tenant's credentials if there are some, not the installation's", async () => {
    const secretAccessKey = new Secret("s");
    const decrypt = { action: "Decrypt", signedBy: "TENANT" };
    const identity = { kind: "static", accessKeyId: "TENANT", secretAccessKey, sessionToken: new Secret("t") } as const;
    expect(await requestsOf(identity)).toEqual([decrypt, decrypt]);
  });

  test("may be a role that the file names, which is assumed once", async () => {
    const decrypt = { action: "Decrypt", signedBy: "SESSION" };
    expect(await requestsOf(installation("apps"), { role })).toEqual([
      { Action: "AssumeRole", RoleArn: role, RoleSessionName: "sluice", signedBy: "x" },
      decrypt,
      decrypt,
    ]);
  });

  test("has a separate session for each role in each region", async () => {
    const signers: string[] = [];
    await using wire = await faultyWire(undefined, ({ headers: { authorization = "" } }, _, body) => {
      const { Action: action, RoleArn: assumed = "" } = Object.fromEntries(new URLSearchParams(body.toString()));
      if (action !== undefined) {
        const text = session(action).replace("SESSION", assumed.split("/").at(-1) ?? "");
        return { status: 200, headers: { "content-type": "text/xml" }, body: text };
      }
      signers.push(/Credential=([^/]+)\/[0-9]+\/([^/]+)/.exec(authorization)?.slice(1).join(" ") ?? "nobody");
      return opened;
    });
    const connection = { region: "us-east-1", endpoint: wire.url, credentials };
    const keys = kmsDataKeys({ connection, clock: systemClock, isAllowed: () => true });
    const far = sealed.sealedBy.replace(region, "eu-north-1");
    for (const changed of [{ role }, { role: `${role}-2` }, { role, sealedBy: far }, {}, { sealedBy: far }, { role }]) {
      await keys.open({ ...sealed, ...changed }, installation("apps"), never);
    }
    keys.close();
    expect(signers).toEqual([
      `team ${region}`,
      `team-2 ${region}`,
      "team eu-north-1",
      `x ${region}`,
      "x eu-north-1",
      `team ${region}`,
    ]);
  });

  test("may be the role of a service account, which only its token assumes", async () => {
    const decrypt = { action: "Decrypt", signedBy: "SESSION" };
    const token = async () => new Secret("a.b.c");
    expect(await requestsOf({ kind: "account", namespace: "apps", name: "web", role, token })).toEqual([
      {
        Action: "AssumeRoleWithWebIdentity",
        RoleArn: role,
        RoleSessionName: "web.apps.eu-west-1.sluice",
        WebIdentityToken: "a.b.c",
        signedBy: "nobody",
      },
      decrypt,
      decrypt,
    ]);
  });

  test("is refused before any request if the role is invalid", async () => {
    const { result, requests } = await openOver(opened, { role: "admin" });
    expect(result).toMatchObject({
      reason: "malformed",
      message: expect.stringContaining("names an invalid role"),
    });
    expect(requests).toBe(0);
  });
});
