import { randomUUID } from "node:crypto";
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig } from "../../lib/aws/aws-connection.ts";
import { mapLimit } from "../../lib/core/concurrency.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { Secret } from "../../lib/core/secret.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import type { ListedObject, ObjectStore } from "../../lib/sources/bucket/object-store.ts";
import { phaseOf } from "../../lib/sources/bucket/phase.ts";
import { type S3StoreOptions, s3Store } from "../../lib/sources/bucket/s3-store.ts";
import { deadlineMs, untilDeadline } from "../deadline.ts";
import { etagOf, type S3Server, s3Server } from "../doubles/s3-server.ts";
import { realAws } from "./real-aws.ts";

/** An S3 server under test, and how objects get there. */
interface Back {
  readonly options: Pick<S3StoreOptions, "credentials" | "endpoint" | "insecure">;
  create(bucket: string): Promise<void>;
  put(bucket: string, key: string, text: string): Promise<void>;
  remove(bucket: string, key: string): Promise<void>;
  close(): Promise<void>;
}

const phase = () => phaseOf(deadlineMs, systemClock, new AbortController().signal);

/** What a server of the S3 API has to do for Buckets; the double of other tests keeps to it as well. */
function bucketContract(name: string, open: () => Promise<Back>): void {
  describe(`a bucket of ${name}`, () => {
    const http = httpClient({ network: homeNetwork });
    let back: Back;
    beforeAll(async () => {
      back = await open();
    });
    afterAll(async () => {
      http.close();
      await back.close();
    });

    const storeOf = (bucket: string, more: Partial<S3StoreOptions> = {}): ObjectStore =>
      s3Store({ http, clock: systemClock, bucket, ...back.options, ...more });
    const filled = async (objects: Readonly<Record<string, string>>) => {
      const bucket = `sluice-${randomUUID()}`;
      await back.create(bucket);
      const signal = untilDeadline();
      await mapLimit(Object.entries(objects), 8, ([key, text]) => back.put(bucket, key, text), signal);
      return bucket;
    };
    const listed = async (store: ObjectStore, prefix = ""): Promise<readonly ListedObject[]> => {
      const found: ListedObject[] = [];
      for await (const page of store.list(prefix, phase())) found.push(...page);
      return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    };

    test("exists after it was created", async () => {
      expect(await storeOf(`sluice-${randomUUID()}`).exists(phase())).toBe(false);
      expect(await storeOf(await filled({})).exists(phase())).toBe(true);
    });

    test("lists its objects with their etags and sizes", async () => {
      const objects = { "a.yaml": "a", "sub/b c+d.yaml": "bb", "sub/ü&<>'\".yaml": "ccc" };
      const store = storeOf(await filled(objects));
      const wanted = Object.entries(objects).map(([key, text]) => ({
        key,
        etag: etagOf(Buffer.from(text)),
        size: text.length,
      }));
      expect(await listed(store)).toEqual(wanted);
      expect(await listed(store, "sub/")).toEqual(wanted.slice(1));
      for (const { key, etag } of wanted) {
        const found = await store.get(key, 100, phase());
        expect({ key, etag: found?.etag, size: found?.bytes.length }).toEqual({
          key,
          etag,
          size: wanted.find((one) => one.key === key)?.size,
        });
      }
    });

    test("lists all pages", async () => {
      const keys = Array.from({ length: 1_005 }, (_, index) => `f/${String(index).padStart(4, "0")}`);
      const store = storeOf(await filled(Object.fromEntries(keys.map((key) => [key, "x"]))));
      expect((await listed(store)).map(({ key }) => key)).toEqual(keys);
    });

    test("has no object that was never stored, or that was deleted", async () => {
      const bucket = await filled({ a: "a" });
      const store = storeOf(bucket);
      expect(await store.get("b", 100, phase())).toBeUndefined();
      await back.remove(bucket, "a");
      expect(await store.get("a", 100, phase())).toBeUndefined();
    });

    test("refuses a wrong key", async () => {
      const bucket = await filled({ a: "a" });
      const credentials = { accessKeyId: "nobody", secretAccessKey: new Secret("wrong") };
      await expect(storeOf(bucket, { credentials }).get("a", 100, phase())).rejects.toMatchObject({ reason: "answer" });
    });
  });
}

bucketContract("the double", async () => {
  const server: S3Server = await s3Server();
  server.accessKeyId = "AKIA";
  return {
    options: {
      endpoint: server.endpoint,
      insecure: true,
      credentials: { accessKeyId: "AKIA", secretAccessKey: new Secret("x") },
    },
    create: async (bucket) => void server.buckets.set(bucket, new Map()),
    put: async (bucket, key, text) => void server.buckets.get(bucket)?.set(key, Buffer.from(text)),
    remove: async (bucket, key) => void server.buckets.get(bucket)?.delete(key),
    close: async () => server[Symbol.asyncDispose](),
  };
});

const connection = realAws("S3");
describe.skipIf(connection === undefined)("where SLUICE_REAL_S3 names one (npm run real -- up)", () => {
  bucketContract("a real server", async () => {
    const of = connection ?? { region: "" };
    const client = new S3Client({ ...clientConfig(of), forcePathStyle: true });
    const { SLUICE_REAL_ACCESS_KEY_ID: accessKeyId = "x", SLUICE_REAL_SECRET_ACCESS_KEY: secret = "y" } = process.env;
    return {
      options: {
        endpoint: new URL(of.endpoint ?? "").host,
        insecure: true,
        credentials: { accessKeyId, secretAccessKey: new Secret(secret) },
      },
      create: async (Bucket) => void (await client.send(new CreateBucketCommand({ Bucket }))),
      put: async (Bucket, Key, Body) => void (await client.send(new PutObjectCommand({ Bucket, Key, Body }))),
      remove: async (Bucket, Key) => void (await client.send(new DeleteObjectCommand({ Bucket, Key }))),
      close: async () => client.destroy(),
    };
  });
});
