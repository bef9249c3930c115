import { z } from "zod";
import { type ByteBoundedCache, byteBoundedCache } from "../../core/byte-bounded-cache.ts";
import { digestOf } from "../../core/digest.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import { type Http, HttpError, type HttpRequest, type HttpResponse, trustElsewhere } from "../../core/ports/http.ts";
import { authorizer, type RegistryAccess } from "./authorize.ts";
import { mediaTypes } from "./media-types.ts";
import { jsonOf, RegistryFault } from "./registry-fault.ts";

interface FetchedManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/**
 * An OCI registry with the credentials of one object. Every method throws a {@link RegistryFault}, an {@link HttpError}, an error of
 * the login, or the reason that `signal` was aborted with.
 */
export interface RegistryClient {
  /** The current digest of a tag. */
  digestOfTag(repository: string, tag: string, signal: AbortSignal): Promise<string>;
  /** By tag or digest; the bytes are checked against the digest. */
  manifest(repository: string, reference: string, signal: AbortSignal): Promise<FetchedManifest>;
  /** Every tag, all pages. */
  tags(repository: string, signal: AbortSignal): Promise<readonly string[]>;
  /** A blob of at most `maxBytes`, checked against its digest. */
  blob(repository: string, digest: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * What refers to this digest (OCI 1.1, with the fallback tag for registries without the API), as JSON that is not checked yet:
   * the entries of `manifests`, at most {@link maxReferrers} of them.
   */
  referrers(repository: string, digest: string, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Uploads a blob unless the repository has it. */
  pushBlob(repository: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Answers the manifest's digest. */
  pushManifest(
    repository: string,
    tag: string,
    mediaType: string,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<string>;
}

export type Connect = (access: RegistryAccess) => RegistryClient;

/** The limit for a manifest, an index or one page of tags. */
export const maxManifestBytes = 4 * 1024 * 1024;
/** Of one digest. Signatures, attestations and lists of parts are referrers; usually there are fewer than ten. */
export const maxReferrers = 1_000;
export const maxTags = 100_000;
export const maxTagPages = 1_000;
/** The limit for all pages together. */
export const maxTagListBytes = 16 * 1024 * 1024;
/** The longest tag by the OCI distribution specification. */
export const maxTagLength = 128;
/** The limit for the whole header, which holds the address of the next page. */
export const maxLinkHeaderLength = 4_096;
/** The limit for the cached answers of all hosts to whether they speak TLS, together. */
const maxRememberedBytes = 1024 * 1024;
const defaultTimeoutMs = 30_000;
const probeTimeoutMs = 5_000;
const accepted = [mediaTypes.manifest, mediaTypes.index, mediaTypes.dockerManifest, mediaTypes.dockerIndex].join(", ");
const ReferrerPage = z.object({ manifests: z.array(z.unknown()).nullish() });
/** The tags are checked one by one later: a schema would make an issue for each invalid one. */
const TagPage = z.object({ tags: z.array(z.unknown()).nullish() });

/** By host. */
type Origins = ByteBoundedCache<string, string>;

/** Clients with a shared cache of hosts: each host is asked once whether it speaks TLS, not in each reconcile. */
export function registryClients(http: Http, clock: Clock): Connect {
  const origins: Origins = byteBoundedCache(maxRememberedBytes, (origin) => 2 * origin.length);
  return (access) => client(access, http, clock, origins);
}

function client(access: RegistryAccess, anyHttp: Http, clock: Clock, origins: Origins): RegistryClient {
  const { proxy, tls, totalMs } = access;
  const proxied = proxy === undefined ? anyHttp : through(proxy, anyHttp);
  const http = totalMs === undefined ? proxied : within(totalMs, proxied, clock);
  const authorize = authorizer(access, http, clock);

  const origin = async (signal: AbortSignal): Promise<string> => {
    if (!access.insecure && !isLocal(access.host)) return `https://${access.host}`;
    const known = origins.get(access.host);
    if (known !== undefined) return known;
    const found = await plainOrSecure(access, http, signal);
    origins.set(access.host, found);
    return found;
  };

  const send = async (
    path: string,
    request: Pick<HttpRequest, "method" | "headers" | "body"> & Partial<HttpRequest>,
    expected: readonly number[],
    signal: AbortSignal,
  ): Promise<HttpResponse> => {
    const base = new URL(await origin(signal));
    const { href: url, host } = placeNamed(path, base);
    // An upload's location and a list's next page may be on another host, which must not get our credentials.
    const own = host === base.host;
    const full: HttpRequest = {
      timeoutMs: access.timeoutMs ?? defaultTimeoutMs,
      maxBytes: maxManifestBytes,
      ...(tls === undefined ? {} : { tls: own ? tls : trustElsewhere(tls) }),
      ...request,
      url,
    };
    let response: HttpResponse;
    try {
      response = own ? await authorize(full, signal) : await http.send(full, signal);
    } catch (error) {
      // The host may have switched between TLS and plain HTTP.
      if (error instanceof HttpError) origins.delete(access.host);
      throw error;
    }
    if (!expected.includes(response.status))
      throw new RegistryFault({ method: request.method, url }, response, clock.now());
    return response;
  };

  const manifest: RegistryClient["manifest"] = async (repository, reference, signal) => {
    const path = `/v2/${repository}/manifests/${reference}`;
    const response = await send(path, { method: "GET", headers: { accept: accepted }, maxRedirects: 3 }, [200], signal);
    const digest = digestOf(response.body);
    const promised = reference.includes(":") ? reference : response.headers["docker-content-digest"];
    if (promised?.startsWith("sha256:") === true && promised !== digest) {
      throw mismatch("manifest", repository, promised, digest);
    }
    return { digest, mediaType: response.headers["content-type"] ?? "", bytes: response.body };
  };

  /** The index under the tag that stands in for the API: `sha256-<digits>`. */
  const referrersByTag = async (
    repository: string,
    digest: string,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> => {
    const where = `${access.host}/${repository}`;
    try {
      const { bytes } = await manifest(repository, digest.replace(":", "-"), signal);
      const found = referrersIn(bytes, where);
      if (found.length <= maxReferrers) return found;
    } catch (error) {
      if (error instanceof RegistryFault && error.reason === "not-found") return [];
      throw error;
    }
    throw new HttpError("too-large", `${where} has more than ${maxReferrers} referrers of ${digest}`);
  };

  return {
    manifest,
    async digestOfTag(repository, tag, signal) {
      const path = `/v2/${repository}/manifests/${tag}`;
      const headers = { accept: accepted };
      // Some registries refuse HEAD, and only the answer to GET says why.
      const response = await send(path, { method: "HEAD", headers }, [200, 400, 401, 403, 404, 405, 406, 500], signal);
      const digest = response.headers["docker-content-digest"];
      if (response.status === 200 && digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
      return (await manifest(repository, tag, signal)).digest;
    },
    async tags(repository, signal) {
      const where = `${access.host}/${repository}`;
      const tooLarge = (what: string): HttpError => new HttpError("too-large", `${where} has ${what}`);
      const all: string[] = [];
      let bytes = 0;
      let path: string | undefined = `/v2/${repository}/tags/list?n=1000`;
      for (let pages = 1; path !== undefined; pages++) {
        if (pages > maxTagPages) throw tooLarge(`more than ${maxTagPages} pages of tags`);
        const response: HttpResponse = await send(path, { method: "GET", headers: {} }, [200], signal);
        bytes += response.body.length;
        if (bytes > maxTagListBytes) throw tooLarge(`a list of tags of more than ${maxTagListBytes} bytes`);
        for (const tag of tagsOf(response, where)) all.push(tag);
        if (all.length > maxTags) throw tooLarge(`more than ${maxTags} tags`);
        path = nextPage(response.headers["link"] ?? "", where);
      }
      return all;
    },
    async referrers(repository, digest, signal) {
      const where = `${access.host}/${repository}`;
      const found: unknown[] = [];
      let path: string | undefined = `/v2/${repository}/referrers/${digest}`;
      while (path !== undefined) {
        const request = { method: "GET", headers: { accept: mediaTypes.index } } as const;
        const response: HttpResponse = await send(path, request, [200, 400, 404, 405, 406], signal);
        if (response.status !== 200) return referrersByTag(repository, digest, signal);
        const page = referrersIn(response.body, where);
        found.push(...page);
        if (found.length > maxReferrers) {
          throw new HttpError("too-large", `${where} has more than ${maxReferrers} referrers of ${digest}`);
        }
        path = page.length === 0 ? undefined : nextPage(response.headers["link"] ?? "", where);
      }
      return found;
    },
    async blob(repository, digest, maxBytes, signal) {
      const path = `/v2/${repository}/blobs/${digest}`;
      const request = { method: "GET", headers: {}, maxBytes, maxRedirects: 5 } as const;
      const response = await send(path, request, [200], signal);
      const found = digestOf(response.body);
      if (found !== digest) throw mismatch("blob", repository, digest, found);
      return response.body;
    },
    async pushBlob(repository, bytes, signal) {
      const digest = digestOf(bytes);
      const there = await send(
        `/v2/${repository}/blobs/${digest}`,
        { method: "HEAD", headers: {} },
        [200, 404],
        signal,
      );
      if (there.status === 200) return;
      const begun = await send(`/v2/${repository}/blobs/uploads/`, { method: "POST", headers: {} }, [202], signal);
      const { location } = begun.headers;
      if (location === undefined) throw new HttpError("protocol", `${access.host}: an upload began without a location`);
      const upload = placeNamed(location, new URL(await origin(signal)));
      upload.searchParams.set("digest", digest);
      const headers = { "content-type": "application/octet-stream" };
      const request = { method: "PUT", headers, body: bytes } as const;
      await send(upload.href, request, [201], signal);
    },
    async pushManifest(repository, tag, mediaType, bytes, signal) {
      const headers = { "content-type": mediaType };
      await send(`/v2/${repository}/manifests/${tag}`, { method: "PUT", headers, body: bytes }, [201], signal);
      return digestOf(bytes);
    },
  };
}

/** The http port with one time limit for all its requests together, which starts now. */
function within(totalMs: number, http: Http, clock: Clock): Http {
  const end = clock.monotonic() + totalMs;
  return {
    async send(request, signal) {
      const leftMs = Math.ceil(end - clock.monotonic());
      if (leftMs >= request.timeoutMs) return http.send(request, signal);
      const { origin, pathname } = new URL(request.url);
      const late = `${request.method} ${origin}${pathname}: no answer within the ${totalMs} ms that all requests have together`;
      if (leftMs <= 0) throw new HttpError("timeout", late);
      try {
        return await http.send({ ...request, timeoutMs: leftMs }, signal);
      } catch (error) {
        // The message names the whole limit: the rest of it differs in each attempt.
        if (error instanceof HttpError && error.reason === "timeout")
          throw new HttpError("timeout", late, { cause: error });
        throw error;
      }
    },
  };
}

/** The http port with every request through this proxy, also those to the token service. */
function through(proxy: Proxy, http: Http): Http {
  return { send: (request, signal) => http.send({ ...request, proxy }, signal) };
}

/** The address that a registry refers to. Throws an {@link HttpError} for an invalid URL, and for plain HTTP if the registry has TLS. */
function placeNamed(text: string, base: URL): URL {
  const place = URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  if (place?.protocol === "https:" || (place?.protocol === "http:" && base.protocol === "http:")) return place;
  throw new HttpError("redirect", `${base.origin} refers to an address that is not followed: it is not an https URL`);
}

/** Tries TLS first, and plain HTTP only if no TLS server answers. An untrusted certificate does not lead to plain HTTP. */
async function plainOrSecure(access: RegistryAccess, http: Http, signal: AbortSignal): Promise<string> {
  const ask = (origin: string): Promise<HttpResponse> => {
    const request = {
      method: "GET",
      url: `${origin}/v2/`,
      timeoutMs: Math.min(probeTimeoutMs, access.timeoutMs ?? defaultTimeoutMs),
      maxBytes: maxManifestBytes,
    } as const;
    return http.send(access.tls === undefined ? request : { ...request, tls: access.tls }, signal);
  };
  const [secure, plain] = [`https://${access.host}`, `http://${access.host}`];
  try {
    await ask(secure);
    return secure;
  } catch (error) {
    if (!(error instanceof HttpError) || error.reason === "tls" || error.reason === "refused") throw error;
    const { status } = await ask(plain).catch((plainError: unknown) => {
      if (!(plainError instanceof HttpError)) throw plainError;
      const { exchange, reason, message } = plainError;
      throw new HttpError(reason, message, { exchange, cause: new AggregateError([error, plainError]) });
    });
    // The answer of a server that requires TLS with a client certificate.
    if (status === 400) throw error;
    return plain;
  }
}

/** Hosts that Flux's client, too, calls over plain HTTP if they do not speak TLS. */
function isLocal(host: string): boolean {
  return (
    /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host) ||
    /\.local(?:host)?(?::\d{1,5})?$/.test(host) ||
    /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]+(?::\d+)?$/.test(host)
  );
}

function referrersIn(body: Uint8Array, where: string): readonly unknown[] {
  const page = ReferrerPage.safeParse(jsonOf(body));
  if (!page.success) throw new HttpError("protocol", `the answer of ${where} is not a list of referrers`);
  return page.data.manifests ?? [];
}

function tagsOf({ body }: HttpResponse, where: string): readonly string[] {
  const page = TagPage.safeParse(jsonOf(body));
  const tags = page.data?.tags ?? [];
  if (!page.success || !tags.every((tag) => typeof tag === "string")) {
    throw new HttpError("protocol", `the answer of ${where} is not a list of tags`);
  }
  if (tags.some((tag) => tag.length > maxTagLength)) {
    throw new HttpError("too-large", `${where} has a tag of more than ${maxTagLength} characters`);
  }
  return tags;
}

function nextPage(link: string, where: string): string | undefined {
  if (link.length > maxLinkHeaderLength) {
    throw new HttpError("too-large", `${where} names a next page by more than ${maxLinkHeaderLength} characters`);
  }
  return /<([^>]+)>\s*;[^,]*rel="?next"?/.exec(link)?.[1];
}

function mismatch(what: string, repository: string, wanted: string, found: string): HttpError {
  // The header of a registry can hold any text, so only a digest is quoted.
  const want = /^sha256:[0-9a-f]{64}$/.test(wanted) ? wanted : "an invalid digest";
  return new HttpError("protocol", `${what} of ${repository} does not match its digest: want ${want}, got ${found}`);
}
