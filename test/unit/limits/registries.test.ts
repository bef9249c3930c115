import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../lib/core/ports/http.ts";
import { maxTokenBytes } from "../../../lib/sources/oci/authorize.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { maxRepositoryLength, parseRepositoryUrl } from "../../../lib/sources/oci/repository-url.ts";
import { resolve } from "../../../lib/sources/oci/resolve.ts";

const forever = new AbortController().signal;
const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };

test("the answer of a token service is requested with its limit", async () => {
  const sent: HttpRequest[] = [];
  const challenge = { "www-authenticate": 'Bearer realm="https://reg.example/token"' };
  const send = async (request: HttpRequest) => {
    sent.push(request);
    const isToken = request.url.endsWith("/token");
    return { url: request.url, status: isToken ? 200 : 401, headers: challenge, body: Buffer.from('{"token":"t"}') };
  };
  const client = registryClients({ send }, clock)({ host: "reg.example", insecure: false });
  await expect(client.manifest("app", "v1", forever)).rejects.toThrow("401");
  expect(sent.map(({ url, maxBytes }) => [url.split("/").at(-1), maxBytes])).toContainEqual(["token", maxTokenBytes]);
});

test("a repository name has a limit", () => {
  const named = (length: number) => parseRepositoryUrl(`oci://reg.example/${"a".repeat(length)}`).repository.length;
  expect([named(maxRepositoryLength - 1), named(maxRepositoryLength)]).toEqual([254, 255]);
  expect(() => named(maxRepositoryLength + 1)).toThrow("repository must be between 2 and 255 characters in length");
});

describe("a tag in a spec", () => {
  const at = { host: "reg.example", repository: "app" };
  const digest = `sha256:${"0".repeat(64)}`;
  const notHere = (): never => {
    throw new Error("not in this test");
  };
  const registry = {
    manifest: notHere,
    blob: notHere,
    tags: notHere,
    pushBlob: notHere,
    referrers: notHere,
    pushManifest: notHere,
    digestOfTag: async () => digest,
  };
  const follow = (length: number) =>
    resolve({ url: "oci://reg.example/app", ref: { tag: "t".repeat(length) } }, at, registry, forever);

  test("has the limit of the specification", async () => {
    expect((await follow(127)).digest).toBe(digest);
    expect((await follow(128)).digest).toBe(digest);
    await expect(follow(129)).rejects.toMatchObject({
      reason: "ReadOperationFailed",
      message: expect.stringContaining("is not a valid tag, which has at most 128 characters"),
    });
  });
});
