import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { registryFiles } from "../../../../local/registry/registry-files.ts";
import { startRegistry } from "../../../../local/registry/start-registry.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { codeOf, configType, localRegistry, manifestType, parse } from "./local-registry.ts";

const own = localRegistry();
const { send, pushBlob, pushManifest } = own;

describe("pushes in the ways of different clients", () => {
  test("docker: checks for the blob, streams chunks without ranges, closes with the digest, then puts the manifest", async () => {
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

  test("flux and crane: a single chunk with its range, and a HEAD for the manifest first", async () => {
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

  test("oras: a blob in one request, and a PUT with the whole blob", async () => {
    const whole = await send("POST", `/v2/app/blobs/uploads/?digest=${digestOf("one")}`, { body: "one" });
    expect([whole.status, whole.header("location")]).toEqual([201, `/v2/app/blobs/${digestOf("one")}`]);
    const begun = await send("POST", "/v2/app/blobs/uploads/");
    const put = await send("PUT", `${begun.header("location")}?digest=${digestOf("two")}`, { body: "two" });
    expect(put.status).toBe(201);
  });

  test("a blob of another repository is mounted; a missing blob must be uploaded", async () => {
    const digest = await pushBlob("base/image", "layer");
    expect((await send("HEAD", `/v2/team/app/blobs/${digest}`)).status).toBe(404);
    expect((await send("POST", `/v2/team/app/blobs/uploads/?mount=${digest}&from=base/image`)).status).toBe(201);
    expect((await send("GET", `/v2/team/app/blobs/${digest}`)).text).toBe("layer");
    const absent = digestOf("absent");
    expect((await send("POST", `/v2/team/app/blobs/uploads/?mount=${absent}&from=base/image`)).status).toBe(202);
  });

  test("an interrupted upload continues at its offset, after a restart too", async () => {
    const { header } = await send("POST", "/v2/app/blobs/uploads/");
    const location = header("location");
    await send("PATCH", location, { body: "hello ", headers: { "content-range": "0-5" } });
    await own.close();
    await own.start();
    const state = await send("GET", location);
    expect([state.status, state.header("range")]).toEqual([204, "0-5"]);
    const wrong = await send("PATCH", location, { body: "world", headers: { "content-range": "3-7" } });
    expect(wrong.status).toBe(416);
    await send("PATCH", location, { body: "world", headers: { "content-range": "6-10" } });
    expect((await send("PUT", `${location}?digest=${digestOf("hello world")}`)).status).toBe(201);
    expect((await send("GET", location)).status).toBe(404);
  });

  test("a cancelled upload is deleted", async () => {
    const { header } = await send("POST", "/v2/app/blobs/uploads/");
    expect((await send("DELETE", header("location"))).status).toBe(204);
    expect((await send("GET", header("location"))).status).toBe(404);
  });
});

describe("the listener of pushes", () => {
  test("gets every manifest pushed by tag, also a repeated one, but none pushed by digest", async () => {
    const { digest } = await pushManifest("team/app", "v1");
    await pushManifest("team/app", "v1");
    await pushManifest("team/app", digest);
    const push = { registry: own.address(), repository: "team/app", tag: "v1", digest };
    expect(own.pushes).toEqual([push, push]);
  });

  test("that fails does not fail the push", async () => {
    await own.close();
    await own.start(0, () => Promise.reject(new Error("no")));
    expect((await pushManifest("app", "v1")).status).toBe(201);
  });
});

describe("reading from the registry", () => {
  test("a part of a blob works", async () => {
    const digest = await pushBlob("app", "0123456789");
    const get = (range: string) => send("GET", `/v2/app/blobs/${digest}`, { headers: { range } });
    const middle = await get("bytes=2-4");
    expect([middle.status, middle.text, middle.header("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    expect((await get("bytes=8-")).text).toBe("89");
    expect((await get("bytes=-3")).text).toBe("789");
    expect((await get("bytes=20-30")).status).toBe(416);
    expect((await get("lines=1-2")).text).toBe("0123456789");
  });

  test("referrers works, by type if one is given", async () => {
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

  test("a deleted tag fails, and a deleted manifest is gone with all its tags", async () => {
    const { digest } = await pushManifest("app", "a");
    await pushManifest("app", "b");
    await pushManifest("app", "c", { annotations: { other: "content" } });
    expect((await send("DELETE", "/v2/app/manifests/a")).status).toBe(202);
    expect((await send("GET", `/v2/app/manifests/${digest}`)).status).toBe(200);
    await send("DELETE", `/v2/app/manifests/${digest}`);
    expect(JSON.parse((await send("GET", "/v2/app/tags/list")).text)).toEqual({ name: "app", tags: ["c"] });
    expect(codeOf((await send("DELETE", "/v2/app/manifests/a")).text)).toBe("MANIFEST_UNKNOWN");
  });

  test("a manifest that an earlier release accepted can be deleted", async () => {
    const { digest } = await pushManifest("app", "v1");
    const files = registryFiles(own.folder);
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

  test("a repository may have the name of an internal folder", async () => {
    await pushManifest("a", "v1");
    await pushManifest("a/manifests/b", "v2");
    expect(parse((await send("GET", "/v2/a/manifests/b/tags/list")).text).tags).toEqual(["v2"]);
    expect(parse((await send("GET", "/v2/a/tags/list")).text).tags).toEqual(["v1"]);
  });
});

test("a port in use is reported with a mend", async () => {
  const port = Number(own.address().split(":")[1]);
  const more = { folder: own.folder, log: silentLog, onPush: () => undefined };
  await expect(startRegistry({ ...more, port })).rejects.toThrow(`the registry cannot listen on 127.0.0.1:${port}`);
});
