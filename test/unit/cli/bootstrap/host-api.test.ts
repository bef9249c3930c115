import { describe, expect, test } from "vitest";
import { z } from "zod";
import { hostApi, maxHostPages } from "../../../../cli/bootstrap/host-api.ts";
import { type Http, HttpError, type HttpRequest } from "../../../../lib/core/ports/http.ts";

const { signal } = new AbortController();
const token = "secret-token";
const question = {
  method: "POST" as const,
  ...{ path: "repos/a/b/keys", doing: "add the deploy key", needs: 'the scope "repo"' },
  answer: z.object({ id: z.number() }),
};

/** An API that answers each request by this function. */
function asked(answer: (request: HttpRequest) => { status: number; body?: unknown; headers?: object }) {
  const seen: HttpRequest[] = [];
  const http: Http = {
    send: (request) => {
      seen.push(request);
      const { status, body, headers = {} } = answer(request);
      const text = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
      return Promise.resolve({ url: request.url, status, headers: { ...headers }, body: Buffer.from(text) });
    },
  };
  const api = hostApi(
    {
      ...{ name: "GitHub", api: "https://api.github.com/", token, tokenName: "GITHUB_TOKEN" },
      headers: { authorization: `Bearer ${token}` },
    },
    http,
  );
  return { api, seen };
}

describe("the API of a git host", () => {
  test("is called with the token, and returns its answer", async () => {
    const { api, seen } = asked(() => ({ status: 201, body: { id: 1, more: true } }));
    expect(await api.ask({ ...question, body: { title: "x" } }, signal)).toEqual({ id: 1 });
    const [request] = seen;
    expect([request?.method, request?.url]).toEqual(["POST", "https://api.github.com/repos/a/b/keys"]);
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${token}`, "content-type": "application/json" });
    expect(Buffer.from(request?.body ?? []).toString()).toBe('{"title":"x"}');
  });

  test.each([
    [
      401,
      { message: "Bad credentials" },
      {},
      "GitHub does not take the token of GITHUB_TOKEN (401: Bad credentials): it is wrong or has expired, set GITHUB_TOKEN to another one",
    ],
    [
      403,
      { message: "no" },
      {},
      'GitHub does not let the token of GITHUB_TOKEN add the deploy key (403: no): it needs the scope "repo"',
    ],
    [404, "", {}, 'GitHub does not let the token of GITHUB_TOKEN add the deploy key (404): it needs the scope "repo"'],
    [
      403,
      { message: "rate" },
      { "x-ratelimit-remaining": "0" },
      "GitHub takes no more requests with this token now (403: rate): run the command again later",
    ],
    [429, "busy", {}, "GitHub takes no more requests with this token now (429): run the command again later"],
    [
      422,
      { message: "Validation Failed", errors: [{ message: "key is already in use" }, "more"] },
      {},
      "GitHub refuses to add the deploy key (422: Validation Failed; key is already in use; more)",
    ],
    [
      400,
      { message: { base: ["too many", "bad"], name: "taken" } },
      {},
      "GitHub refuses to add the deploy key (400: base too many, bad; name taken)",
    ],
    [
      400,
      { error: "invalid_request", error_description: "wrong" },
      {},
      "GitHub refuses to add the deploy key (400: invalid_request; wrong)",
    ],
    [503, "<html>down</html>", {}, "GitHub cannot add the deploy key now (503): run the command again"],
    [302, "", { location: "https://elsewhere.test/" }, "GitHub refuses to add the deploy key (302)"],
    [
      400,
      { message: `${token} \u001b[2J${"x".repeat(1_000)}` },
      {},
      `GitHub refuses to add the deploy key (400: ***** \\u001b[2J${"x".repeat(285)}…)`,
    ],
  ])("an answer %i that refuses is one clear line: case %#", async (status, body, headers, text) => {
    const { api } = asked(() => ({ status, body, headers }));
    await expect(api.ask(question, signal)).rejects.toThrow(new Error(text));
  });

  test("an answer that does not fit the API is reported, with what to check", async () => {
    const { api } = asked(() => ({ status: 200, body: "<html>Welcome</html>" }));
    const text =
      "GitHub was asked to add the deploy key, and its answer is not the one of GitHub's API: check --hostname";
    await expect(api.ask(question, signal)).rejects.toThrow(new Error(text));
  });

  test("a host that does not answer is named, without the token", async () => {
    const http: Http = {
      send: ({ url }) => Promise.reject(new HttpError("unreachable", `POST ${url}: no route for ${token}`)),
    };
    const api = hostApi({ name: "GitHub", api: "https://api.test/", headers: {}, token, tokenName: "T" }, http);
    const text =
      'GitHub cannot be asked to add the deploy key: Post "https://api.test/repos/a/b/keys": no route for *****';
    await expect(api.ask(question, signal)).rejects.toThrow(new Error(text));
  });

  test("a missing object is undefined where it may be missing", async () => {
    const { api } = asked(() => ({ status: 404, body: { message: "Not Found" } }));
    expect(await api.find({ ...question, method: "GET" }, signal)).toBe(undefined);
  });

  test("a list is read to its last page, and at most twenty pages", async () => {
    const hundred = Array.from({ length: 100 }, (_, id) => ({ id }));
    const list = { path: "keys", entry: z.object({ id: z.number() }), doing: "list the keys", needs: "" };
    const some = asked(({ url }) => ({ status: 200, body: url.endsWith("page=3") ? [{ id: 7 }] : hundred }));
    expect(await some.api.list(list, signal)).toHaveLength(201);
    expect(some.seen.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((page) => `https://api.github.com/keys?per_page=100&page=${page}`),
    );
    const endless = asked(() => ({ status: 200, body: hundred }));
    await expect(endless.api.list(list, signal)).rejects.toThrow(
      new Error("GitHub was asked to list the keys, and lists more than 2000 entries: remove some"),
    );
    expect(endless.seen).toHaveLength(maxHostPages);
    const full = asked(({ url }) => ({ status: 200, body: url.endsWith(`page=${maxHostPages}`) ? [] : hundred }));
    expect(await full.api.list(list, signal)).toHaveLength(1_900);
  });
});
