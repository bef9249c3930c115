import { execFile } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { closeServer } from "../test/doubles/close-server.ts";
import { portOnLoopback } from "../test/doubles/port-on-loopback.ts";
import { type Figure, figure } from "./figure.ts";

const pageKeys = 1_000;
/** Where the spec ignores all: what a bucket with a million keys keeps beside its files. */
const ignored = "cache/";
/** The heap that Lambda gives Node in a function of 256 MB: without it V8 takes more on a large machine, since nothing stops it. */
const heap = ["--max-semi-space-size=12", "--max-old-space-size=230"];
const Measured = z.object({ ms: z.number(), megabytes: z.number() });

/** A bucket of as many objects with and without one that changes, and what may be spent on it. */
const buckets = [
  { title: "bucket of 10,000 objects, one changed", files: 10_000, keys: 10_000, atMostMb: 256 },
  { title: "bucket of a million keys, 10,000 not ignored, one changed", files: 10_000, keys: 1_000_000, atMostMb: 512 },
] as const;

/**
 * A run of a Bucket after one of its objects has changed, in a process of its own, against a server of S3's API that makes up its keys page
 * by page: the requests, the time, and the peak of the process' memory in that run.
 */
export async function largeBucket(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { title, files, keys, atMostMb } of buckets) {
    await using host = await startHost({ files, keys });
    const script = join(import.meta.dirname, "large-bucket-process.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [...heap, script, host.endpoint, `${ignored}*`]);
    const { ms, megabytes } = Measured.parse(JSON.parse(stdout));
    const { pages, gets } = host.asked;
    figures.push(
      figure(`${title}, pages of the list`, "requests", [pages], { of: "max", atMost: keys / pageKeys }),
      figure(`${title}, objects read`, "requests", [gets], { of: "max", atMost: 1 }),
      figure(`${title}, run`, "ms", [ms]),
      figure(`${title}, memory of the process`, "MB", [megabytes], { of: "max", atMost: atMostMb }),
    );
  }
  return figures;
}

interface Size {
  /** Objects outside of the ignored folder. */
  readonly files: number;
  readonly keys: number;
}

/** Answers a request with the method POST by changing one object and forgetting what was asked. */
async function startHost({ files, keys }: Size) {
  const asked = { pages: 0, gets: 0 };
  let changes = 0;
  const keyOf = (at: number): string =>
    at < files ? `deploy/app-${at}/config.yaml` : `${ignored}build-${at}/layer.tar`;
  const bodyOf = (at: number): string =>
    `name: app-${at}\nrevision: ${at === 0 ? changes : 0}\n${"# text\n".repeat(20)}`;
  const list = (start: number, response: ServerResponse): void => {
    asked.pages++;
    const end = Math.min(start + pageKeys, keys);
    const contents = Array.from({ length: end - start }, (_, index) => {
      const at = start + index;
      const etag = `&quot;${(at === 0 ? changes : 0).toString(16).padStart(8, "0")}${at.toString(16).padStart(24, "0")}&quot;`;
      return `<Contents><Key>${keyOf(at)}</Key><ETag>${etag}</ETag><Size>${bodyOf(at).length}</Size></Contents>`;
    });
    const next = end < keys ? `<NextContinuationToken>${end}</NextContinuationToken>` : "";
    const head = `<EncodingType>url</EncodingType><IsTruncated>${end < keys}</IsTruncated>${next}`;
    response.end(`<ListBucketResult>${head}${contents.join("")}</ListBucketResult>`);
  };
  const server = createServer(({ method, url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://s3");
    if (method === "POST") {
      changes++;
      Object.assign(asked, { pages: 0, gets: 0 });
      return void response.end();
    }
    if (searchParams.has("location")) return void response.end("<LocationConstraint/>");
    if (searchParams.has("list-type")) return list(Number(searchParams.get("continuation-token") ?? 0), response);
    const [, at] = /\/deploy\/app-(\d+)\//.exec(pathname) ?? [];
    if (method === "HEAD") return void response.end();
    if (at === undefined) return void response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    asked.gets++;
    const etag = `"${(at === "0" ? changes : 0).toString(16).padStart(8, "0")}${Number(at).toString(16).padStart(24, "0")}"`;
    response.writeHead(200, { etag }).end(bodyOf(Number(at)));
  });
  const port = await portOnLoopback(server);
  return { endpoint: `127.0.0.1:${port}`, asked, [Symbol.asyncDispose]: () => closeServer(server) };
}
