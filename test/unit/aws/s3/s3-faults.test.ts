import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { maxArtifactBytes, s3Artifacts } from "../../../../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../../../../lib/aws/s3/s3-bucket.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { faultyWire, type WireFault } from "../../../doubles/faulty-wire.ts";
import { signedAt } from "../signed-at.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const account = "111111111111";
const bytes = new TextEncoder().encode("an artifact");

function s3Error(status: number, code: string, message: string, headers: Record<string, string> = {}): WireFault {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body, headers: { "content-type": "application/xml", ...headers } };
}

describe("an S3 bucket", () => {
  async function putOver(faultOf: (count: number) => WireFault) {
    await using wire = await faultyWire(undefined, (_, count) => faultOf(count));
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const store = s3Artifacts({
      bucket: { client, name: "artifacts", region, account },
      prefix: "",
      clock: systemClock,
    });
    try {
      const error = await store.put(digestOf(bytes), bytes, never).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      return { error, seen: wire.seen };
    } finally {
      client.destroy();
    }
  }

  test("in another region is named with that region", async () => {
    const elsewhere = s3Error(301, "PermanentRedirect", "use the other endpoint", {
      "x-amz-bucket-region": "eu-central-1",
    });
    const { error } = await putOver(() => elsewhere);
    expect(error).toMatchObject({
      reason: "elsewhere",
      message: expect.stringContaining("it is in region eu-central-1, but the call went to eu-west-1"),
    });
  });

  test.each([
    ["ExpiredToken", 400, "credentials", "the AWS credentials have expired"],
    ["AccessDenied", 403, "denied", "allow s3:PutObject in the policy of the role and of the resource"],
    ["NoSuchBucket", 404, "missing", "it does not exist in region eu-west-1"],
    ["KMS.DisabledException", 400, "key", "the KMS key cannot be used"],
  ])("that answers %s is distinguished from a missing artifact", async (code, status, reason, message) => {
    const { error } = await putOver(() => s3Error(status, code, "no"));
    expect(error).toMatchObject({ reason, message: expect.stringContaining(message) });
  });

  test("whose clock is an hour ahead of ours is retried with its own time", async () => {
    const serverTime = new Date(Date.now() + 3_600_000);
    const dates: number[] = [];
    await using wire = await faultyWire(undefined, (request, count) => {
      dates.push(signedAt(request));
      const skewed = s3Error(403, "RequestTimeTooSkewed", "too skewed", { date: serverTime.toUTCString() });
      return count === 0 ? skewed : { status: 200 };
    });
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const store = s3Artifacts({ bucket: { client, name: "artifacts", region }, prefix: "", clock: systemClock });
    await store.put(digestOf(bytes), bytes, never);
    const [before = Number.NaN, after = Number.NaN] = dates;
    expect(dates).toHaveLength(2);
    expect(after - before).toBeGreaterThan(3_000_000);
    client.destroy();
  });

  test.each([1_000, 20_000_000])("gets its account in every request for an artifact of %i bytes", async (length) => {
    const owners: unknown[] = [];
    const large = new Uint8Array(length).fill(5);
    await using wire = await faultyWire(undefined, ({ headers, url = "" }) => {
      owners.push(headers["x-amz-expected-bucket-owner"]);
      const upload = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>";
      if (url.includes("uploads")) return { status: 200, headers: { "content-type": "application/xml" }, body: upload };
      return owners.length < 3 ? { status: 200 } : s3Error(403, "AccessDenied", "Access Denied");
    });
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const bucket = { client, name: "artifacts", region, account };
    const store = s3Artifacts({ bucket, prefix: "", clock: systemClock });
    await store.put(digestOf(large), large, never).catch(() => undefined);
    await store.get(digestOf(large), never).catch(() => undefined);
    expect(owners.length).toBeGreaterThan(1);
    expect(new Set(owners)).toEqual(new Set([account]));
    client.destroy();
  });

  test.each([1_000, 20_000_000])("stores an artifact of %i bytes only if there is none", async (length) => {
    const conditions: unknown[] = [];
    await using wire = await faultyWire(undefined, ({ headers, method, url = "" }) => {
      const xml = { status: 200, headers: { "content-type": "application/xml", etag: '"1"' } };
      if (url.includes("uploads")) {
        const upload = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>";
        return { ...xml, body: upload };
      }
      // What makes the object appear: the whole of it, or the end of its parts.
      if (method === "POST" || !url.includes("partNumber")) conditions.push(headers["if-none-match"]);
      return { ...xml, body: method === "POST" ? "<CompleteMultipartUploadResult/>" : "" };
    });
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const store = s3Artifacts({
      bucket: { client, name: "artifacts", region, account },
      prefix: "",
      clock: systemClock,
    });
    const large = new Uint8Array(length).fill(5);
    await store.put(digestOf(large), large, never);
    expect(conditions).toEqual(["*"]);
    client.destroy();
  });

  test("returns no object that is longer than any artifact, and reads nothing of it", async () => {
    const told = async (length: number) => {
      // The connection ends where the content should begin.
      const headers = { "content-length": String(length), etag: "e", connection: "close" };
      await using wire = await faultyWire(undefined, () => ({ status: 200, headers, body: "" }));
      const client = s3Client({ region, endpoint: wire.url, credentials });
      const store = s3Artifacts({
        bucket: { client, name: "artifacts", region, account },
        prefix: "",
        clock: systemClock,
      });
      const error = await store.get(digestOf(bytes), never).catch(String);
      client.destroy();
      return String(error);
    };
    const refused = `is longer than ${maxArtifactBytes} bytes`;
    expect(await told(maxArtifactBytes + 1)).toContain(refused);
    expect(await told(maxArtifactBytes)).not.toContain(refused);
    expect(await told(maxArtifactBytes - 1)).not.toContain(refused);
  });

  test.each([
    ["the artifact", "an artifact", "an artifact"],
    ["other bytes of its length", "en artifact", undefined],
    ["a part of it", "an art", undefined],
  ])("that has %s under a digest returns only bytes that match it", async (_, held, found) => {
    const headers = { "content-length": String(held.length), etag: "e" };
    await using wire = await faultyWire(undefined, () => ({ status: 200, headers, body: held }));
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const store = s3Artifacts({ bucket: { client, name: "artifacts", region }, prefix: "", clock: systemClock });
    const got = await store.get(digestOf(bytes), never);
    expect(got === undefined ? undefined : new TextDecoder().decode(got)).toBe(found);
    client.destroy();
  });

  test("that answers SlowDown is retried", async () => {
    const { error, seen } = await putOver((count) => (count < 2 ? s3Error(503, "SlowDown", "slow") : { status: 200 }));
    expect([error, seen.length]).toEqual([undefined, 3]);
  });

  test("with a concurrent writer is retried until there is none", async () => {
    const { error, seen } = await putOver((count) => {
      if (count === 0) return s3Error(409, "ConditionalRequestConflict", "another write is on its way");
      return count === 1 ? s3Error(404, "NoSuchKey", "gone") : { status: 200 };
    });
    expect(error).toBeUndefined();
    expect(seen.map((request) => request.split(" ", 1).join(""))).toEqual(["PUT", "GET", "PUT"]);
  });

  /** Looks for an artifact in a bucket that answers HEAD so, and GET with these bytes. */
  async function hasOver(head: WireFault, got: WireFault) {
    await using wire = await faultyWire(undefined, ({ method }) => (method === "HEAD" ? head : got));
    const client = s3Client({ region, endpoint: wire.url, credentials });
    const store = s3Artifacts({ bucket: { client, name: "artifacts", region }, prefix: "", clock: systemClock });
    const found = await store.has(digestOf(bytes), never).catch((error: unknown) => error);
    client.destroy();
    return { found, asked: wire.seen.map((line) => line.split(" ")[0]) };
  }
  const checksumOf = (content: Uint8Array | string) => createHash("sha256").update(content).digest("base64");
  const answerWith = (body: string): WireFault => ({
    status: 200,
    headers: { "content-length": `${body.length}` },
    body,
  });

  test.each([
    ["has no checksum of", {}],
    ["has the checksum of parts of", { "x-amz-checksum-sha256": `${checksumOf(bytes)}-2` }],
    ["has another checksum of", { "x-amz-checksum-sha256": checksumOf("another") }],
  ])("that %s an artifact sends its bytes, and their digest decides", async (_, headers) => {
    expect(await hasOver({ status: 200, headers }, answerWith("an artifact"))).toEqual({
      found: true,
      asked: ["HEAD", "GET"],
    });
    const damaged = answerWith("something else");
    expect(await hasOver({ status: 200, headers }, damaged)).toEqual({ found: false, asked: ["HEAD", "GET"] });
  });

  test.each([403, 404])(
    "that refuses to be asked for a checksum with %i says why when the artifact is read",
    async (status) => {
      const { found } = await hasOver({ status }, s3Error(404, "NoSuchBucket", "no"));
      expect(found).toMatchObject({
        reason: "missing",
        message: expect.stringContaining("it does not exist in region"),
      });
    },
  );
});
