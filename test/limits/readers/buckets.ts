import type { Http } from "../../../lib/core/ports/http.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { patternsOf } from "../../../lib/sources/archive/archive-tree.ts";
import { defaultArchiveLimits } from "../../../lib/sources/archive/unpack.ts";
import { maxPageBytes } from "../../../lib/sources/bucket/bounded-requests.ts";
import { bucketIndex } from "../../../lib/sources/bucket/bucket-index.ts";
import { googleStore } from "../../../lib/sources/bucket/google-store.ts";
import { listObjects, maxObjectKeyBytes } from "../../../lib/sources/bucket/list-objects.ts";
import type { ObjectStore } from "../../../lib/sources/bucket/object-store.ts";
import { maxXmlElements } from "../../../lib/sources/bucket/read-xml.ts";
import { s3Store } from "../../../lib/sources/bucket/s3-store.ts";
import type { WorstInput } from "../worst-input.ts";

const { signal } = new AbortController();
const phase = { signal, leftMs: () => 60_000 };

/** A server whose pages are these, one after the other. */
function serving(pages: readonly Uint8Array[]): Http {
  let asked = 0;
  return {
    send: async ({ url }) => {
      const body = pages[Math.min(asked++, pages.length - 1)] ?? new Uint8Array();
      return { url, status: 200, headers: {}, body };
    },
  };
}

/** Lists all of a bucket. A refusal is expected of some. */
async function list(store: ObjectStore, ignore = ""): Promise<void> {
  const index = bucketIndex(defaultArchiveLimits);
  await listObjects(store, { index, patterns: patternsOf([ignore]), prefix: "" }, phase).catch(() => undefined);
}

const s3 = (pages: readonly Uint8Array[]): ObjectStore =>
  s3Store({ http: serving(pages), endpoint: "s3.test", insecure: true, bucket: "things", region: "x", clock: Date });

function s3Page(keys: readonly string[], next: string): Uint8Array {
  const objects = keys.map((key) => `<Contents><Key>${key}</Key><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>`);
  const more =
    next === "" ? "" : `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`;
  return Buffer.from(`<L>${more}${objects.join("")}</L>`);
}

/** What servers of buckets answer. */
export const bucketReaders: readonly WorstInput[] = [
  {
    reader: "lib/sources/bucket/read-xml.ts",
    name: "a page of as many elements as it may have, and comments up to its limit of bytes",
    memoryMiB: 200,
    async make() {
      const elements = `<L>${"<a/>".repeat(maxXmlElements - 1)}`;
      const page = Buffer.from(`${elements}${"<!---->".repeat((maxPageBytes - elements.length) / 8)}</L>`);
      return () => list(s3([page]));
    },
  },
  {
    reader: "lib/sources/bucket/read-xml.ts",
    name: "a page that is one entity after the other",
    memoryMiB: 200,
    async make() {
      const page = Buffer.from(`<L>${"&lt;".repeat(maxPageBytes / 4 - 2)}</L>`);
      return () => list(s3([page]));
    },
  },
  {
    reader: "lib/sources/bucket/list-objects.ts",
    name: "100,000 objects with long keys, a quarter of which are kept",
    memoryMiB: 350,
    async make() {
      const keyOf = (index: number) =>
        `${index % 4 === 0 ? "a" : "b"}/${String(index).padStart(maxObjectKeyBytes - 8, "k")}`;
      const pages = Array.from({ length: 100 }, (_, page) =>
        s3Page(
          Array.from({ length: 1_000 }, (_key, index) => keyOf(page * 1_000 + index)),
          page === 99 ? "" : `t${page}`,
        ),
      );
      return () => list(s3(pages), "b/\n");
    },
  },
  {
    reader: "lib/sources/bucket/google-store.ts",
    name: "a page of more objects than were asked for",
    memoryMiB: 200,
    async make() {
      const item = '{"name":"a","etag":"e","size":"1"},';
      const page = Buffer.from(`{"items":[${item.repeat(maxPageBytes / item.length - 2)}{}]}`);
      return () => list(googleStore("things", async () => new Secret("x"), { http: serving([page]) }));
    },
  },
];
