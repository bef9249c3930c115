import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gzip } from "node:zlib";
import type { Proxy } from "../../core/ports/dial.ts";
import {
  HttpError,
  type HttpRequest,
  type HttpStream,
  type HttpStreams,
  type TlsTrust,
  trustElsewhere,
} from "../../core/ports/http.ts";
import { GitFault, type GitFaultReason } from "./git-fault.ts";
import { defaultGitLimits, type GitLimits } from "./git-remote.ts";
import type { GitService, GitTransport, GitVersion } from "./git-transport.ts";

export interface HttpTransportOptions {
  /** Default `git-upload-pack`. */
  readonly service?: GitService;
  /** `https://host/path`. User, password and query are not used: the caller makes a header of them. */
  readonly url: string;
  /** Credentials, which are sent to this host only. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsTrust;
  readonly proxy?: Proxy | undefined;
}

/** As Go's client, which Flux uses. */
const maxRedirects = 10;
const packed = promisify(gzip);
/** Longer requests are packed, as by git. */
const plainRequestBytes = 1_024;
/** Hosts that serve pages and repositories at the same address give the repository to clients of this name. */
const common = { "user-agent": "git/2.0 (sluice)", "accept-encoding": "gzip" };

/**
 * Git's smart HTTP protocol (gitprotocol-http). A redirect is followed for the first request only, as git does by default, and
 * then also counts for the next ones.
 */
export function httpTransport(
  { service = "git-upload-pack", url, headers = {}, proxy, tls = {} }: HttpTransportOptions,
  http: HttpStreams,
  limits: Pick<GitLimits, "maxPackBytes" | "maxRefBytes" | "timeoutMs"> = defaultGitLimits,
): GitTransport {
  const { origin, host, pathname } = new URL(url);
  const given = `${origin}${pathname.replace(/\/+$/, "")}`;
  const isForReading = service === "git-upload-pack";
  let base = given;

  const open = async (
    request: Pick<HttpRequest, "method" | "url" | "headers" | "body" | "isSafe" | "maxRedirects" | "maxBytes">,
    kind: "advertisement" | "result",
    signal: AbortSignal,
  ): Promise<HttpStream> => {
    const isOwn = new URL(request.url).host === host;
    const full: HttpRequest = {
      ...request,
      headers: { ...common, ...request.headers, ...(isOwn ? headers : {}) },
      tls: isOwn ? tls : trustElsewhere(tls),
      proxy,
      timeoutMs: limits.timeoutMs,
    };
    const stream = await http.open(full, signal).catch((error: unknown) => {
      throw faultOf(error, service, proxy);
    });
    const fault = faultOfAnswer(stream, { service, kind, maxBytes: request.maxBytes });
    if (fault === undefined) return stream;
    stream[Symbol.dispose]();
    throw fault;
  };

  return {
    url: given,
    late: {
      list: `Get "${given}/info/refs?service=${service}": ${deadline}`,
      fetch: `Post "${given}/${service}": ${deadline}`,
    },
    isStateless: true,
    knownAs: digestOf({ service, url: given, headers, tls, proxy }),
    async greet(signal) {
      const asked = `${given}/info/refs?service=${service}`;
      const request = {
        url: asked,
        method: "GET",
        headers: protocol(isForReading ? 2 : 0),
        maxRedirects,
        maxBytes: limits.maxRefBytes,
      } as const;
      const stream = await open(request, "advertisement", signal);
      const found = new URL(stream.url);
      if (!found.pathname.endsWith("/info/refs")) {
        stream[Symbol.dispose]();
        throw new GitFault("protocol", `${given} redirects to an address that is not a git repository's`);
      }
      base = `${found.origin}${found.pathname.slice(0, -"/info/refs".length)}`;
      return bytesOf(stream, service);
    },
    async send(request, version, signal) {
      // As git, which packs no push: it holds packed objects, and not every server unpacks it.
      const isLong = isForReading && request.length > plainRequestBytes;
      const stream = await open(
        {
          url: `${base}/${service}`,
          method: "POST",
          isSafe: isForReading,
          headers: {
            ...protocol(version),
            "content-type": `application/x-${service}-request`,
            accept: `application/x-${service}-result`,
            ...(isLong ? { "content-encoding": "gzip" } : {}),
          },
          body: isLong ? await packed(request) : request,
          // The answer has messages about the progress, too.
          maxBytes: limits.maxPackBytes + limits.maxRefBytes,
        },
        "result",
        signal,
      );
      return bytesOf(stream, service);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function digestOf({ service, url, headers, tls, proxy }: HttpTransportOptions): string {
  const way = proxy === undefined ? [] : [proxy.url.href, proxy.username, proxy.password?.reveal()];
  return createHash("sha256")
    .update(JSON.stringify([service, url, headers, tls, way]))
    .digest("base64url");
}

function protocol(version: GitVersion): Readonly<Record<string, string>> {
  return version === 2 ? { "git-protocol": "version=2" } : {};
}

async function* bytesOf(stream: HttpStream, service: GitService): AsyncGenerator<Uint8Array, void, undefined> {
  using answer = stream;
  try {
    yield* answer.headers["content-encoding"] === "gzip" ? gunzip(answer.body) : answer.body;
  } catch (error) {
    throw faultOf(error, service);
  }
}

function gunzip(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // The iteration throws what goes wrong.
  return pipeline(Readable.from(pieces), createGunzip(), () => undefined);
}

function faultOfAnswer(
  { status, url, headers }: HttpStream,
  { service, kind, maxBytes }: { readonly service: GitService; readonly kind: string; readonly maxBytes: number },
): GitFault | undefined {
  const { origin, pathname } = new URL(url);
  const at = `${origin}${pathname}`;
  if (status !== 200) {
    const reason = status >= 500 ? "unavailable" : (reasonByStatus[status] ?? "protocol");
    const text = textByReason[reason];
    if (text !== undefined) return new GitFault(reason, `${at}: ${text} (status code ${status})`);
    const asked = kind === "advertisement" ? `${at}?service=${service}` : at;
    const why = `unexpected requesting "${asked}" status code: ${status}`;
    return new GitFault(reason, `unexpected client error: ${why}`);
  }
  if (headers["content-type"] !== `application/x-${service}-${kind}`) {
    const why = "the server does not speak git's smart HTTP protocol; plain files (dumb HTTP) are not supported";
    return new GitFault("unsupported", `${at}: ${why}`);
  }
  if (Number(headers["content-length"] ?? 0) > maxBytes) {
    return new GitFault("too-large", `${at}: the answer is longer than ${maxBytes} bytes`);
  }
  return undefined;
}

const reasonByStatus: Readonly<Record<number, GitFaultReason>> = {
  401: "authentication",
  403: "authorization",
  404: "not-found",
  410: "not-found",
  429: "unavailable",
};

const textByReason: Partial<Readonly<Record<GitFaultReason, string>>> = {
  authentication: "authentication required",
  authorization: "authorization failed",
  "not-found": "repository not found",
};

function faultOf(error: unknown, service: GitService, proxy?: Proxy): unknown {
  if (error instanceof HttpError) {
    const reason = error.reason === "redirect" ? "protocol" : error.reason;
    return new GitFault(reason, inWordsOfGo(error, service, proxy), { cause: error });
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!code.startsWith("Z_")) return error;
  return new GitFault("protocol", "the answer of the git server is not packed as it says", { cause: error });
}

/** As Go's client, which Flux uses, names a request that failed: with its query, which only the first one has. */
function inWordsOfGo({ reason, message }: HttpError, service: GitService, proxy: Proxy | undefined): string {
  const [, method, url = "", why = ""] = /^(GET|POST) (\S+): (.*)$/s.exec(message) ?? [];
  if (method === undefined || !["unreachable", "tls", "timeout"].includes(reason)) return message;
  const isOfProxy = proxy !== undefined && why.startsWith("dial tcp ");
  const said = reason === "timeout" ? deadline : isOfProxy ? `proxyconnect tcp: ${why}` : why;
  return method === "GET" ? `Get "${url}?service=${service}": ${said}` : `Post "${url}": ${said}`;
}

const deadline = "context deadline exceeded";
