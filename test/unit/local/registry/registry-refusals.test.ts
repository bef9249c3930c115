import { type IncomingMessage, request } from "node:http";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { maxManifestBytes } from "../../../../local/registry/manifests.ts";
import { codeOf, dockerType, indexType, localRegistry, manifestType, parse } from "./local-registry.ts";

const own = localRegistry();
const { send, pushManifest } = own;

describe("the registry refuses", () => {
  test("content that does not match its digest", async () => {
    const blob = await send("POST", `/v2/app/blobs/uploads/?digest=${digestOf("one")}`, { body: "other" });
    expect([blob.status, codeOf(blob.text)]).toEqual([400, "DIGEST_INVALID"]);
    const manifest = await pushManifest("app", digestOf("something else"));
    expect([manifest.status, codeOf(manifest.text)]).toEqual([400, "DIGEST_INVALID"]);
    expect((await send("HEAD", `/v2/app/blobs/${digestOf("one")}`)).status).toBe(404);
  });

  const config = `"config":{"digest":"${digestOf("{}")}","size":2}`;
  test.each([
    { what: "an empty object", body: "{}", detail: "unrecognized manifest schema version 0" },
    { what: "of another schema", body: '{"schemaVersion":1}', detail: "unrecognized manifest schema version 1" },
    { what: "without a config", body: '{"schemaVersion":2,"layers":[]}', detail: "config is missing" },
    { what: "no JSON", body: "nonsense", detail: /^it is not JSON: / },
    { what: "no object", body: "[]", detail: "it must be an object" },
    {
      what: "of another type than it declares",
      body: '{"schemaVersion":2,"mediaType":"text/x"}',
      detail: `if present, mediaType in manifest should be '${manifestType}' not 'text/x'`,
    },
    { what: "an index", body: '{"manifests":[]}', detail: "ocimanifest: expected manifest but found index" },
    { what: "of a schema that is a text", body: '{"schemaVersion":"2"}', detail: "schemaVersion must be a number" },
    { what: "layers that are no list", body: '{"layers":3}', detail: "layers must be a list" },
    {
      what: "layers of the wrong form",
      body: '{"layers":[{"size":"1"},3,4]}',
      detail: "layers[0].digest is missing; layers[0].size must be a number; layers[1] must be an object; and 1 more",
    },
    { what: "as long as may be, and no JSON", body: " ".repeat(maxManifestBytes), detail: /^it is not JSON: / },
    {
      what: "an index, by its type",
      type: indexType,
      body: "{}",
      detail: /^unrecognized manifest list schema version 0, /,
    },
    {
      what: "a manifest, by its type an index",
      type: indexType,
      body: `{${config}}`,
      detail: /expected index but found/,
    },
    {
      what: "Docker's, and does not say so",
      type: dockerType,
      body: "{}",
      detail: /^mediaType in manifest should be .* not ''$/,
    },
    {
      what: "no manifest by its type",
      type: "text/x",
      body: "{}",
      detail: /^unsupported manifest media type .*: text\/x$/,
    },
  ])("a manifest that is $what", async ({ type = manifestType, body, detail }) => {
    const headers = { "content-type": type };
    const answered = await send("PUT", "/v2/app/manifests/v1", { body, headers });
    const [error] = parse(answered.text).errors ?? [];
    expect([answered.status, error]).toMatchObject([400, { code: "MANIFEST_INVALID", message: "manifest invalid" }]);
    expect(error?.detail).toMatch(detail);
    expect(own.pushes).toEqual([]);
  });

  test("a manifest that is too long", async () => {
    const headers = { "content-type": manifestType };
    const { text } = await send("PUT", "/v2/app/manifests/v1", { body: " ".repeat(maxManifestBytes + 1), headers });
    expect(codeOf(text)).toBe("SIZE_INVALID");
  });

  test.each([
    ["/v2/UPPER/tags/list", 400, "NAME_INVALID"],
    [`/v2/${"a".repeat(256)}/tags/list`, 400, "NAME_INVALID"],
    ["/v2/a/../b/tags/list", 404, "NAME_UNKNOWN"],
    ["/v2/%2e%2e/b/tags/list", 404, undefined],
    ["/v2/a%2f..%2fb/tags/list", 400, "NAME_INVALID"],
    ["/v2/app/manifests/.bad", 400, "TAG_INVALID"],
    ["/v2/app/blobs/sha256:zz", 400, "DIGEST_INVALID"],
    ["/v2/app/blobs/uploads/..", 400, "DIGEST_INVALID"],
    ["/elsewhere", 404, undefined],
  ])("GET %s", async (path, status, code) => {
    const answered = await send("GET", path);
    expect([answered.status, codeOf(answered.text)]).toEqual([status, code]);
  });
});

test.each([
  { target: "//", status: 404 },
  { target: "/v2/%zz/tags/list", status: 400 },
  { target: "*", status: 404 },
])("a request for $target is answered with $status, and the registry continues", async ({ target, status }) => {
  const [hostname = "", port = ""] = own.address().split(":");
  const asking = request({ hostname, port, path: target }).end();
  const answered = Promise.withResolvers<IncomingMessage>();
  asking.on("response", answered.resolve).on("error", answered.reject);
  const response = await answered.promise;
  response.resume();
  expect(response.statusCode).toBe(status);
  expect((await send("GET", "/v2/")).status).toBe(200);
});
