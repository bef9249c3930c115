import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { type RegistryAccess } from "../../../lib/sources/oci/registry-access.ts";
import {
  maxLinkHeaderLength,
  maxManifestBytes,
  maxTagLength,
  maxTagListBytes,
  maxTagPages,
  maxTags,
  registryClients,
} from "../../../lib/sources/oci/registry-client.ts";
import { maxRegistryErrors } from "../../../lib/sources/oci/registry-fault.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => 0, sleep: async () => undefined };
const forever = new AbortController().signal;
const manifest = "{}";
const credentials = { username: "robot", password: new Secret("hunter2") };

let server: Server;
let host: string;
let http: ReturnType<typeof httpClient>;
let answers: Record<string, Answer>;
let asked: { readonly what: string; readonly authorization: string | undefined }[];

beforeEach(async () => {
  answers = { "GET /v2/": (_request, response) => response.end("{}") };
  asked = [];
  server = createServer((request, response) => {
    const what = `${request.method ?? ""} ${request.url ?? ""}`;
    asked.push({ what, authorization: request.headers.authorization });
    const answer = answers[what] ?? answers[what.replace(/\?.*$/, "")];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  host = `127.0.0.1:${await portOnLoopback(server)}`;
  http = httpClient({ network: homeNetwork });
});
afterEach(() => {
  http.close();
  server.closeAllConnections();
  server.close();
});

function client(access: Partial<RegistryAccess> = {}) {
  return registryClients(http, clock)({ host, insecure: true, ...access });
}

function refuse(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

const give: Answer = (_request, response) => {
  response.writeHead(200, { "docker-content-digest": digestOf(manifest), "content-type": "text/x" }).end(manifest);
};

describe("logging in", () => {
  test("with a name and a password where the registry asks for them", async () => {
    answers["HEAD /v2/app/manifests/v1"] = (request, response) => {
      const isKnown = request.headers.authorization === `Basic ${Buffer.from("robot:hunter2").toString("base64")}`;
      if (isKnown) give(request, response);
      else refuse(401, { "www-authenticate": 'Basic realm="r"' })(request, response);
    };
    expect(await client({ credentials }).digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
    expect(asked.filter(({ what }) => what.startsWith("HEAD")).map(({ authorization }) => authorization)).toEqual([
      undefined,
      expect.stringMatching(/^Basic /),
    ]);
  });

  test("with a token from where the registry says, also for nobody in particular", async () => {
    const challenge = `Bearer realm="http://${host}/token",service="reg",scope="repository:app:pull"`;
    answers["GET /token"] = (_request, response) => response.end('{"token":"t1"}');
    for (const reference of ["v1", "v2"]) {
      answers[`HEAD /v2/app/manifests/${reference}`] = (request, response) => {
        if (request.headers.authorization === "Bearer t1") give(request, response);
        else refuse(401, { "www-authenticate": challenge })(request, response);
      };
    }
    const registry = client();
    await registry.digestOfTag("app", "v1", forever);
    await registry.digestOfTag("app", "v2", forever);
    const tokens = asked.filter(({ what }) => what.startsWith("GET /token"));
    expect(tokens).toEqual([
      { what: "GET /token?service=reg&scope=repository%3Aapp%3Apull", authorization: undefined },
    ]);
  });

  test("never by sending credentials to a place that the registry names without TLS, if it has TLS itself", async () => {
    const challenge = 'Bearer realm="ftp://elsewhere.example/token"';
    answers["HEAD /v2/app/manifests/v1"] = refuse(401, { "www-authenticate": challenge });
    await expect(client({ credentials }).digestOfTag("app", "v1", forever)).rejects.toThrow("not https");
  });

  test("a refusal is told without the password", async () => {
    const body = '{"errors":[{"code":"UNAUTHORIZED","message":"authentication required","detail":null}]}';
    for (const method of ["HEAD", "GET"]) {
      answers[`${method} /v2/app/manifests/v1`] = refuse(401, { "www-authenticate": "Basic" }, body);
    }
    const error = await client({ credentials })
      .digestOfTag("app", "v1", forever)
      .catch((thrown: unknown) => String(thrown));
    expect(error).toContain(`GET http://${host}/v2/app/manifests/v1: UNAUTHORIZED: authentication required`);
    expect(error).not.toContain("hunter2");
  });
});

describe("a registry that does not do what it should", () => {
  test.each([
    {
      status: 403,
      body: '{"errors":[{"code":"DENIED"}]}',
      message: "DENIED: requested access to the resource is denied",
    },
    { status: 404, body: "", message: "unexpected status code 404 Not Found" },
    {
      status: 404,
      body: '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown","detail":{"Tag":"v1"}}]}',
      message: "MANIFEST_UNKNOWN: manifest unknown; map[Tag:v1]",
    },
    {
      status: 404,
      body: '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown","detail":"unknown tag=v1"}]}',
      message: "MANIFEST_UNKNOWN: manifest unknown; unknown tag=v1",
    },
    {
      status: 401,
      body: '{"errors":[{"code":"UNAUTHORIZED","detail":[{"Type":"repository","Class":"","Name":"app","Action":"pull"}]}]}',
      message: "UNAUTHORIZED: authentication required; [map[Action:pull Class: Name:app Type:repository]]",
    },
    {
      status: 400,
      body: '{"errors":[{"code":"NAME_UNKNOWN","detail":null},{"code":"UNKNOWN"},{"code":"UNKNOWN"}]}',
      message: "multiple errors returned: NAME_UNKNOWN: repository name not known to registry; UNKNOWN: unknown error",
    },
  ])("answers $status: $message", async ({ status, body, message }) => {
    answers["GET /v2/app/manifests/v1"] = refuse(status, {}, body);
    const told = client()
      .manifest("app", "v1", forever)
      .then(() => "", String);
    expect(await told).toBe(`RegistryFault: GET http://${host}/v2/app/manifests/v1: ${message}`);
  });

  test.each([
    ["a page", "<html>hunter2</html>", "unexpected status code 500 Internal Server Error"],
    [
      "JSON of its own",
      '{"AccessKeyId":"hunter2","errors":"hunter2"}',
      "unexpected status code 500 Internal Server Error",
    ],
    [
      "a code of its own",
      '{"errors":[{"code":"hunter2","message":"hunter2"}]}',
      "unexpected status code 500 Internal Server Error",
    ],
    [
      "a message of its own",
      '{"errors":[{"code":"DENIED","message":"hunter2"}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "a detail of its own",
      '{"errors":[{"code":"DENIED","detail":"tag hunter2"}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "a key of its own",
      '{"errors":[{"code":"DENIED","detail":{"hunter2":"v1"}}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "a detail inside",
      '{"errors":[{"code":"DENIED","detail":{"Tag":["v1",{"name":"hunter2"}]}}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "a detail without end",
      `{"errors":[{"code":"DENIED","detail":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`,
      "DENIED: requested access to the resource is denied",
    ],
    [
      "a long detail",
      JSON.stringify({ errors: [{ code: "DENIED", detail: "v1 ".repeat(1_000) }] }),
      "DENIED: requested access to the resource is denied",
    ],
  ])("answers with %s, which is not told", async (_, body, message) => {
    for (const asked of ["HEAD", "GET"]) answers[`${asked} /v2/app/manifests/v1`] = refuse(500, {}, body);
    const told = client()
      .digestOfTag("app", "v1", forever)
      .then(() => "", String);
    expect(await told).toBe(`RegistryFault: GET http://${host}/v2/app/manifests/v1: ${message}`);
  });

  test("answers what it wants in a token service's error and in a digest's header, and none of it is told", async () => {
    const challenge = `Bearer realm="http://${host}/token"`;
    answers["HEAD /v2/app/manifests/v1"] = refuse(401, { "www-authenticate": challenge });
    answers["GET /token"] = refuse(403, {}, '{"errors":[{"code":"hunter2"}],"details":"hunter2"}');
    await expect(client().digestOfTag("app", "v1", forever)).rejects.toThrow(
      /GET http:.*\/token: unexpected status code 403 Forbidden$/,
    );
    answers["GET /v2/app/manifests/v2"] = refuse(200, { "docker-content-digest": "sha256:hunter2" }, "{}");
    await expect(client().manifest("app", "v2", forever)).rejects.toThrow(
      /want what is no digest, got sha256:[0-9a-f]{64}$/,
    );
  });

  test.each([
    { header: "7", ms: 7_000 },
    { header: "Thu, 01 Jan 2026 00:00:30 GMT", ms: 30_000 },
    { header: "86400", ms: 3_600_000 },
    { header: "soon", ms: undefined },
  ])("says when to come again: $header", async ({ header, ms }) => {
    answers["HEAD /v2/app/manifests/v1"] = refuse(429, { "retry-after": header });
    const fault: unknown = await client()
      .digestOfTag("app", "v1", forever)
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: "RegistryFault", status: 429, retryAfterMs: ms });
  });

  test("is slow", async () => {
    answers["HEAD /v2/app/manifests/v1"] = () => undefined;
    const registry = client({ timeoutMs: 50 });
    const error: unknown = await registry.digestOfTag("app", "v1", forever).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "timeout", message: expect.stringContaining("no answer within 50 ms") });
  });

  test("sends a body that never ends", async () => {
    answers["GET /v2/app/blobs/x"] = (_request, response) => {
      response.write("begun");
    };
    const work = client({ timeoutMs: 50 }).blob("app", "x", 100, forever);
    await expect(work).rejects.toThrow("no answer within 50 ms");
  });

  test("ends the connection midway", async () => {
    answers["GET /v2/app/blobs/x"] = (_request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("begun", () => response.destroy());
    };
    await expect(client().blob("app", "x", 100, forever)).rejects.toThrow("broke off");
  });

  test("sends other bytes than the digest says", async () => {
    answers[`GET /v2/app/blobs/${digestOf("wanted")}`] = refuse(200, {}, "other");
    const wanted = digestOf("wanted");
    await expect(client().blob("app", wanted, 100, forever)).rejects.toThrow(
      `blob of app does not match its digest: want ${wanted}, got ${digestOf("other")}`,
    );
    answers[`GET /v2/app/manifests/${wanted}`] = refuse(200, {}, "other");
    await expect(client().manifest("app", wanted, forever)).rejects.toThrow(
      "manifest of app does not match its digest",
    );
  });

  test("names one digest and sends another manifest", async () => {
    answers["GET /v2/app/manifests/v1"] = refuse(200, { "docker-content-digest": digestOf("a") }, "b");
    await expect(client().manifest("app", "v1", forever)).rejects.toThrow("does not match its digest");
  });

  test("lists tags without end", async () => {
    answers["GET /v2/app/tags/list"] = (_request, response) => {
      const tags = Array.from({ length: 1_000 }, (_, index) => `t${index}`);
      response.writeHead(200, { link: '</v2/app/tags/list?n=1000&last=t>; rel="next"' });
      response.end(JSON.stringify({ name: "app", tags }));
    };
    await expect(client().tags("app", forever)).rejects.toThrow("has more than 100000 tags");
  });

  test("lists what are no tags", async () => {
    answers["GET /v2/app/tags/list"] = refuse(200, {}, '{"tags":[1]}');
    await expect(client().tags("app", forever)).rejects.toThrow("no list of tags");
  });

  test("refuses HEAD", async () => {
    answers["HEAD /v2/app/manifests/v1"] = refuse(405);
    answers["GET /v2/app/manifests/v1"] = give;
    expect(await client().digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
  });
});

describe("lists of tags have limits", () => {
  /** A registry that answers these pages, one after the other. */
  const listing = (page: (index: number) => string, last: number, link = "/v2/app/tags/list"): void => {
    answers["GET /v2/app/tags/list"] = (request, response) => {
      const index = Number(new URL(request.url ?? "", "http://x").searchParams.get("page") ?? 0);
      const headers = index < last ? { link: `<${link}?page=${index + 1}>; rel="next"` } : {};
      response.writeHead(200, headers).end(page(index));
    };
  };
  const tagsOf = (count: number): string =>
    JSON.stringify({ tags: Array.from({ length: count }, (_, index) => `t${index}`) });
  const padded = (bytes: number): string => '{"tags":[]}'.padEnd(bytes);

  test("of their number", async () => {
    listing(() => tagsOf(maxTags / 4), 3);
    expect(await client().tags("app", forever)).toHaveLength(maxTags);
    listing((index) => tagsOf(index === 3 ? maxTags / 4 + 1 : maxTags / 4), 3);
    await expect(client().tags("app", forever)).rejects.toThrow(`has more than ${maxTags} tags`);
  });

  test("of their bytes, however few tags they hold", async () => {
    const pages = maxTagListBytes / maxManifestBytes;
    listing(() => padded(maxManifestBytes), pages - 1);
    expect(await client().tags("app", forever)).toEqual([]);
    listing(() => padded(maxManifestBytes), pages);
    await expect(client().tags("app", forever)).rejects.toThrow(`a list of tags of more than ${maxTagListBytes} bytes`);
  });

  test("of the bytes of one page", async () => {
    listing(() => padded(maxManifestBytes + 1), 0);
    await expect(client().tags("app", forever)).rejects.toThrow(`longer than ${maxManifestBytes} bytes`);
  });

  test("of their pages", async () => {
    listing(() => padded(11), maxTagPages - 1);
    expect(await client().tags("app", forever)).toEqual([]);
    listing(() => padded(11), maxTagPages);
    await expect(client().tags("app", forever)).rejects.toThrow(`has more than ${maxTagPages} pages of tags`);
  });

  test("of one tag's length", async () => {
    listing(() => JSON.stringify({ tags: ["t".repeat(maxTagLength)] }), 0);
    expect(await client().tags("app", forever)).toHaveLength(1);
    listing(() => JSON.stringify({ tags: ["t".repeat(maxTagLength + 1)] }), 0);
    await expect(client().tags("app", forever)).rejects.toThrow(`a tag of more than ${maxTagLength} characters`);
  });

  test("of the address of the next page", async () => {
    const around = '<?page=1>; rel="next"'.length;
    listing(() => padded(11), 1, "/v2/app/tags/list".padEnd(maxLinkHeaderLength - around, "/"));
    await expect(client().tags("app", forever)).rejects.toThrow("404");
    listing(() => padded(11), 1, "/v2/app/tags/list".padEnd(maxLinkHeaderLength - around + 1, "/"));
    await expect(client().tags("app", forever)).rejects.toThrow("names a next page by more than");
  });
});

describe("what a registry says of an error has limits", () => {
  const saying = (errors: readonly unknown[]): Promise<string> => {
    answers["GET /v2/app/manifests/v1"] = refuse(404, {}, JSON.stringify({ errors }));
    return client()
      .manifest("app", "v1", forever)
      .then(() => "", String);
  };
  const error = { code: "MANIFEST_UNKNOWN", message: "" };

  test("of their number: more are told by the status code alone", async () => {
    const many = (count: number) => saying(Array.from({ length: count }, () => error));
    expect(await many(maxRegistryErrors)).toMatch(/: MANIFEST_UNKNOWN: manifest unknown$/);
    expect(await many(maxRegistryErrors + 1)).toMatch(/: unexpected status code 404 Not Found$/);
  });
});

test("what a signed URL holds is not told", async () => {
  const digest = digestOf("content");
  answers["POST /v2/app/blobs/uploads/"] = refuse(202, { location: "/upload/1?signature=hunter2&n=3" });
  answers["PUT /upload/1"] = refuse(403);
  const work = client().pushBlob("app", Buffer.from("content"), forever);
  await expect(work).rejects.toThrow(
    `PUT http://${host}/upload/1?signature=REDACTED&n=3&digest=${encodeURIComponent(digest)}`,
  );
});

describe("redirects", () => {
  test("of a blob are followed without the credentials", async () => {
    const elsewhere = createServer((request, response) => response.end(request.headers.authorization ?? "content"));
    const port = await portOnLoopback(elsewhere);
    const digest = digestOf("content");
    answers[`GET /v2/app/blobs/${digest}`] = (request, response) => {
      if (request.headers.authorization === undefined) refuse(401, { "www-authenticate": "Basic" })(request, response);
      else refuse(307, { location: `http://127.0.0.1:${port}/signed?X=secret` })(request, response);
    };
    const bytes = await client({ credentials }).blob("app", digest, 100, forever);
    expect(Buffer.from(bytes).toString()).toBe("content");
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  test("in a circle, and to other protocols, are not", async () => {
    const digest = digestOf("content");
    answers[`GET /v2/app/blobs/${digest}`] = refuse(302, { location: `/v2/app/blobs/${digest}` });
    await expect(client().blob("app", digest, 100, forever)).rejects.toThrow("too many redirects");
    answers[`GET /v2/app/blobs/${digest}`] = refuse(302, { location: "file:///etc/passwd" });
    await expect(client().blob("app", digest, 100, forever)).rejects.toThrow("a place that is not followed");
  });
});

test("a run that ends stops what is under way", async () => {
  const stop = new AbortController();
  answers["GET /v2/app/blobs/x"] = () => stop.abort(new Error("the run has ended"));
  await expect(client().blob("app", "x", 100, stop.signal)).rejects.toThrow("the run has ended");
});

test("a kept connection that the server has closed meanwhile is opened again", async () => {
  answers["HEAD /v2/app/manifests/v1"] = give;
  const registry = client();
  await registry.digestOfTag("app", "v1", forever);
  server.closeAllConnections();
  expect(await registry.digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
});
