import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { artifactKey, unnamedKey } from "../../lib/aws/s3/artifact-keys.ts";
import { createObject } from "../../lib/aws/s3/create-object.ts";
import { s3ArtifactCollection } from "../../lib/aws/s3/s3-artifact-collection.ts";
import { s3Artifacts } from "../../lib/aws/s3/s3-artifacts.ts";
import { type S3Bucket, s3Client } from "../../lib/aws/s3/s3-bucket.ts";
import { Digest, digestOf } from "../../lib/core/digest.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { faultyWire } from "../doubles/faulty-wire.ts";
import { addS3Account } from "../real/eks/s3-account.ts";
import { artifactStoreContract } from "./artifact-store.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("S3");
const realAccessKeyId = process.env["SLUICE_REAL_ACCESS_KEY_ID"] ?? "x";
const prefix = "artifacts/";
const bytes = new TextEncoder().encode("a");
const digest = digestOf(bytes);
/** Long enough for three parts. */
const large = new Uint8Array(20_000_000).fill(7);

describe.skipIf(connection === undefined)("where SLUICE_REAL_S3 names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };
  let client: S3Client;
  beforeAll(() => {
    client = s3Client(of);
  });
  afterAll(() => client.destroy());

  async function createBucket(): Promise<S3Bucket> {
    const bucket = { client, name: randomUUID(), region: of.region };
    await client.send(new CreateBucketCommand({ Bucket: bucket.name }));
    return bucket;
  }
  const storeIn = (bucket: S3Bucket) => s3Artifacts({ bucket, prefix, clock: systemClock });
  const damage = (bucket: S3Bucket, digest: string) =>
    client.send(
      new PutObjectCommand({
        Bucket: bucket.name,
        Key: artifactKey(prefix, Digest.parse(digest)),
        Body: "something else",
      }),
    );

  /** Waits until an object that is written has a later time than one that was written before: S3 tells whole seconds. */
  async function nextSecond({ name: Bucket }: S3Bucket): Promise<void> {
    const written = async (): Promise<number> => {
      await client.send(new PutObjectCommand({ Bucket, Key: "now", Body: "" }));
      return (await client.send(new HeadObjectCommand({ Bucket, Key: "now" }))).LastModified?.getTime() ?? 0;
    };
    const before = await written();
    await expect.poll(written, { timeout: 60_000 }).toBeGreaterThan(before);
  }

  artifactStoreContract("S3", async () => {
    const bucket = await createBucket();
    return {
      store: s3Artifacts({ bucket, prefix, clock: systemClock, refreshAfterMs: -60_000 }),
      collection: s3ArtifactCollection({ bucket, prefix, unnamedKey }),
      pass: () => nextSecond(bucket),
      damage: async (digest) => void (await damage(bucket, digest)),
      close: async () => undefined,
    };
  });

  test("a large artifact is uploaded in parts, also by many writers at once, and leaves no part behind", async () => {
    const bucket = await createBucket();
    const digest = digestOf(large);
    await Promise.all([1, 2, 3].map(() => storeIn(bucket).put(digest, large, never)));
    const found = await storeIn(bucket).get(digest, never);
    expect(found === undefined ? undefined : digestOf(found)).toBe(digest);
    expect(await storeIn(bucket).has(digest, never)).toBe(true);
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket.name }));
    expect(Contents.map(({ Size }) => Size)).toEqual([large.length]);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket.name }));
    expect(Uploads).toEqual([]);
  });

  test.each([
    ["an artifact", new TextEncoder().encode("an artifact"), 20],
    ["a large artifact", large, 4],
  ])("of many concurrent writers of %s exactly one gets stored", async (_, bytes, writers) => {
    const bucket = await createBucket();
    const digest = digestOf(bytes);
    const key = artifactKey(prefix, digest);
    const write = () => createObject(bucket, key, digest, bytes, { IfNoneMatch: "*" }, never);
    const answers = await Promise.all(Array.from({ length: writers }, write));
    expect(answers.filter((answer) => answer === "stored")).toHaveLength(1);
  });

  test("bytes that change during the upload are refused and not stored", async () => {
    const bucket = await createBucket();
    const bytes = new TextEncoder().encode("an artifact");
    const key = artifactKey(prefix, digestOf(bytes));
    await using wire = await faultyWire(of.endpoint, () => ({ onward: "another one" }));
    const through = s3Client({ ...of, endpoint: wire.url });
    const write = createObject(
      { ...bucket, client: through },
      key,
      digestOf(bytes),
      bytes,
      { IfNoneMatch: "*" },
      never,
    );
    await expect(write).rejects.toMatchObject({
      reason: "refused",
      message: expect.stringContaining(`s3:PutObject on bucket ${bucket.name}: `),
    });
    expect(await storeIn(bucket).get(digestOf(bytes), never)).toBeUndefined();
    through.destroy();
  });

  test.each([300_000, -300_000])("a function whose clock is wrong by %i ms can still store", async (ms) => {
    const bucket = await createBucket();
    const bytes = new TextEncoder().encode(`${ms}`);
    const skewed = s3Client(of);
    skewed.config.systemClockOffset = ms;
    await storeIn({ ...bucket, client: skewed }).put(digestOf(bytes), bytes, never);
    expect((await storeIn(bucket).get(digestOf(bytes), never))?.length).toBe(bytes.length);
    skewed.destroy();
  });

  test("a large artifact that was damaged is replaced completely", async () => {
    const bucket = await createBucket();
    const digest = digestOf(large);
    await storeIn(bucket).put(digest, large, never);
    await damage(bucket, digest);
    await storeIn(bucket).put(digest, large, never);
    expect((await storeIn(bucket).get(digest, never))?.length).toBe(large.length);
  });

  test("an aborted upload stores nothing and leaves no part behind", async () => {
    const bucket = await createBucket();
    const reason = new Error("the lease is lost");
    const stop = new AbortController();
    client.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName === "UploadPartCommand") stop.abort(reason);
        return next(args);
      },
      { step: "initialize", name: "stop" },
    );
    try {
      await expect(storeIn(bucket).put(digestOf(large), large, stop.signal)).rejects.toBe(reason);
    } finally {
      client.middlewareStack.remove("stop");
    }
    expect(await storeIn(bucket).get(digestOf(large), never)).toBeUndefined();
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket.name }));
    expect(Uploads).toEqual([]);
  });

  test("is asked for the checksum of an artifact, and does not send its bytes", async () => {
    const bucket = await createBucket();
    await storeIn(bucket).put(digest, bytes, never);
    await using wire = await faultyWire(of.endpoint, () => "pass");
    const through = s3Client({ ...of, endpoint: wire.url });
    expect(await storeIn({ ...bucket, client: through }).has(digest, never)).toBe(true);
    expect(wire.seen).toEqual([expect.stringMatching(/^HEAD /)]);
    through.destroy();
  });

  test("the key of an artifact is never below the key of another", async () => {
    const bucket = await createBucket();
    for (let index = 0; index < 40; index++) {
      const bytes = new TextEncoder().encode(`${index}`);
      await storeIn(bucket).put(digestOf(bytes), bytes, never);
    }
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket.name }));
    const keys = Contents.map(({ Key = "" }) => Key);
    expect(keys).toHaveLength(40);
    expect(keys.filter((key) => keys.some((other) => other.startsWith(`${key}/`)))).toEqual([]);
  });

  test.each([
    ["an artifact", new TextEncoder().encode("an artifact"), "PUT"],
    ["a large artifact's last part", large, "POST"],
  ])("%s whose answer was lost is found to be stored already", async (_, bytes, method) => {
    const bucket = await createBucket();
    const digest = digestOf(bytes);
    let hasLost = false;
    await using wire = await faultyWire(of.endpoint, (request) => {
      const isLast = request.method === method && !(request.url ?? "").includes("uploads");
      if (hasLost || !isLast) return "pass";
      hasLost = true;
      return "lost";
    });
    const through = s3Client({ ...of, endpoint: wire.url });
    await storeIn({ ...bucket, client: through }).put(digest, bytes, never);
    expect(hasLost).toBe(true);
    expect((await storeIn(bucket).get(digest, never))?.length).toBe(bytes.length);
    through.destroy();
  });

  test("an answer that is cut off is an error, never half an artifact", async () => {
    const bucket = await createBucket();
    const bytes = new Uint8Array(1_000_000).fill(3);
    await storeIn(bucket).put(digestOf(bytes), bytes, never);
    await using wire = await faultyWire(of.endpoint, () => "cut");
    const through = s3Client({ ...of, endpoint: wire.url });
    await expect(storeIn({ ...bucket, client: through }).get(digestOf(bytes), never)).rejects.toMatchObject({
      reason: "unreachable",
    });
    through.destroy();
  });

  test("a missing bucket and unknown credentials are named with a mend", async () => {
    const bucket = await createBucket();
    const bytes = new TextEncoder().encode("a");
    const missing = { ...bucket, name: "no-such-bucket" };
    await expect(storeIn(missing).put(digestOf(bytes), bytes, never)).rejects.toMatchObject({
      reason: "missing",
      message: expect.stringContaining("s3:PutObject on bucket no-such-bucket: it does not exist in region"),
    });
    await expect(storeIn(missing).get(digestOf(bytes), never)).rejects.toMatchObject({ reason: "missing" });
    await expect(storeIn(missing).has(digestOf(bytes), never)).rejects.toMatchObject({ reason: "missing" });
    const strangers = s3Client({ ...of, credentials: { accessKeyId: realAccessKeyId, secretAccessKey: "wrong" } });
    const foreign = { ...bucket, client: strangers };
    await expect(storeIn(foreign).get(digestOf(bytes), never)).rejects.toMatchObject({
      reason: "credentials",
      message: expect.stringContaining("AWS does not accept the credentials"),
    });
    strangers.destroy();
  });

  test("a bucket in another region is named with that region", async () => {
    const bucket = await createBucket();
    const astray = s3Client({ ...of, region: "us-east-1" });
    const store = storeIn({ ...bucket, client: astray, region: "us-east-1" });
    const elsewhere = expect.objectContaining({
      reason: "elsewhere",
      message: expect.stringMatching(
        /it is not in this region, but the call went to us-east-1; .*expecting "eu-west-1"/,
      ),
    });
    await expect(store.put(digest, bytes, never)).rejects.toEqual(elsewhere);
    await expect(store.get(digest, never)).rejects.toEqual(elsewhere);
    await expect(store.has(digest, never)).rejects.toEqual(elsewhere);
    astray.destroy();
  });

  test("a bucket policy that grants only one of two permissions gives an error that names the missing one", async () => {
    const bucket = await createBucket();
    const key = { accessKeyId: randomUUID().replaceAll("-", ""), secretAccessKey: randomUUID() };
    await addS3Account(of, key, "user");
    const guest = s3Client({ ...of, credentials: key });
    const store = storeIn({ ...bucket, client: guest });
    const denied = (action: string) => ({
      reason: "denied",
      message: expect.stringContaining(
        `${action} on bucket ${bucket.name}: allow ${action} in the policy of the role and of the resource`,
      ),
    });
    await expect(store.put(digest, bytes, never)).rejects.toMatchObject(denied("s3:PutObject"));
    await expect(store.get(digest, never)).rejects.toMatchObject(denied("s3:GetObject"));
    const statement = {
      Effect: "Allow",
      Principal: { AWS: [key.accessKeyId] },
      Action: ["s3:PutObject"],
      Resource: [`arn:aws:s3:::${bucket.name}/*`],
    };
    const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
    await client.send(new PutBucketPolicyCommand({ Bucket: bucket.name, Policy }));
    await store.put(digest, bytes, never);
    await expect(store.get(digest, never)).rejects.toMatchObject(denied("s3:GetObject"));
    expect(await storeIn(bucket).get(digest, never)).toEqual(Buffer.from(bytes));
    guest.destroy();
  });
});
