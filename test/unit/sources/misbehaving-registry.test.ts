import { describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { forever, give, manifest, refuse, scriptedRegistry } from "./scripted-registry.ts";

const registry = scriptedRegistry();

describe("a misbehaving registry", () => {
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
    registry.answers["GET /v2/app/manifests/v1"] = refuse(status, {}, body);
    const told = registry
      .client()
      .manifest("app", "v1", forever)
      .then(() => "", String);
    expect(await told).toBe(`RegistryFault: GET http://${registry.host}/v2/app/manifests/v1: ${message}`);
  });

  test.each([
    ["a page", "<html>hunter2</html>", "unexpected status code 500 Internal Server Error"],
    [
      "its own JSON",
      '{"AccessKeyId":"hunter2","errors":"hunter2"}',
      "unexpected status code 500 Internal Server Error",
    ],
    [
      "its own code",
      '{"errors":[{"code":"hunter2","message":"hunter2"}]}',
      "unexpected status code 500 Internal Server Error",
    ],
    [
      "its own message",
      '{"errors":[{"code":"DENIED","message":"hunter2"}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "its own detail",
      '{"errors":[{"code":"DENIED","detail":"tag hunter2"}]}',
      "DENIED: requested access to the resource is denied",
    ],
    [
      "its own key",
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
  ])("answers with %s, which is not shown", async (_, body, message) => {
    for (const asked of ["HEAD", "GET"]) registry.answers[`${asked} /v2/app/manifests/v1`] = refuse(500, {}, body);
    const told = registry
      .client()
      .digestOfTag("app", "v1", forever)
      .then(() => "", String);
    expect(await told).toBe(`RegistryFault: GET http://${registry.host}/v2/app/manifests/v1: ${message}`);
  });

  test("puts a secret into a token service's error and a digest header, which is not shown", async () => {
    const challenge = `Bearer realm="http://${registry.host}/token"`;
    registry.answers["HEAD /v2/app/manifests/v1"] = refuse(401, { "www-authenticate": challenge });
    registry.answers["GET /token"] = refuse(403, {}, '{"errors":[{"code":"hunter2"}],"details":"hunter2"}');
    await expect(registry.client().digestOfTag("app", "v1", forever)).rejects.toThrow(
      /GET http:.*\/token: unexpected status code 403 Forbidden$/,
    );
    registry.answers["GET /v2/app/manifests/v2"] = refuse(200, { "docker-content-digest": "sha256:hunter2" }, "{}");
    await expect(registry.client().manifest("app", "v2", forever)).rejects.toThrow(
      /want an invalid digest, got sha256:[0-9a-f]{64}$/,
    );
  });

  test.each([
    { header: "7", ms: 7_000 },
    { header: "Thu, 01 Jan 2026 00:00:30 GMT", ms: 30_000 },
    { header: "86400", ms: 3_600_000 },
    { header: "soon", ms: undefined },
  ])("sends Retry-After: $header", async ({ header, ms }) => {
    registry.answers["HEAD /v2/app/manifests/v1"] = refuse(429, { "retry-after": header });
    const fault: unknown = await registry
      .client()
      .digestOfTag("app", "v1", forever)
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: "RegistryFault", status: 429, retryAfterMs: ms });
  });

  test("is too slow", async () => {
    registry.answers["HEAD /v2/app/manifests/v1"] = () => undefined;
    const connected = registry.client({ timeoutMs: 50 });
    const error: unknown = await connected.digestOfTag("app", "v1", forever).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: "timeout", message: expect.stringContaining("no answer within 50 ms") });
  });

  test("sends a body that never ends", async () => {
    registry.answers["GET /v2/app/blobs/x"] = (_request, response) => {
      response.write("begun");
    };
    const work = registry.client({ timeoutMs: 50 }).blob("app", "x", 100, forever);
    await expect(work).rejects.toThrow("no answer within 50 ms");
  });

  test("closes the connection during an answer", async () => {
    registry.answers["GET /v2/app/blobs/x"] = (_request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("begun", () => response.destroy());
    };
    await expect(registry.client().blob("app", "x", 100, forever)).rejects.toThrow("broke off");
  });

  test("sends bytes that do not match the digest", async () => {
    registry.answers[`GET /v2/app/blobs/${digestOf("wanted")}`] = refuse(200, {}, "other");
    const wanted = digestOf("wanted");
    await expect(registry.client().blob("app", wanted, 100, forever)).rejects.toThrow(
      `blob of app does not match its digest: want ${wanted}, got ${digestOf("other")}`,
    );
    registry.answers[`GET /v2/app/manifests/${wanted}`] = refuse(200, {}, "other");
    await expect(registry.client().manifest("app", wanted, forever)).rejects.toThrow(
      "manifest of app does not match its digest",
    );
  });

  test("sends a manifest that does not match its digest header", async () => {
    registry.answers["GET /v2/app/manifests/v1"] = refuse(200, { "docker-content-digest": digestOf("a") }, "b");
    await expect(registry.client().manifest("app", "v1", forever)).rejects.toThrow("does not match its digest");
  });

  test("lists tags without end", async () => {
    registry.answers["GET /v2/app/tags/list"] = (_request, response) => {
      const tags = Array.from({ length: 1_000 }, (_, index) => `t${index}`);
      response.writeHead(200, { link: '</v2/app/tags/list?n=1000&last=t>; rel="next"' });
      response.end(JSON.stringify({ name: "app", tags }));
    };
    await expect(registry.client().tags("app", forever)).rejects.toThrow("has more than 100000 tags");
  });

  test("lists invalid tags", async () => {
    registry.answers["GET /v2/app/tags/list"] = refuse(200, {}, '{"tags":[1]}');
    await expect(registry.client().tags("app", forever)).rejects.toThrow("is not a list of tags");
  });

  test("refuses HEAD", async () => {
    registry.answers["HEAD /v2/app/manifests/v1"] = refuse(405);
    registry.answers["GET /v2/app/manifests/v1"] = give;
    expect(await registry.client().digestOfTag("app", "v1", forever)).toBe(digestOf(manifest));
  });
});
