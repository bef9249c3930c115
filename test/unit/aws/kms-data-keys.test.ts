import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { kmsDataKeys } from "../../../lib/aws/kms/kms-data-keys.ts";
import type { SealedDataKey } from "../../../lib/core/ports/data-keys.ts";
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
const headers = { "content-type": "application/x-amz-json-1.1" };
const opened: WireFault = { status: 200, headers, body: JSON.stringify({ Plaintext: btoa("hunter2") }) };

function refusal(status: number, type: string, message: string): WireFault {
  return { status, headers, body: JSON.stringify({ __type: type, message }) };
}

/** Opens one data key over a wire that answers so; what was thrown or told, and how many requests there were. */
async function openOver(answer: WireFault, changed: Partial<SealedDataKey> = {}, namespace = "apps") {
  await using wire = await faultyWire(undefined, () => answer);
  const keys = kmsDataKeys({
    connection: { region, endpoint: wire.url, credentials },
    isAllowed: (of, key) => of === "apps" && key.includes(account),
  });
  const result: unknown = await keys
    .open({ ...sealed, ...changed }, namespace, never)
    .then((secret) => secret.reveal())
    .catch((error: unknown) => error);
  keys.close();
  return { result, requests: wire.seen.length };
}

describe("KMS", () => {
  // What no stand-in says by itself: moto opens by disabled keys and by those about to be deleted, and throttles nobody.
  test.each([
    ["AccessDeniedException", "denied", 1, "allow kms:Decrypt in the policy of the role and of the resource"],
    ["DisabledException", "unusable", 1, "the KMS key cannot be used; enable it"],
    ["ExpiredTokenException", "denied", 1, "the AWS credentials have expired"],
    ["IncorrectKeyException", "mismatched", 1, "it was sealed by another key"],
    ["InvalidCiphertextException", "mismatched", 1, "or for another encryption context"],
    ["InvalidKeyUsageException", "unusable", 1, "the KMS key cannot be used"],
    ["KMSInvalidStateException", "unusable", 1, "the KMS key cannot be used"],
    ["NotFoundException", "missing", 1, `there is none in region ${region}`],
    ["ThrottlingException", "unavailable", 4, "AWS throttles it, also after several tries"],
    ["UnrecognizedClientException", "denied", 1, "AWS does not accept the credentials"],
    ["ValidationException", "malformed", 1, "said so"],
  ])("that answers %s is understood as %s, after %i tries", async (type, kind, tries, message) => {
    const { result, requests } = await openOver(refusal(400, type, "said so"));
    const start = `kms:Decrypt on key ${sealed.sealedBy}: `;
    expect(result).toMatchObject({ name: "DataKeyError", kind, message: expect.stringContaining(start) });
    expect(result).toMatchObject({ message: expect.stringContaining(message) });
    expect(requests).toBe(tries);
  });

  test.each(["DependencyTimeoutException", "KMSInternalException", "KeyUnavailableException"])(
    "that has a fault of its own, %s, is asked four times",
    async (type) => {
      const { result, requests } = await openOver(refusal(500, type, ""));
      expect(result).toMatchObject({ kind: "unavailable", message: expect.stringContaining("AWS has a fault") });
      expect(requests).toBe(4);
    },
  );

  test("of another account than the credentials' is told so", async () => {
    const said = "User: arn:aws:sts::222222222222:assumed-role/sluice/f is not authorized to perform: kms:Decrypt";
    const { result } = await openOver(refusal(400, "AccessDeniedException", said));
    const why = `the credentials are of account 222222222222, it is of account ${account}`;
    expect(result).toMatchObject({ kind: "denied", message: expect.stringContaining(why) });
  });

  test("that opens it to nothing is not believed", async () => {
    const { result } = await openOver({ status: 200, headers, body: "{}" });
    expect(result).toMatchObject({ kind: "mismatched", message: expect.stringContaining("the data key is empty") });
  });

  test("that answers what cannot be read is not quoted", async () => {
    const { result } = await openOver({ status: 200, headers, body: '{"Plaintext":hunter2}' });
    expect(result).toMatchObject({ kind: "unavailable" });
    expect(inspect(result, { depth: 10 })).not.toContain("hunter");
  });
});

describe("a data key", () => {
  test("is opened with the key that it names and the context that it is bound to", async () => {
    const bodies: unknown[] = [];
    await using wire = await faultyWire(undefined, (_, __, body) => {
      bodies.push(JSON.parse(body.toString()));
      return opened;
    });
    const connection = { region: "us-east-1", endpoint: wire.url, credentials };
    const keys = kmsDataKeys({ connection, isAllowed: () => true });
    await keys.open(sealed, "apps", never);
    expect(bodies).toEqual([{ KeyId: sealed.sealedBy, CiphertextBlob: "AQID", EncryptionContext: { app: "web" } }]);
    keys.close();
  });

  test("of a key that the installation lends to no object of the namespace is not asked for", async () => {
    const { result, requests } = await openOver(opened, {}, "other");
    const why = `does not lend its AWS identity to namespace other for it`;
    expect(result).toMatchObject({ kind: "denied", message: expect.stringContaining(why) });
    expect(result).toMatchObject({ message: expect.stringContaining(sealed.sealedBy) });
    expect(requests).toBe(0);
  });

  const arn = (region: string, resource: string): string => `arn:aws:kms:${region}:${account}:${resource}`;
  test.each<[string, Partial<SealedDataKey>, string]>([
    ["nothing", { ciphertext: new Uint8Array() }, "is empty"],
    ["too much", { ciphertext: new Uint8Array(6145) }, "has 6145 bytes, KMS opens 6144 at most"],
    ["a key without an ARN", { sealedBy: "1234abcd" }, '"1234abcd" is no key of KMS'],
    ["a region that is a host", { sealedBy: arn("evil.test/", "key/1") }, "is no key of KMS"],
    ["another service", { sealedBy: `arn:aws:s3:${region}:${account}:key/1` }, "is no key of KMS"],
    ["a name that does not end", { sealedBy: arn(region, `alias/${"a".repeat(2048)}`) }, "is no key of KMS"],
    ["lines", { sealedBy: `${sealed.sealedBy}\nkey` }, "is no key of KMS"],
    [
      "a context of many names",
      { context: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`${i}`, ""])) },
      "33 names",
    ],
    ["a long context", { context: { a: "x".repeat(8192) } }, "more than 8192 letters"],
  ])("of %s is malformed, and nobody is asked", async (_, changed, message) => {
    const { result, requests } = await openOver(opened, changed);
    expect(result).toMatchObject({ kind: "malformed", message: expect.stringContaining(message) });
    expect(requests).toBe(0);
  });
});
