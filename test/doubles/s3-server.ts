import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeServer } from "./close-server.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/** A server of the S3 API for tests, with the buckets in memory: it has them in the path, and does not check signatures. */
export interface S3Server extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** The objects of each bucket, in the order in which they are listed. */
  readonly buckets: Map<string, Map<string, Buffer>>;
  /** `GET /bucket/key`, of every request. */
  readonly asked: string[];
  /** The headers `authorization`, of every request. */
  readonly logins: (string | undefined)[];
  /** Objects of a page. */
  pageKeys: number;
  /** Who may use it: the id of an access key; undefined for all. */
  accessKeyId: string | undefined;
  /** Called before an object is answered. */
  onGet: (bucket: string, key: string) => void;
  /** Answers in place of the server, if it answers true. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export async function s3Server(): Promise<S3Server> {
  const server = createServer((request, response) => answer(request, response));
  const port = await portOnLoopback(server);
  const self: S3Server = {
    endpoint: `127.0.0.1:${port}`,
    buckets: new Map(),
    asked: [],
    logins: [],
    pageKeys: 1_000,
    accessKeyId: undefined,
    onGet: () => undefined,
    instead: () => false,
    [Symbol.asyncDispose]: () => closeServer(server),
  };

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://s3");
    const [, bucket = "", ...rest] = url.pathname.split("/").map(decodeURIComponent);
    const key = rest.join("/");
    const query = url.searchParams;
    const what = query.has("location") ? "?location" : query.has("list-type") ? "?list" : key;
    self.asked.push(`${request.method} /${bucket}/${what}`);
    const { authorization } = request.headers;
    self.logins.push(authorization);
    if (self.instead(request, response)) return;
    const isLoggedIn = authorization?.includes(`Credential=${self.accessKeyId}/`) ?? false;
    if (self.accessKeyId !== undefined && !isLoggedIn) return refuse(response, 403, "AccessDenied");
    const objects = self.buckets.get(bucket);
    if (objects === undefined) return refuse(response, 404, "NoSuchBucket");
    if (query.has("location")) return send(response, "<LocationConstraint/>");
    if (request.method === "HEAD") return void response.end();
    if (query.has("list-type")) return list(objects, query, response);
    self.onGet(bucket, key);
    const bytes = objects.get(key);
    if (bytes === undefined) return refuse(response, 404, "NoSuchKey");
    response.writeHead(200, { etag: `"${etagOf(bytes)}"` }).end(bytes);
  }

  function list(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get("prefix") ?? "";
    const found = [...objects].filter(([key]) => key.startsWith(prefix));
    const start = Number(query.get("continuation-token") ?? 0);
    const page = found.slice(start, start + self.pageKeys);
    const isLast = start + page.length >= found.length;
    const contents = page.map(
      ([key, bytes]) =>
        `<Contents><Key>${encodeURIComponent(key)}</Key><ETag>&quot;${etagOf(bytes)}&quot;</ETag><Size>${bytes.length}</Size></Contents>`,
    );
    const next = isLast ? "" : `<NextContinuationToken>${start + page.length}</NextContinuationToken>`;
    const head = `<EncodingType>url</EncodingType><IsTruncated>${!isLast}</IsTruncated>${next}`;
    send(
      response,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}${contents.join("")}</ListBucketResult>`,
    );
  }
  return self;
}

/** As S3 makes it of an object that was written in one part. */
export function etagOf(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

function send(response: ServerResponse, xml: string): void {
  response.writeHead(200, { "content-type": "application/xml" }).end(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>hunter2</Message></Error>`);
}
