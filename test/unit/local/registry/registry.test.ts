import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { digestOf } from "../../../../lib/core/digest.ts";
import { maxManifestBytes } from "../../../../local/registry/manifests.ts";
import { registryFiles } from "../../../../local/registry/registry-files.ts";
import type { Push } from "../../../../local/registry/serve-manifests.ts";
import { type Registry, startRegistry } from "../../../../local/registry/start-registry.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

const nothing = (): void => undefined;
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";
const dockerType = "application/vnd.docker.distribution.manifest.v2+json";
const configType = "application/vnd.oci.image.config.v1+json";

let folder: string;
let registry: Registry;
let pushes: Push[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-registry-"));
  pushes = [];
  await start();
});
afterEach(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});

async function start(port = 0): Promise<void> {
  registry = await startRegistry({ folder, port, log: silentLog, onPush: (push) => void pushes.push(push) });
}

async function send(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(new URL(path, `http://${registry.address}`), { ...init, method, redirect: "manual" });
  const text = await response.text();
  const header = (name: string): string => response.headers.get(name) ?? "";
  return { status: response.status, text, header };
}

async function pushBlob(repository: string, text: string): Promise<string> {
  const digest = digestOf(text);
  await send("POST", `/v2/${repository}/blobs/uploads/?digest=${digest}`, { body: text });
  return digest;
}

async function pushManifest(repository: string, reference: string, more: object = {}) {
  const config = await pushBlob(repository, "{}");
  const body = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: configType, digest: config, size: 2 },
    layers: [],
    ...more,
  });
  const headers = { "content-type": manifestType };
  const answered = await send("PUT", `/v2/${repository}/manifests/${reference}`, { body, headers });
  return { ...answered, digest: digestOf(body), body };
}

describe("pushes as clients send them", () => {
  test("docker: asks, streams chunks without ranges, closes with the digest, then puts the manifest", async () => {
    expect((await send("GET", "/v2/")).header("docker-distribution-api-version")).toBe("registry/2.0");
    const layer = digestOf("hello world");
    expect((await send("HEAD", `/v2/app/blobs/${layer}`)).status).toBe(404);
    const begun = await send("POST", "/v2/app/blobs/uploads/");
    expect(begun.status).toBe(202);
    expect(begun.header("docker-upload-uuid")).not.toBe("");
    const first = await send("PATCH", begun.header("location"), { body: "hello " });
    expect([first.status, first.header("range")]).toEqual([202, "0-5"]);
    const second = await send("PATCH", first.header("location"), { body: "world" });
    expect(second.header("range")).toBe("0-10");
    const ended = await send("PUT", `${second.header("location")}?digest=${layer}`);
    expect([ended.status, ended.header("docker-content-digest")]).toEqual([201, layer]);
    expect((await send("HEAD", `/v2/app/blobs/${layer}`)).header("content-length")).toBe("11");
    expect((await pushManifest("app", "v1")).status).toBe(201);
  });

  test("flux and crane: a single chunk with its range, and a manifest asked for by HEAD first", async () => {
    expect((await send("HEAD", "/v2/app/manifests/v1")).status).toBe(404);
    const begun = await send("POST", "/v2/app/blobs/uploads/?mount=&from=");
    const headers = { "content-range": "0-4", "content-type": "application/octet-stream" };
    const patched = await send("PATCH", begun.header("location"), { body: "hello", headers });
    expect(patched.status).toBe(202);
    const ended = await send("PUT", `${patched.header("location")}?digest=${digestOf("hello")}`, { body: "" });
    expect(ended.status).toBe(201);
    const pushed = await pushManifest("app", "v1");
    const found = await send("HEAD", "/v2/app/manifests/v1");
    expect(found.header("docker-content-digest")).toBe(pushed.digest);
    expect([found.text, found.header("content-length")]).toEqual(["", String(pushed.body.length)]);
  });

  test("oras: a blob in one request, and a put that brings the whole blob", async () => {
    const whole = await send("POST", `/v2/app/blobs/uploads/?digest=${digestOf("one")}`, { body: "one" });
    expect([whole.status, whole.header("location")]).toEqual([201, `/v2/app/blobs/${digestOf("one")}`]);
    const begun = await send("POST", "/v2/app/blobs/uploads/");
    const put = await send("PUT", `${begun.header("location")}?digest=${digestOf("two")}`, { body: "two" });
    expect(put.status).toBe(201);
  });

  test("a blob of another repository is mounted, and one that is not there is to be uploaded", async () => {
    const digest = await pushBlob("base/image", "layer");
    expect((await send("HEAD", `/v2/team/app/blobs/${digest}`)).status).toBe(404);
    expect((await send("POST", `/v2/team/app/blobs/uploads/?mount=${digest}&from=base/image`)).status).toBe(201);
    expect((await send("GET", `/v2/team/app/blobs/${digest}`)).text).toBe("layer");
    const absent = digestOf("absent");
    expect((await send("POST", `/v2/team/app/blobs/uploads/?mount=${absent}&from=base/image`)).status).toBe(202);
  });

  test("an upload that broke off goes on where it stands, after a restart too", async () => {
    const { header } = await send("POST", "/v2/app/blobs/uploads/");
    const location = header("location");
    await send("PATCH", location, { body: "hello ", headers: { "content-range": "0-5" } });
    const port = Number(registry.address.split(":")[1]);
    await registry.close();
    await start(port);
    const state = await send("GET", location);
    expect([state.status, state.header("range")]).toEqual([204, "0-5"]);
    const wrong = await send("PATCH", location, { body: "world", headers: { "content-range": "3-7" } });
    expect(wrong.status).toBe(416);
    await send("PATCH", location, { body: "world", headers: { "content-range": "6-10" } });
    expect((await send("PUT", `${location}?digest=${digestOf("hello world")}`)).status).toBe(201);
    expect((await send("GET", location)).status).toBe(404);
  });

  test("an upload that is given up is forgotten", async () => {
    const { header } = await send("POST", "/v2/app/blobs/uploads/");
    expect((await send("DELETE", header("location"))).status).toBe(204);
    expect((await send("GET", header("location"))).status).toBe(404);
  });
});

describe("what is not taken", () => {
  test("content that is not its digest", async () => {
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
      what: "another type than it says",
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
    expect(pushes).toEqual([]);
  });

  test("a manifest that is longer than may be", async () => {
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
])("a request for $target is answered $status, and the registry goes on", async ({ target, status }) => {
  const [hostname = "", port = ""] = registry.address.split(":");
  const asking = request({ hostname, port, path: target }).end();
  const answered = Promise.withResolvers<IncomingMessage>();
  asking.on("response", answered.resolve).on("error", answered.reject);
  const response = await answered.promise;
  response.resume();
  expect(response.statusCode).toBe(status);
  expect((await send("GET", "/v2/")).status).toBe(200);
});

describe("what is told of a push", () => {
  test("every manifest pushed by tag is announced, the same one again too; one by digest is not", async () => {
    const { digest } = await pushManifest("team/app", "v1");
    await pushManifest("team/app", "v1");
    await pushManifest("team/app", digest);
    const push = { registry: registry.address, repository: "team/app", tag: "v1", digest };
    expect(pushes).toEqual([push, push]);
  });

  test("a listener that fails does not fail the push", async () => {
    await registry.close();
    registry = await startRegistry({ folder, port: 0, log: silentLog, onPush: () => Promise.reject(new Error("no")) });
    expect((await pushManifest("app", "v1")).status).toBe(201);
  });
});

describe("reading", () => {
  test("a part of a blob", async () => {
    const digest = await pushBlob("app", "0123456789");
    const get = (range: string) => send("GET", `/v2/app/blobs/${digest}`, { headers: { range } });
    const middle = await get("bytes=2-4");
    expect([middle.status, middle.text, middle.header("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    expect((await get("bytes=8-")).text).toBe("89");
    expect((await get("bytes=-3")).text).toBe("789");
    expect((await get("bytes=20-30")).status).toBe(416);
    expect((await get("lines=1-2")).text).toBe("0123456789");
  });

  test("referrers, by type where one is asked for", async () => {
    const { digest, body } = await pushManifest("app", "v1");
    const subject = { mediaType: manifestType, digest, size: body.length };
    const one = await pushManifest("app", "sig", { subject, artifactType: "text/sig", annotations: { a: "b" } });
    await pushManifest("app", "sbom", { subject, artifactType: "text/sbom" });
    expect(one.header("oci-subject")).toBe(digest);
    const { text: all } = await send("GET", `/v2/app/referrers/${digest}`);
    expect(JSON.parse(all)).toMatchObject({ schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json" });
    expect(parse(all).manifests).toHaveLength(2);
    const found = await send("GET", `/v2/app/referrers/${digest}?artifactType=text/sig`);
    expect(found.header("oci-filters-applied")).toBe("artifactType");
    expect(parse(found.text).manifests).toEqual([
      {
        mediaType: manifestType,
        digest: one.digest,
        size: one.body.length,
        artifactType: "text/sig",
        annotations: { a: "b" },
      },
    ]);
    await send("DELETE", `/v2/app/manifests/${one.digest}`);
    expect(parse((await send("GET", `/v2/app/referrers/${digest}`)).text).manifests).toHaveLength(1);
    expect(parse((await send("GET", `/v2/none/referrers/${digest}`)).text).manifests).toEqual([]);
  });

  test("a deleted tag is gone alone, a deleted manifest with all its tags", async () => {
    const { digest } = await pushManifest("app", "a");
    await pushManifest("app", "b");
    await pushManifest("app", "c", { annotations: { other: "content" } });
    expect((await send("DELETE", "/v2/app/manifests/a")).status).toBe(202);
    expect((await send("GET", `/v2/app/manifests/${digest}`)).status).toBe(200);
    await send("DELETE", `/v2/app/manifests/${digest}`);
    expect(JSON.parse((await send("GET", "/v2/app/tags/list")).text)).toEqual({ name: "app", tags: ["c"] });
    expect(codeOf((await send("DELETE", "/v2/app/manifests/a")).text)).toBe("MANIFEST_UNKNOWN");
  });

  test("a manifest that an earlier release took is deleted", async () => {
    const { digest } = await pushManifest("app", "v1");
    const files = registryFiles(folder);
    await writeFile(files.blob(digest), "{}");
    expect((await send("DELETE", `/v2/app/manifests/${digest}`)).status).toBe(202);
    expect((await send("GET", `/v2/app/manifests/${digest}`)).status).toBe(404);
  });

  test("a manifest whose type has a parameter is stored under its type", async () => {
    const digest = await pushBlob("app", "{}");
    const body = JSON.stringify({ schemaVersion: 2, config: { mediaType: configType, digest, size: 2 }, layers: [] });
    const headers = { "content-type": `${manifestType}; charset=utf-8` };
    expect((await send("PUT", "/v2/app/manifests/v1", { body, headers })).status).toBe(201);
    expect((await send("GET", "/v2/app/manifests/v1")).header("content-type")).toBe(manifestType);
  });

  test("a repository named like a folder of ours is a repository", async () => {
    await pushManifest("a", "v1");
    await pushManifest("a/manifests/b", "v2");
    expect(parse((await send("GET", "/v2/a/manifests/b/tags/list")).text).tags).toEqual(["v2"]);
    expect(parse((await send("GET", "/v2/a/tags/list")).text).tags).toEqual(["v1"]);
  });
});

test("a port that is taken is told with what to do", async () => {
  const port = Number(registry.address.split(":")[1]);
  await expect(startRegistry({ folder, port, log: silentLog, onPush: nothing })).rejects.toThrow(
    `the registry cannot listen on 127.0.0.1:${port}`,
  );
});

const Answer = z
  .object({
    errors: z.array(z.object({ code: z.string(), message: z.string(), detail: z.unknown().optional() })),
    manifests: z.array(z.unknown()),
    tags: z.array(z.string()),
  })
  .partial();

function parse(text: string) {
  return Answer.parse(JSON.parse(text));
}

function codeOf(text: string): string | undefined {
  return text.startsWith("{") ? parse(text).errors?.[0]?.code : undefined;
}
