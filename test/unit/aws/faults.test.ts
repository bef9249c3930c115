import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { awsFault } from "../../../lib/aws/aws-fault.ts";
import { s3Artifacts } from "../../../lib/aws/s3/s3-artifacts.ts";
import { s3Client } from "../../../lib/aws/s3/s3-client.ts";
import { readSecret } from "../../../lib/aws/secrets/read-secret.ts";
import { sqsClient } from "../../../lib/aws/sqs/sqs-client.ts";
import { sqsVisibility } from "../../../lib/aws/sqs/sqs-visibility.ts";
import { sqsWakeUps } from "../../../lib/aws/sqs/sqs-wake-ups.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { faultyWire, type WireFault } from "../../doubles/faulty-wire.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };
const account = "111111111111";
const wakeUp = { key: "home/g/K/ns/web" };
const bytes = new TextEncoder().encode("an artifact");

function sqsError(status: number, type: string, message: string): WireFault {
  const body = JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message });
  return { status, body, headers: { "content-type": "application/x-amz-json-1.0" } };
}

function s3Error(status: number, code: string, message: string, headers: Record<string, string> = {}): WireFault {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body, headers: { "content-type": "application/xml", ...headers } };
}

/** The moment that a request was signed at, by its sender's clock. */
function signedAt({ headers }: IncomingMessage): number {
  return Date.parse(String(headers["x-amz-date"]).replace(/(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"));
}

/** Sends one wake-up over a wire with faults; what was thrown, and how many requests there were. */
async function sendOver(faultOf: (count: number) => WireFault, signal = never) {
  await using wire = await faultyWire(undefined, (_, count) => faultOf(count));
  const client = sqsClient({ region, endpoint: wire.url, credentials });
  const queue = { url: `${wire.url}/${account}/reconcile`, region };
  try {
    const error = await sqsWakeUps(client, queue)
      .send(wakeUp, 0, signal)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    return { error, requests: wire.seen.length, queue };
  } finally {
    client.destroy();
  }
}

const sent: WireFault = {
  status: 200,
  headers: { "content-type": "application/x-amz-json-1.0" },
  // The SDK compares it with what it sent.
  body: JSON.stringify({
    MessageId: "1",
    MD5OfMessageBody: createHash("md5").update(JSON.stringify(wakeUp)).digest("hex"),
  }),
};

describe("a queue", () => {
  test.each([
    ["throttles", sqsError(400, "RequestThrottled", "slow down")],
    ["has a fault", sqsError(500, "InternalFailure", "oops")],
    ["is not there for a moment", { status: 503 } as const],
  ])("that %s is asked again", async (_, fault) => {
    const { error, requests } = await sendOver((count) => (count < 2 ? fault : sent));
    expect([error, requests]).toEqual([undefined, 3]);
  });

  test.each([
    ["throttled", sqsError(400, "RequestThrottled", "slow down"), "AWS throttles it, also after several tries"],
    ["unavailable", { status: 503 } as const, "AWS has a fault of its own"],
  ])("that stays so is given up after four tries: %s", async (kind, fault, message) => {
    const { error, requests, queue } = await sendOver(() => fault);
    expect(error).toMatchObject({ kind, message: expect.stringContaining(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(`sqs:SendMessage on queue ${queue.url}`) });
    expect(requests).toBe(4);
  });

  test.each([
    ["ExpiredToken", "credentials", "the AWS credentials have expired"],
    ["InvalidClientTokenId", "credentials", "AWS does not accept the credentials"],
    ["QueueDoesNotExist", "missing", `there is none in region ${region}`],
    ["KmsAccessDenied", "key", "allow kms:Decrypt and kms:GenerateDataKey on it"],
    ["KmsDisabled", "key", "enable it"],
    ["RequestExpired", "clock", "this machine's clock is too far from AWS's"],
    ["AccessDenied", "denied", "allow sqs:SendMessage in the policy of the role"],
    ["InvalidMessageContents", "refused", "said so"],
  ])("that answers %s is not asked again", async (code, kind, message) => {
    const { error, requests } = await sendOver(() => sqsError(code === "AccessDenied" ? 403 : 400, code, "said so"));
    expect(error).toMatchObject({ kind, code, message: expect.stringContaining(message) });
    expect(requests).toBe(1);
  });

  test("is told of in one line that names it, whatever AWS says", async () => {
    const { error, queue } = await sendOver(() => sqsError(403, "AccessDenied", "not\n  allowed\r\n"));
    const why = "allow sqs:SendMessage in the policy of the role and of the resource (not allowed )";
    expect(error).toMatchObject({ message: `sqs:SendMessage on queue ${queue.url}: ${why}` });
  });

  test("of another account than the credentials' is told so", async () => {
    const said = "User: arn:aws:sts::222222222222:assumed-role/sluice/f is not authorized to perform: sqs:sendmessage";
    const { error } = await sendOver(() => sqsError(403, "AccessDenied", said));
    const why = `the credentials are of account 222222222222, it is of account ${account}`;
    expect(error).toMatchObject({ kind: "denied", message: expect.stringContaining(why) });
  });

  test.each([-300_000, 300_000])("whose clock differs by %i ms is asked again by its own time", async (ms) => {
    const dates: number[] = [];
    const date = new Date(Date.now() + ms);
    const skewed = sqsError(403, "InvalidSignatureException", "Signature expired or not yet current");
    await using wire = await faultyWire(undefined, (request, count) => {
      dates.push(signedAt(request));
      return count > 0 || typeof skewed !== "object" ? sent : { ...skewed, headers: { date: date.toUTCString() } };
    });
    const client = sqsClient({ region, endpoint: wire.url, credentials });
    await sqsWakeUps(client, { url: `${wire.url}/${account}/q`, region }).send(wakeUp, 0, never);
    const [before = Number.NaN, after = Number.NaN] = dates;
    expect(dates).toHaveLength(2);
    expect((after - before) * Math.sign(ms)).toBeGreaterThan(240_000);
    client.destroy();
  });

  test("that hangs is left when the run is", async () => {
    const reason = new Error("the time is up");
    const stop = new AbortController();
    const { error } = await sendOver(() => {
      stop.abort(reason);
      return "hang";
    }, stop.signal);
    expect(error).toBe(reason);
  });

  test("is not asked for a delay that it cannot give", async () => {
    const { error, requests } = await sendOver(() => sent);
    expect([error, requests]).toEqual([undefined, 1]);
    const wakeUps = sqsWakeUps(sqsClient({ region, credentials }), { url: "https://sqs.test/1/q", region });
    await expect(wakeUps.send({ key: "web" }, 900_001, never)).rejects.toThrow("store its dueAt instead");
  });

  test("that has handed the message to another is not asked to hide it", async () => {
    const said = "Reason: Message does not exist or is not available for visibility timeout change.";
    await using wire = await faultyWire(undefined, () => sqsError(400, "InvalidParameterValue", said));
    const client = sqsClient({ region, endpoint: wire.url, credentials });
    await sqsVisibility(client, { url: `${wire.url}/${account}/q`, region })("handle", 60_000, never);
    expect(wire.seen).toHaveLength(1);
    client.destroy();
  });
});

test("a good answer that cannot be read is not quoted, since it may be a secret", async () => {
  const headers = { "content-type": "application/x-amz-json-1.1" };
  await using wire = await faultyWire(undefined, () => ({ status: 200, headers, body: '{"SecretString":hunter2}' }));
  const error = await readSecret("s", { region, endpoint: wire.url, credentials }, never).catch(
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 10 })).not.toContain("hunter");
  const message = "secretsmanager:GetSecretValue on secret s: AWS's answer cannot be read";
  expect(error).toMatchObject({ kind: "unavailable", message });
});

test.each([
  [403, "denied", "allow secretsmanager:GetSecretValue in the policy of the role and of the resource"],
  [407, "refused", ""],
  [502, "unavailable", "AWS has a fault of its own, also after several tries"],
])("an answer %i of a proxy is %s, and not quoted", async (status, kind, message) => {
  await using wire = await faultyWire(undefined, () => ({ status, body: "<html>Proxy of ACME</html>" }));
  const error: unknown = await readSecret("s", { region, endpoint: wire.url, credentials }, never).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ kind, message: expect.stringContaining(message) });
  expect(error).toMatchObject({ message: expect.stringContaining("the answer is not AWS's own") });
  expect(error).toMatchObject({ message: expect.not.stringContaining("html") });
});

test("a transaction that is denied names the right that its part needs", () => {
  const said =
    "User: arn:aws:sts::111111111111:assumed-role/sluice/f is not authorized to perform: dynamodb:PutItem on t";
  const error = Object.assign(new Error(said), { name: "AccessDeniedException" });
  const fault = awsFault(error, { name: "dynamodb:TransactWriteItems", resource: "table t", region });
  expect(fault.message).toContain("dynamodb:TransactWriteItems on table t: allow dynamodb:PutItem in the policy");
});

describe("no credentials", () => {
  test("are named before anything is sent", async () => {
    await using wire = await faultyWire(undefined, () => sent);
    const nobody = async () => {
      throw Object.assign(new Error("Could not load credentials from any providers"), {
        name: "CredentialsProviderError",
      });
    };
    const client = sqsClient({ region, endpoint: wire.url, credentials: nobody });
    const wakeUps = sqsWakeUps(client, { url: `${wire.url}/${account}/q`, region });
    await expect(wakeUps.send({ key: "web" }, 0, never)).rejects.toMatchObject({
      kind: "credentials",
      message: expect.stringContaining("there are no AWS credentials"),
    });
    expect(wire.seen).toEqual([]);
    client.destroy();
  });
});

describe("a bucket", () => {
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
      kind: "elsewhere",
      message: expect.stringContaining("it lies in region eu-central-1, and eu-west-1 was asked"),
    });
  });

  test.each([
    ["ExpiredToken", 400, "credentials", "the AWS credentials have expired"],
    ["AccessDenied", 403, "denied", "allow s3:PutObject in the policy of the role and of the resource"],
    ["NoSuchBucket", 404, "missing", "there is none in region eu-west-1"],
    ["KMS.DisabledException", 400, "key", "the KMS key cannot be used"],
  ])("that answers %s is told from an artifact that is not there", async (code, status, kind, message) => {
    const { error } = await putOver(() => s3Error(status, code, "no"));
    expect(error).toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  test("whose clock is an hour ahead of ours is asked again by its own time", async () => {
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

  test.each([1_000, 20_000_000])(
    "has its account named in every request of an artifact of %i bytes",
    async (length) => {
      const owners: unknown[] = [];
      const large = new Uint8Array(length).fill(5);
      await using wire = await faultyWire(undefined, ({ headers, url = "" }) => {
        owners.push(headers["x-amz-expected-bucket-owner"]);
        const upload = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>";
        if (url.includes("uploads"))
          return { status: 200, headers: { "content-type": "application/xml" }, body: upload };
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
    },
  );

  test("that slows down is asked again", async () => {
    const { error, seen } = await putOver((count) => (count < 2 ? s3Error(503, "SlowDown", "slow") : { status: 200 }));
    expect([error, seen.length]).toEqual([undefined, 3]);
  });

  test("whose other writer is on the way is asked again, until nobody is", async () => {
    const { error, seen } = await putOver((count) => {
      if (count === 0) return s3Error(409, "ConditionalRequestConflict", "another write is on its way");
      return count === 1 ? s3Error(404, "NoSuchKey", "gone") : { status: 200 };
    });
    expect(error).toBeUndefined();
    expect(seen.map((request) => request.split(" ", 1).join(""))).toEqual(["PUT", "GET", "PUT"]);
  });
});

test("a name that is not known is as good as what its status says", () => {
  const action = { name: "s3:GetObject", resource: "bucket b", region };
  const error = Object.assign(new Error("?"), { name: "New", $metadata: { httpStatusCode: 403 }, $response: {} });
  expect(awsFault(error, action)).toMatchObject({ kind: "denied", code: "New" });
});
