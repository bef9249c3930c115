import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { homeNetwork, type NetworkPolicy, networkPolicy } from "../../../../lib/core/network/network-policy.ts";
import type { HttpStreams } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { defaultGitLimits, type GitLimits, type GitRemote } from "../../../../lib/sources/git/git-remote.ts";
import { type HttpTransportOptions, httpTransport } from "../../../../lib/sources/git/http-transport.ts";
import { openGitRemote } from "../../../../lib/sources/git/open-git-remote.ts";
import { flushPkt, pktLine } from "../../../../lib/sources/git/pkt-line.ts";
import { never } from "../../../contract/state-back-end.ts";
import { deadlineMs } from "../../../deadline.ts";
import { closeServer } from "../../../doubles/close-server.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { oidOf, packOf } from "./pack-of.ts";

const oid = oidOf("blob", Buffer.from("abc"));
const pack = packOf([{ type: "blob", bytes: Buffer.from("abc") }]);
const greeting = ["version 2", "ls-refs", "fetch=shallow", "object-format=sha1"].map(pktLine).join("") + flushPkt;
const refs = `${pktLine(`${oid} refs/heads/main`)}${flushPkt}`;

let opened: AsyncDisposableStack;
/** The temporary folder of one test, in which nothing must be left. */
let folder: string;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), "sluice-test-http-"));
  opened.defer(() => rm(folder, { recursive: true }));
  vi.stubEnv("TMPDIR", folder);
  opened.defer(() => void vi.unstubAllEnvs());
});
afterEach(() => opened.disposeAsync());

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  opened.defer(() => closeServer(server));
  return `http://127.0.0.1:${await portOnLoopback(server)}`;
}

function connect(url: string, { limits = {}, network = homeNetwork, ...options }: ConnectOptions = {}): GitRemote {
  const http = httpClient({ network });
  opened.defer(() => http.close());
  const all = { ...defaultGitLimits, ...limits };
  return opened.use(openGitRemote(httpTransport({ url, ...options }, http, all), all));
}

interface ConnectOptions extends Omit<Partial<HttpTransportOptions>, "url"> {
  readonly limits?: Partial<GitLimits>;
  readonly network?: NetworkPolicy;
}

/** A framed piece of a pack. */
function band(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from((bytes.length + 5).toString(16).padStart(4, "0")), Buffer.from([number]), bytes]);
}

const packed = Buffer.concat([
  Buffer.from(pktLine("packfile")),
  band(2, Buffer.from("50 %")),
  band(1, pack),
  Buffer.from(flushPkt),
]);

/** A server of version 2 that answers requests for a pack so. */
function gitServer(answer: RequestListener): RequestListener {
  return (request, response) => {
    const kind = request.method === "GET" ? "advertisement" : "result";
    response.setHeader("content-type", `application/x-git-upload-pack-${kind}`);
    if (request.method === "GET") response.end(greeting);
    else answer(request, response);
  };
}

function reject(reason: string, why: string): unknown {
  return expect.objectContaining({ name: "GitFault", reason, message: expect.stringContaining(why) });
}

describe("the answer of a git server", () => {
  test.each<[title: string, answer: Uint8Array | string, reason: string, why: string]>([
    ["garbage", "<html>hunter2</html>", "protocol", "not git's"],
    ["nothing", "", "protocol", "broke off"],
    ["an error", pktLine("ERR upload-pack: not our ref hunter2"), "missing", "does not give"],
    ["an error of another kind", pktLine("ERR hunter2"), "protocol", "an error of its own"],
    ["neither pack nor error", pktLine("hunter2"), "protocol", "neither a pack nor an error"],
    ["a pack that is cut off", packed.subarray(0, -30), "protocol", "broke off"],
    ["a pack without its end", packed.subarray(0, -4), "protocol", "broke off"],
    [
      "an error inside a pack",
      Buffer.concat([packed.subarray(0, 13), band(3, Buffer.from("hunter2"))]),
      "protocol",
      "of its own",
    ],
    ["an unknown band", Buffer.concat([packed.subarray(0, 13), band(4, pack)]), "protocol", "unknown band"],
    [
      "an object that was not requested",
      Buffer.concat([
        packed.subarray(0, 13),
        band(1, packOf([{ type: "blob", bytes: Buffer.from("hunter2") }])),
        Buffer.from(flushPkt),
      ]),
      "missing",
      oid,
    ],
  ])("%s instead of a pack is one failure, and leaves no files", async (_, answer, reason, why) => {
    const remote = connect(await serve(gitServer((_request, response) => response.end(answer))));
    const fault: unknown = await remote.fetch([oid], {}, never).catch((error: unknown) => error);
    expect(fault).toEqual(reject(reason, why));
    expect(String(fault)).not.toContain("hunter2");
    expect(await readdir(folder)).toEqual([]);
  });

  test("may have progress texts around the pack", async () => {
    const remote = connect(await serve(gitServer((_request, response) => response.end(packed))));
    await using objects = await remote.fetch([oid], {}, never);
    expect(Buffer.from((await objects.read(oid)).bytes).toString()).toBe("abc");
  });

  const ofFlux = "unexpected client error: unexpected requesting ";
  test.each<[status: number, reason: string, says: (asked: string) => string]>([
    [401, "authentication", (asked) => `${asked}: `],
    [403, "authorization", (asked) => `${asked}: `],
    [404, "not-found", (asked) => `${asked}: `],
    [410, "not-found", (asked) => `${asked}: `],
    [418, "protocol", (asked) => `${ofFlux}"${asked}?service=git-upload-pack" status code: 418`],
    [429, "unavailable", (asked) => `${ofFlux}"${asked}?service=git-upload-pack" status code: 429`],
    [503, "unavailable", (asked) => `${ofFlux}"${asked}?service=git-upload-pack" status code: 503`],
  ])("with status %i gives the failure %s, without the server's text", async (status, reason, says) => {
    const url = await serve((_, response) => void response.writeHead(status, "hunter2").end("hunter3"));
    const fault: unknown = await connect(`${url}/r.git`)
      .list([], never)
      .catch((error: unknown) => error);
    expect(fault).toEqual(reject(reason, says(`${url}/r.git/info/refs`)));
    expect(String(fault)).not.toContain("hunter");
  });

  test("with plain files, as from a dumb server, is refused by name", async () => {
    const url = await serve((_, response) =>
      response.setHeader("content-type", "text/plain").end(`${oid}\trefs/heads/main\n`),
    );
    await expect(connect(url).list([], never)).rejects.toEqual(reject("unsupported", "dumb HTTP"));
  });

  test("is unpacked if it is gzipped, and refused if only its header says so", async () => {
    let body: Uint8Array = gzipSync(refs);
    const url = await serve(
      gitServer((_request, response) => response.setHeader("content-encoding", "gzip").end(body)),
    );
    expect(await connect(url).list([], never)).toEqual([{ name: "refs/heads/main", oid }]);
    body = Buffer.from(refs);
    await expect(connect(url).list([], never)).rejects.toEqual(reject("protocol", "not packed as it says"));
  });

  test.each([
    ["no id", `${"x".repeat(40)} refs/heads/main`],
    ["a name with a control character", `${oid} refs/heads/\u001bmain`],
    ["a peeled object without an id", `${oid} refs/tags/v1 peeled:hunter2`],
  ])("is refused if a ref has %s", async (_, line) => {
    const url = await serve(gitServer((_request, response) => response.end(`${pktLine(line)}${flushPkt}`)));
    await expect(connect(url).list([], never)).rejects.toEqual(reject("protocol", "an entry that is not a ref"));
  });
});

describe("limits on a git server", () => {
  test("abort it when its time is up, before or during an answer", async () => {
    const silent = await serve(() => undefined);
    const limits = { timeoutMs: 100 };
    await expect(connect(silent, { limits }).list([], never)).rejects.toEqual(
      reject("timeout", `Get "${silent}/info/refs?service=git-upload-pack": context deadline exceeded`),
    );
    const http = httpClient({ network: homeNetwork });
    opened.defer(() => http.close());
    const changing = { ...defaultGitLimits, timeoutMs: deadlineMs };
    const answer = gitServer((_request, response) => void response.write(packed.subarray(0, 40)));
    const slow = await serve((request, response) => {
      // Of the requests after this one, the first: that for the pack.
      changing.timeoutMs = 100;
      answer(request, response);
    });
    const remote = opened.use(openGitRemote(httpTransport({ url: slow }, http, changing), changing));
    await expect(remote.fetch([oid], {}, never)).rejects.toEqual(
      reject("timeout", `Post "${slow}/git-upload-pack": context deadline exceeded`),
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test("abort it when the run ends, with the reason of the run", async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort(new Error("enough")));
    await expect(connect(url).list([], stop.signal)).rejects.toThrow("enough");
  });

  test("refuse refs above maxRefs and maxRefBytes", async () => {
    const names = ["a", "b", "c"].map((name) => pktLine(`${oid} refs/heads/${name}`));
    const url = await serve(gitServer((_request, response) => response.end(names.join("") + flushPkt)));
    const bytes = names.join("").length - 3 * 4;
    expect(
      await connect(url, { limits: { maxRefs: 3, maxRefBytes: Math.max(bytes, greeting.length) } }).list([], never),
    ).toHaveLength(3);
    await expect(connect(url, { limits: { maxRefs: 2 } }).list([], never)).rejects.toEqual(
      reject("too-large", "more than 2 refs"),
    );
    const limits = { maxRefBytes: bytes - 1 };
    await expect(connect(url, { limits }).list([], never)).rejects.toEqual(
      reject("too-large", `more than ${bytes - 1} bytes of refs`),
    );
  });

  test("refuse too many bytes at once if it declares them, and at the limit if it sends them", async () => {
    const claims = await serve(
      gitServer(
        (_request, response) => void response.writeHead(200, { "content-length": String(10 * 1024 ** 3) }).write("x"),
      ),
    );
    await expect(connect(claims).fetch([oid], {}, never)).rejects.toEqual(
      reject("too-large", "the answer is longer than"),
    );
    const piece = band(1, Buffer.alloc(60_000));
    const sends = await serve(
      gitServer((_request, response) => {
        response.write(Buffer.concat([packed.subarray(0, 13), band(1, pack.subarray(0, 12))]));
        const more = (): void => {
          while (!response.destroyed && response.write(piece));
        };
        response.on("drain", more);
        more();
      }),
    );
    const limits = { maxPackBytes: 1_000_000 };
    await expect(connect(sends, { limits }).fetch([oid], {}, never)).rejects.toEqual(
      reject("too-large", "more than 1000000 bytes"),
    );
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("a redirect of a git server", () => {
  const credentials = { authorization: "Bearer hunter2" };

  test("of the first request applies to later ones, without the credentials on another host", async () => {
    const seen: string[] = [];
    const note =
      (host: string, then: RequestListener): RequestListener =>
      (request, response) => {
        seen.push(`${host} ${request.method} ${request.url} ${request.headers.authorization ?? "none"}`);
        then(request, response);
      };
    const elsewhere = await serve(
      note(
        "elsewhere",
        gitServer((_request, response) => response.end(refs)),
      ),
    );
    const url = await serve(
      note("own", (request, response) =>
        response
          .writeHead(301, {
            location: `${request.url?.startsWith("/old") === true ? "" : elsewhere}/new.git/info/refs?service=git-upload-pack`,
          })
          .end(),
      ),
    );
    const remote = connect(`${url}/old.git/`, { headers: credentials });
    expect(await remote.list([], never)).toHaveLength(1);
    expect(seen).toEqual([
      "own GET /old.git/info/refs?service=git-upload-pack Bearer hunter2",
      "own GET /new.git/info/refs?service=git-upload-pack Bearer hunter2",
      "elsewhere GET /new.git/info/refs?service=git-upload-pack none",
      "elsewhere POST /new.git/git-upload-pack none",
    ]);
  });

  test.each([
    ["another host", "https://other.test/app.git"],
    ["another port", "https://git.test:8443/app.git"],
    ["a host that starts with the same name", "https://git.test.example/app.git"],
    ["a folder on its own host", "https://git.test/new.git"],
  ])("to %s gets our header and client certificate only if the host is the server's own", async (_, place) => {
    const tls = { ca: "ca", cert: "cert", key: "key" };
    const sent: (readonly [string, unknown, unknown])[] = [];
    const http: HttpStreams = {
      open: async ({ method, url, tls: shown, headers: { authorization } = {} }) => {
        sent.push([method, shown, authorization]);
        const isFirst = method === "GET";
        return {
          url: isFirst ? `${place}/info/refs?service=git-upload-pack` : url,
          status: 200,
          headers: { "content-type": `application/x-git-upload-pack-${isFirst ? "advertisement" : "result"}` },
          body: (async function* () {})(),
          [Symbol.dispose]: () => undefined,
        };
      },
    };
    const transport = httpTransport({ url: "https://git.test/app.git", headers: credentials, tls }, http);
    await transport.greet(never);
    await transport.send(Buffer.from("0000"), 2, never);
    const isOwn = new URL(place).host === "git.test";
    expect(sent).toEqual([
      ["GET", tls, "Bearer hunter2"],
      isOwn ? ["POST", tls, "Bearer hunter2"] : ["POST", { ca: "ca" }, undefined],
    ]);
  });

  test("of a later request, or to an address that is not a repository's, is refused", async () => {
    const page = await serve((request, response) => {
      response.setHeader("content-type", "application/x-git-upload-pack-advertisement");
      if (request.url === "/login") response.end(greeting);
      else response.writeHead(302, { location: "/login" }).end();
    });
    await expect(connect(page).list([], never)).rejects.toEqual(reject("protocol", "not a git repository's"));
    const later = await serve(gitServer((_request, response) => response.writeHead(307, { location: "/other" }).end()));
    await expect(connect(later).list([], never)).rejects.toEqual(
      reject("protocol", '/git-upload-pack" status code: 307'),
    );
  });

  test("to an internal address is refused by the network policy", async () => {
    const url = await serve((_, response) =>
      response.writeHead(301, { location: "http://169.254.169.254/r.git/info/refs?service=git-upload-pack" }).end(),
    );
    await expect(connect(url).list([], never)).rejects.toEqual(reject("refused", "169.254.169.254"));
    const network = networkPolicy({ allow: [] }, "functions");
    await expect(connect(url, { network }).list([], never)).rejects.toEqual(reject("refused", "never connects there"));
  });
});

test("a redirect to a port without a listener fails with Flux's text", async () => {
  await expect(connect("http://127.0.0.1:1/app.git").list([], never)).rejects.toMatchObject({
    reason: "unreachable",
    message: `Get "http://127.0.0.1:1/app.git/info/refs?service=git-upload-pack": dial tcp 127.0.0.1:1: connect: connection refused`,
  });
});

test("a proxy without a listener fails with Flux's text", async () => {
  const proxy = { url: new URL("http://127.0.0.1:1"), username: "", password: new Secret("") };
  await expect(connect("http://127.0.0.1:2/app.git", { proxy }).list([], never)).rejects.toMatchObject({
    message: `Get "http://127.0.0.1:2/app.git/info/refs?service=git-upload-pack": proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused`,
  });
});

test("user, password and query of the URL are not passed on", async () => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? "none"}`);
    gitServer((_request, answer) => answer.end(refs))(request, response);
  });
  await connect(`${url.replace("//", "//user:hunter2@")}/r?token=hunter3`).list([], never);
  expect(seen).toEqual(["/r/info/refs?service=git-upload-pack none", "/r/git-upload-pack none"]);
});
