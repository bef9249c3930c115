import { describe, expect, test } from "vitest";
import { contentOf } from "../../../../lib/flows/bucket/stored-index.ts";
import { patternsOf } from "../../../../lib/sources/archive/archive-tree.ts";
import { defaultArchiveLimits } from "../../../../lib/sources/archive/unpack.ts";
import { maxAnswerBytes, maxPageBytes } from "../../../../lib/sources/bucket/bounded-requests.ts";
import { bucketIndex, maxIndexBytes } from "../../../../lib/sources/bucket/bucket-index.ts";
import { fetchObjects } from "../../../../lib/sources/bucket/fetch-objects.ts";
import {
  listObjects,
  maxEtagBytes,
  maxListedObjects,
  maxListPages,
  maxObjectKeyBytes,
} from "../../../../lib/sources/bucket/list-objects.ts";
import { BucketFault, type ListedObject } from "../../../../lib/sources/bucket/object-store.ts";
import { s3Store } from "../../../../lib/sources/bucket/s3-store.ts";
import { phase, recordedHttp } from "./recorded-http.ts";

/** The fault of a listing of these pages; undefined if there is none. */
async function listing(
  pages: () => Iterable<readonly ListedObject[]>,
  { maxEntries = defaultArchiveLimits.maxEntries, ignore = "" } = {},
): Promise<string | undefined> {
  const store = {
    async *list() {
      yield* pages();
    },
  };
  const what = { index: bucketIndex({ maxEntries }), patterns: patternsOf([ignore]), prefix: "" };
  return listObjects(store, what, phase()).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

const object = (key: string, etag = "e"): ListedObject => ({ key, etag, size: 1 });

describe("a listing of a bucket", () => {
  test("with many ignored objects is read to its end and stores none of them", async () => {
    const page = Array.from({ length: 1_000 }, (_, index) => object(`cache/${index}`));
    const many = function* () {
      for (let count = 0; count < 100; count++) yield page;
    };
    expect(await listing(many, { ignore: "cache/", maxEntries: 10 })).toBeUndefined();
  });

  test("with too many objects is aborted", async () => {
    const page = Array.from({ length: 500_000 }, () => object("x/"));
    const times = (count: number) => () => Array.from({ length: count }, () => page);
    expect(maxListedObjects).toBe(4 * page.length);
    expect(await listing(times(4))).toBeUndefined();
    expect(await listing(() => [...times(4)(), [object("x/")]])).toBe(
      `the listing has more than ${maxListedObjects} objects: set spec.prefix to list fewer`,
    );
  });

  test("with endless pages is aborted", async () => {
    const empty = (count: number) => () => Array.from({ length: count }, () => []);
    expect(await listing(empty(maxListPages))).toBeUndefined();
    expect(await listing(empty(maxListPages + 1))).toContain(`more than ${maxListPages} pages`);
  });

  test.each([
    ["k".repeat(maxObjectKeyBytes), "e", false],
    ["k".repeat(maxObjectKeyBytes + 1), "e", true],
    ["k", "e".repeat(maxEtagBytes), false],
    ["k", "e".repeat(maxEtagBytes + 1), true],
    ["", "e", true],
  ])("has keys and etags of a limited length", async (key, etag, isRefused) => {
    const fault = await listing(() => [[object(key, etag)]]);
    expect(fault !== undefined).toBe(isRefused);
  });

  test("with more objects than an artifact may have is aborted", async () => {
    const page = ["a", "b", "c"].map((key) => object(key));
    expect(await listing(() => [page], { maxEntries: 3 })).toBeUndefined();
    expect(await listing(() => [[...page, object("d")]], { maxEntries: 3 })).toContain("more than 3 objects to fetch");
  });

  test("with too many bytes of keys is aborted", async () => {
    const long = (count: number) => () => [
      Array.from({ length: count }, (_, index) => object(String(index).padStart(1_000, "k"), "e".repeat(24))),
    ];
    expect(maxIndexBytes).toBe(32_768 * 1_024);
    expect(await listing(long(32_768))).toBeUndefined();
    expect(await listing(long(32_769))).toContain(`more than ${maxIndexBytes} bytes`);
  });
});

describe("the requests for a bucket", () => {
  test("limit the bytes that they read of each answer", async () => {
    const { http, sent } = recordedHttp(({ url }) => ({ body: url.includes("list") ? "<ListBucketResult/>" : "<L/>" }));
    const address = { endpoint: "s3.test", insecure: true, bucket: "things" };
    const store = s3Store({ http, ...address, clock: { now: () => 0 } });
    await store.exists(phase());
    for await (const _page of store.list("", phase()));
    expect(sent.map(({ maxBytes }) => maxBytes)).toEqual([maxAnswerBytes, maxAnswerBytes, maxPageBytes]);
  });
});

describe("the objects of a bucket", () => {
  const content = (bytes: number) => ({ get: async () => ({ bytes: new Uint8Array(bytes), etag: "e" }) });
  const fetchOf = async (listed: number, store: Parameters<typeof fetchObjects>[1]["store"]) => {
    const index = bucketIndex(defaultArchiveLimits);
    index.add({ key: "a", etag: "e", size: listed });
    const what = { store, stored: new Map(), limits: { maxBytes: 2_048 }, gone: () => undefined };
    return fetchObjects(index, what, phase()).then(
      (found) => found.get("a")?.length,
      (error: Error) => error.message,
    );
  };

  test("whose stored content is reused keep no other part of the stored archive in memory", () => {
    const piece = Buffer.from("new,old");
    const file = (path: string, bytes: Uint8Array) => ({ type: "file", path, mode: 0o600, bytes }) as const;
    const entries = [file("a", piece.subarray(0, 3)), file("b", piece.subarray(4))];
    const contents = contentOf(entries, new Map([["a", "/a"]]));
    expect(entries).toEqual([]);
    expect(Array.from(contents, ([key, { buffer }]) => [key, Buffer.from(buffer).toString()])).toEqual([["/a", "new"]]);
  });

  test("that have all grown are each measured once more, not with every object before them", async () => {
    let measured = 0;
    class Measured extends Uint8Array<ArrayBuffer> {
      override get length(): number {
        measured++;
        return this.byteLength;
      }
    }
    const index = bucketIndex(defaultArchiveLimits);
    for (let count = 0; count < 100; count++) index.add({ key: `${count}`, etag: "e", size: 0 });
    const store = {
      get: async (_key: string, maxBytes: number) => {
        if (maxBytes === 0) throw new BucketFault("too-large", "longer");
        return { bytes: new Measured(new ArrayBuffer(1)), etag: "e" };
      },
    };
    const what = { store, stored: new Map(), limits: defaultArchiveLimits, gone: () => undefined };
    expect(await fetchObjects(index, what, phase())).toHaveProperty("size", 100);
    expect(measured).toBeLessThan(1_000);
  });

  test("may have in total the size of a tar, checked by the sizes in the listing before the first download", async () => {
    expect(await fetchOf(1_536, content(1_536))).toBe(1_536);
    const never = { get: () => Promise.reject(new Error("asked for")) };
    expect(await fetchOf(1_537, never)).toBe(
      "the objects have more than 2048 bytes in a tar: leave some out with spec.ignore",
    );
  });
});
