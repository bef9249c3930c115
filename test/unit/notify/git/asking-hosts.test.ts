import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { messageOf } from "../../../../lib/core/failure.ts";
import { type Http, HttpError, type HttpRequest, type HttpResponse } from "../../../../lib/core/ports/http.ts";
import { maxAnswerBytes } from "../../../../lib/git-hosts/ask-host.ts";
import { commitOf, statusOfEvent } from "../../../../lib/notify/git/commit-of-event.ts";
import { isSetupFailure, type ProviderParts, type ProviderSettings } from "../../../../lib/notify/provider.ts";
import { providers } from "../../../../lib/notify/providers/providers.ts";
import { githubAppLogins } from "../../../../lib/sources/git/github-app.ts";
import { memoryGitHost } from "./memory-git-host.ts";
import { commit, eventOf, never, noDial, proxyOf, settingsFor } from "./played-scenario.ts";

const types = Object.keys(providers).filter((type) => /^(?:azuredevops|bitbucket|git)/.test(type));
const addresses: Readonly<Record<string, string>> = {
  azuredevops: "https://git.example/golden/project/_git/repo",
  bitbucketserver: "https://git.example/scm/golden/repo.git",
};
const tokens: Readonly<Record<string, string>> = { bitbucket: "golden:golden-token" };
const eventFor = () => eventOf({ metadata: { revision: `main@sha1:${commit}`, change_request: "42" } });

interface Sent {
  readonly fault: string | undefined;
  readonly isSetup: boolean;
}

/** Sends one event. The settings are right for the type, unless a change says otherwise. */
async function send(
  type: string,
  http: Http,
  change: Partial<ProviderSettings> = {},
  { signal = never, ...others }: Partial<ProviderParts> & { readonly signal?: AbortSignal } = {},
): Promise<Sent> {
  const settings = settingsFor(type, {
    ...(addresses[type] === undefined ? {} : { address: addresses[type] }),
    ...(tokens[type] === undefined ? {} : { token: tokens[type] }),
    ...change,
  });
  const parts: ProviderParts = { http, dial: noDial, now: () => 0, sleep: async () => {}, ...others };
  try {
    await providers[type]?.make(settings, parts).post(eventFor(), signal);
    return { fault: undefined, isSetup: false };
  } catch (error) {
    if (error === signal.reason) throw error;
    return { fault: messageOf(error), isSetup: isSetupFailure(error) };
  }
}

type Answer = Partial<Omit<HttpResponse, "body">> & { readonly body?: string };

/** A host that answers by a function, and what it was asked. */
function hostOf(answer: (request: HttpRequest, index: number) => Answer): Http & { readonly requests: HttpRequest[] } {
  const requests: HttpRequest[] = [];
  return {
    requests,
    async send(request) {
      requests.push(request);
      const { body = "", ...others } = answer(request, requests.length - 1);
      return { url: request.url, status: 200, headers: {}, ...others, body: Buffer.from(body) };
    },
  };
}

const status = (host: { readonly requests: readonly HttpRequest[] }) =>
  host.requests.map(({ method, url }) => `${method} ${url}`);

describe("the status of a commit", () => {
  test("62: for ApplySucceeded has the default context and text, and is sent once", async () => {
    const host = memoryGitHost();
    for (let repeats = 0; repeats < 3; repeats++) await send("github", host);
    const posted = host.requests.filter(({ method }) => method === "POST");
    expect(posted.map(({ body }): unknown => JSON.parse(Buffer.from(body ?? []).toString()))).toEqual([
      { state: "success", description: "apply succeeded", context: "kustomization/apps/0c9c2e41" },
    ]);
    expect(host.requests).toHaveLength(4);
  });

  test("63: a revision needs a commit of forty characters, and is otherwise refused", () => {
    expect(commitOf(`main@sha1:${commit}`)).toBe(commit);
    expect(() => commitOf("1.4.2")).toThrow("failed to extract commit hash from '1.4.2' revision");
  });

  test.each([
    [{ commit: `sha1:${"1".repeat(40)}`, originRevision: "2".repeat(40), revision: "3".repeat(40) }, "1".repeat(40)],
    [{ originRevision: `main@sha1:${"2".repeat(40)}`, revision: "3".repeat(40) }, "2".repeat(40)],
    [{ revision: `main/${"3".repeat(40)}` }, "3".repeat(40)],
  ])("64: commit takes precedence over originRevision and revision: %o", (metadata, hash) => {
    const states = { info: "good", error: "bad", unknown: "neither" };
    const status = { commit: hash, state: "good", description: "apply succeeded" };
    expect(statusOfEvent(eventOf({ metadata }), states)).toEqual(status);
  });

  test("66: a Bitbucket token without a colon is refused before any request", async () => {
    const host = memoryGitHost();
    const { fault } = await send("bitbucket", host, { token: "golden-token" });
    expect(fault).toBe("invalid token format, expected to be <user>:<password>");
    expect(host.requests).toEqual([]);
  });

  test.each(["githubpullrequestcomment", "gitlabmergerequestcomment", "giteapullrequestcomment"])(
    "67: %s changes its comment at the second event",
    async (type) => {
      const host = memoryGitHost();
      await send(type, host);
      await send(type, host);
      const writes = host.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);
      expect(writes).toEqual(["POST", type.startsWith("gitlab") ? "PUT" : "PATCH"]);
    },
  );
});

test.each(types)("%s limits every answer and sends a User-Agent", async (type) => {
  const host = memoryGitHost();
  expect(await send(type, host)).toEqual({ fault: undefined, isSetup: false });
  expect(host.requests.length).toBeGreaterThan(0);
  for (const { headers, maxBytes, maxRedirects = 0 } of host.requests) {
    expect(maxBytes).toBe(maxAnswerBytes);
    expect(maxRedirects).toBe(0);
    expect(headers?.["user-agent"]).toBe("sluice");
  }
});

test.each(types)("N7: %s is called through the proxy only if it is Gitea", async (type) => {
  const host = memoryGitHost();
  await send(type, host, { proxy: proxyOf("http://proxy.example:3128") });
  const proxied = host.requests.filter(({ proxy }) => proxy !== undefined);
  expect(proxied).toHaveLength(type.startsWith("gitea") ? host.requests.length : 0);
});

test.each(types)("%s trusts the CA of its Secret", async (type) => {
  const host = memoryGitHost();
  const tls = { ca: "pem" };
  await send(type, host, { tls });
  expect(host.requests.map((request) => request.tls)).toEqual(host.requests.map(() => tls));
});

describe("a git host that does not answer", () => {
  const dead = (reason: HttpError["reason"], why: string): Http => ({
    send: ({ method, url }) => {
      const { origin, pathname } = new URL(url);
      return Promise.reject(new HttpError(reason, `${method} ${origin}${pathname}: ${why}`));
    },
  });
  const refused = dead("unreachable", "dial tcp 192.0.2.1:443: connect: connection refused");

  test.each([
    [
      "github",
      `could not list commit statuses: Get "https://git.example/api/v3/repos/golden/repo/commits/${commit}/statuses?per_page=50"`,
    ],
    ["githubpullrequestcomment", 'failed to get authenticated user info: Get "https://git.example/api/v3/user"'],
    [
      "gitlab",
      `unable to list commit status: Get "https://git.example/api/v4/projects/golden%2Frepo/repository/commits/${commit}/statuses?name=kustomization%2Fapps%2F0c9c2e41"`,
    ],
    ["gitea", 'failed creating Gitea client: Get "https://git.example/api/v1/version"'],
    [
      "bitbucket",
      `could not get commit status: Get "https://api.bitbucket.org/2.0/repositories/golden/repo/commit/${commit}/statuses/build/<key>"`,
    ],
    [
      "azuredevops",
      `could not list commit statuses: Get "https://git.example/golden/project/_apis/git/repositories/repo/commits/${commit}/statuses"`,
    ],
  ])("is reported by %s with the text of Go's client", async (type, words) => {
    const { fault, isSetup } = await send(type, refused);
    const shown = fault?.replace(/build\/[0-9a-f]{40}/, "build/<key>");
    expect(shown).toBe(`${words}: dial tcp 192.0.2.1:443: connect: connection refused`);
    expect(isSetup).toBe(type === "gitea" || type === "githubpullrequestcomment");
  });

  test("is called five times by Bitbucket Server, after 2, 4, 8 and 16 seconds", async () => {
    const waits: number[] = [];
    const { fault } = await send("bitbucketserver", refused, {}, { sleep: async (ms) => void waits.push(ms) });
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000]);
    expect(fault).toMatch(
      /^could not get existing commit status: .* giving up after 5 attempt\(s\): Get "https:.*refused$/,
    );
  });

  test("is called once by Bitbucket Server if its certificate is untrusted", async () => {
    const untrusted = dead("tls", "tls: failed to verify certificate: x509: certificate signed by unknown authority");
    const { fault } = await send("bitbucketserver", untrusted);
    expect(fault).toMatch(/giving up after 1 attempt\(s\): Get .* certificate signed by unknown authority$/);
  });

  test.each([
    ["refuses connections", "dial tcp 192.0.2.1:443: connect: connection refused", 5],
    ["has no address", "dial tcp: lookup git.example: no such host", 0],
  ])("and %s is retried by GitLab as its client does", async (_what, why, retries) => {
    const waits: number[] = [];
    await send("gitlab", dead("unreachable", why), {}, { sleep: async (ms) => void waits.push(ms) });
    expect(waits).toEqual([800, 1_600, 2_400, 3_200, 4_000].slice(0, retries));
  });

  test("GitLab is retried when its rate limit resets", async () => {
    const waits: number[] = [];
    const host = hostOf((_request, index) => {
      if (index === 0) return { status: 429, headers: { "ratelimit-reset": "30" } };
      return index === 1 ? { status: 429 } : { body: "[]" };
    });
    await send("gitlab", host, {}, { now: () => 10_000, sleep: async (ms) => void waits.push(ms) });
    expect(waits).toEqual([20_000, 200]);
    expect(host.requests).toHaveLength(4);
  });
});

describe("a delivery that is ended", () => {
  const hanging: Http = {
    send: (_request, signal) =>
      new Promise((_resolve, reject) => {
        const end = (): void => {
          try {
            signal.throwIfAborted();
          } catch (error) {
            reject(error);
          }
        };
        end();
        signal.addEventListener("abort", end);
      }),
  };
  const ended = async (type: string, reason: Error, change: Partial<ProviderSettings> = {}): Promise<Sent> => {
    const controller = new AbortController();
    const sent = send(type, hanging, change, { signal: controller.signal });
    controller.abort(reason);
    return sent;
  };

  test.each([
    ["github", "could not list commit statuses: context deadline exceeded"],
    ["gitlabmergerequestcomment", "failed to get authenticated user info: context deadline exceeded"],
    ["gitea", 'failed creating Gitea client: Get "https://git.example/api/v1/version": context deadline exceeded'],
  ])("by its timeout fails for %s", async (type, words) => {
    expect((await ended(type, new DOMException("", "TimeoutError"))).fault).toBe(words);
  });

  test("by its timeout fails for Bitbucket Server, with the number of attempts", async () => {
    const { fault } = await ended("bitbucketserver", new DOMException("", "TimeoutError"));
    expect(fault).toMatch(/^could not get .* giving up after 1 attempt\(s\): context deadline exceeded$/);
  });

  test.each([
    ["gitlab", "unable to list commit status: context deadline exceeded"],
    ["bitbucketserver", /^could not get existing commit status: .* commit status: context deadline exceeded$/],
  ])("by its timeout between two attempts fails for %s", async (type, words) => {
    const controller = new AbortController();
    const { signal } = controller;
    const sleep = async (): Promise<void> => {
      controller.abort(new DOMException("", "TimeoutError"));
      signal.throwIfAborted();
    };
    const host = hostOf(() => ({ status: 503 }));
    const { fault } = await send(type, host, {}, { signal, sleep });
    expect(fault).toMatch(words);
    expect(host.requests).toHaveLength(1);
  });

  test("by its timeout during the login of a GitHub App fails in the setup", async () => {
    const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
      .privateKey.export({ type: "pkcs1", format: "pem" })
      .toString();
    const githubApp = { appId: "7", installationId: "8", privateKey };
    const sent = await ended("github", new DOMException("", "TimeoutError"), { token: "", githubApp });
    expect(sent).toEqual({ fault: "context deadline exceeded", isSetup: true });
  });

  test.each(types)("by its caller is not a failure of %s", async (type) => {
    const reason = new Error("shutting down");
    await expect(ended(type, reason)).rejects.toBe(reason);
  });
});

describe("a redirect of a git host", () => {
  const to = (location: string, code = 301) =>
    hostOf((_request, index) => (index === 0 ? { status: code, headers: { location } } : { body: "[]" }));

  test.each(["github", "gitlab"])("to another host is followed by %s without the token", async (type) => {
    const host = to("https://elsewhere.example/list");
    await send(type, host, { tls: { ca: "ca", cert: "cert", key: "key" } });
    const [first, second] = host.requests;
    expect(Object.keys(first?.headers ?? {})).toContain(type === "github" ? "authorization" : "private-token");
    expect(second?.url).toBe("https://elsewhere.example/list");
    expect(Object.keys(second?.headers ?? {}).toSorted()).toEqual(["accept", "user-agent"]);
    expect(second?.tls).toEqual({ ca: "ca" });
  });

  test("from https to http is not followed", async () => {
    const host = to("http://git.example/list");
    expect((await send("github", host)).fault).toMatch(/statuses\?per_page=50: 301 {2}\[\]$/);
    expect(host.requests).toHaveLength(1);
  });

  test("that would lose the status fails", async () => {
    const host = hostOf(({ method }) =>
      method === "GET" ? { body: "[]" } : { status: 302, headers: { location: "https://git.example/login" } },
    );
    const { fault } = await send("github", host);
    expect(fault).toMatch(/^could not create commit status: POST .*: 302/);
    expect(status(host)).toHaveLength(2);
  });

  test("without end fails after ten", async () => {
    const host = hostOf(() => ({ status: 302, headers: { location: "/again" } }));
    const { fault } = await send("github", host);
    expect(fault).toBe('could not list commit statuses: Get "https://git.example/again": stopped after 10 redirects');
    expect(host.requests).toHaveLength(11);
  });
});

describe("a request that cannot be sent", () => {
  test.each([
    [
      "github",
      'could not list commit statuses: Get "https://git.example/.*": net/http: invalid header field value for "Authorization"',
    ],
    [
      "gitlab",
      'unable to list commit status: Get "https://git.example/.*": net/http: invalid header field value for "Private-Token"',
    ],
  ])("because the token of %s has a line feed", async (type, words) => {
    const host = memoryGitHost();
    const { fault } = await send(type, host, { token: "golden-token\n" });
    expect(fault).toMatch(new RegExp(`^${words}$`));
    expect(host.requests).toEqual([]);
  });

  test("because the address is not http(s)", async () => {
    const { fault } = await send("github", memoryGitHost(), { address: "git://git.example/golden/repo" });
    expect(fault).toMatch(/^could not list commit statuses: Get "git:.*": unsupported protocol scheme "git"$/);
  });
});

describe("GitHub", () => {
  test.each([
    ["https://github.com/golden/repo", "https://api.github.com/"],
    ["git@github.com:golden/repo.git", "https://api.github.com/"],
    ["https://git.example:8443/golden/repo", "https://git.example:8443/api/v3/"],
    ["https://api.git.example/golden/repo", "https://api.git.example/"],
    ["https://git.api.example/golden/repo", "https://git.api.example/"],
  ])("at the address %s has its API at %s", async (address, api) => {
    const host = hostOf(() => ({ body: "[]" }));
    await send("github", host, { address, tls: { ca: "pem" } });
    expect(host.requests[0]?.url).toBe(`${api}repos/golden/repo/commits/${commit}/statuses?per_page=50`);
    expect(host.requests[0]?.tls).toEqual(api === "https://api.github.com/" ? undefined : { ca: "pem" });
  });

  test.each([
    ["3600", "[rate reset in 59m50s]"],
    ["15", "[rate reset in 5s]"],
    ["0", "[rate limit was reset 10s ago]"],
  ])("reports when its rate limit resets: %s", async (reset, words) => {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    const host = hostOf(() => ({ status: 403, headers, body: '{"message":"API rate limit exceeded"}' }));
    const { fault } = await send("github", host, {}, { now: () => 10_000 });
    expect(fault?.endsWith(`: 403 API rate limit exceeded ${words}`)).toBe(true);
  });

  test("is reported with control characters escaped", async () => {
    const host = hostOf(() => ({ status: 404, body: JSON.stringify({ message: "\u001b[2Jgone" }) }));
    expect((await send("github", host)).fault).toMatch(/: 404 \\u001b\[2Jgone \[\]$/);
  });
});

describe("a GitHub App of a Provider", () => {
  const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
    .privateKey.export({ type: "pkcs1", format: "pem" })
    .toString();
  const app = { appId: "7", installationId: "8", privateKey, baseUrl: "https://git.example/api/v3" };

  test("requests its token once, and through the proxy", async () => {
    const host = memoryGitHost();
    const githubApps = githubAppLogins(host, { now: () => 0 });
    const proxy = proxyOf("http://proxy.example:3128");
    for (const type of ["github", "github", "githubdispatch"]) {
      await send(type, host, { token: "", githubApp: app, proxy }, { githubApps });
    }
    expect(host.requests.map((request) => [request.method, request.proxy !== undefined])).toEqual([
      ["POST", true],
      ["GET", false],
      ["POST", false],
      ["GET", false],
      ["POST", false],
    ]);
    expect(host.requests[1]?.headers?.["authorization"]).toBe("Bearer golden-app-token");
  });

  test("comments under its own name, which is also requested once", async () => {
    const host = memoryGitHost();
    const githubApps = githubAppLogins(host, { now: () => 0 });
    for (let repeats = 0; repeats < 2; repeats++) {
      await send("githubpullrequestcomment", host, { token: "", githubApp: app }, { githubApps });
    }
    expect(status(host).map((each) => each.replace("https://git.example/api/v3/", ""))).toEqual([
      "GET app",
      "POST app/installations/8/access_tokens",
      "GET repos/golden/repo/issues/42/comments?direction=asc&per_page=100&sort=created",
      "POST repos/golden/repo/issues/42/comments",
      "GET repos/golden/repo/issues/42/comments?direction=asc&per_page=100&sort=created",
      "PATCH repos/golden/repo/issues/comments/1",
    ]);
  });

  test("is not used if the Secret has a token", async () => {
    const host = memoryGitHost();
    await send("github", host, { githubApp: app });
    expect(host.requests[0]?.headers?.["authorization"]).toBe("Bearer golden-token");
  });

  test.each([
    [{ appId: "x" }, "app ID must be provided to use github app authentication"],
    [{ appId: "0" }, "app ID must be provided to use github app authentication"],
    [{ installationId: "" }, "app installation owner or ID must be provided to use github app authentication"],
    [
      { installationOwner: "golden" },
      "only one of app installation owner or ID must be provided to use github app authentication",
    ],
    [{ privateKey: "" }, "private key must be provided to use github app authentication"],
  ])("in an incomplete Secret is refused: %o", async (change, words) => {
    const host = memoryGitHost();
    expect((await send("github", host, { token: "", githubApp: { ...app, ...change } })).fault).toBe(words);
    expect(host.requests).toEqual([]);
  });

  test.each([
    ["an invalid key", { privateKey: "key" }, "could not parse private key"],
    [
      "an App that GitHub rejects",
      { installationId: "9" },
      "POST https://git.example/api/v3/app/installations/9/access_tokens: 401",
    ],
  ])("with %s fails in the setup", async (_what, change, words) => {
    const sent = await send("github", memoryGitHost(), { token: "", githubApp: { ...app, ...change } });
    expect(sent.isSetup).toBe(true);
    expect(sent.fault).toContain(words);
  });
});

test("Azure DevOps without a token reports that it needs one", async () => {
  const { fault } = await send("azuredevops", memoryGitHost(), { token: "" });
  expect(fault).toMatch(/^failed to acquire azure devops token: .* put a personal access token into the key token/);
});
