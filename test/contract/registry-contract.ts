import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { digestOf } from "../../lib/core/digest.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import type { RegistryAccess } from "../../lib/sources/oci/authorize.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import { type RegistryClient, registryClients } from "../../lib/sources/oci/registry-client.ts";
import { RegistryFault } from "../../lib/sources/oci/registry-fault.ts";

/** A registry, and the credentials of a user who may push. */
export interface RegistryUnderTest {
  readonly access: RegistryAccess;
  readonly close: () => Promise<void>;
}

const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => undefined };

/** What our client promises of any OCI registry. Each run uses repositories of its own. */
export function registryContract(name: string, start: () => Promise<RegistryUnderTest>): void {
  describe(`the registry client on ${name}`, () => {
    const http = httpClient({ network: homeNetwork });
    const { signal } = new AbortController();
    const repository = `contract/${randomBytes(6).toString("hex")}`;
    let registry: RegistryUnderTest;
    let client: RegistryClient;
    beforeAll(async () => {
      registry = await start();
      client = registryClients(http, clock)(registry.access);
    });
    afterAll(async () => {
      http.close();
      await registry.close();
    });

    const push = async (into: string, tag: string, text: string): Promise<{ digest: string; manifest: Buffer }> => {
      const layer = Buffer.from(text);
      const config = Buffer.from("{}");
      await client.pushBlob(into, layer, signal);
      await client.pushBlob(into, config, signal);
      const described = (mediaType: string, bytes: Buffer): object => ({
        mediaType,
        digest: digestOf(bytes),
        size: bytes.length,
      });
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: mediaTypes.manifest,
          config: described(mediaTypes.fluxConfig, config),
          layers: [described(mediaTypes.fluxContent, layer)],
        }),
      );
      return { digest: await client.pushManifest(into, tag, mediaTypes.manifest, manifest, signal), manifest };
    };

    test("a pushed manifest is found by tag and by digest, byte for byte", async () => {
      const { digest, manifest } = await push(repository, "v1", "one");
      expect(digest).toBe(digestOf(manifest));
      expect(await client.digestOfTag(repository, "v1", signal)).toBe(digest);
      for (const reference of ["v1", digest]) {
        const found = await client.manifest(repository, reference, signal);
        expect({ ...found, bytes: Buffer.from(found.bytes).toString() }).toEqual({
          digest,
          mediaType: mediaTypes.manifest,
          bytes: manifest.toString(),
        });
      }
    });

    test("a tag moves, and its former manifest still exists by digest", async () => {
      const first = await push(repository, "moving", "first");
      const second = await push(repository, "moving", "second");
      expect(await client.digestOfTag(repository, "moving", signal)).toBe(second.digest);
      expect((await client.manifest(repository, first.digest, signal)).digest).toBe(first.digest);
    });

    test("a blob is pulled unchanged, also an empty and a large one, and may be pushed again", async () => {
      for (const bytes of [Buffer.alloc(0), randomBytes(3 * 1024 * 1024)]) {
        await client.pushBlob(repository, bytes, signal);
        await client.pushBlob(repository, bytes, signal);
        const back = await client.blob(repository, digestOf(bytes), 4 * 1024 * 1024, signal);
        expect(digestOf(back)).toBe(digestOf(bytes));
      }
    });

    test("a blob above the limit is not read to its end", async () => {
      const bytes = randomBytes(100_000);
      await client.pushBlob(repository, bytes, signal);
      await expect(client.blob(repository, digestOf(bytes), 50_000, signal)).rejects.toThrow("longer than 50000 bytes");
    });

    test("a push with an aborted signal leaves no tag and no blob", async () => {
      const into = `${repository}/aborted`;
      const blob = randomBytes(100);
      const stopped = AbortSignal.abort(new Error("time is up"));
      await push(into, "v1", "before");
      await expect(client.pushBlob(into, blob, stopped)).rejects.toThrow("time is up");
      await expect(client.blob(into, digestOf(blob), 1_000, signal)).rejects.toThrow("BLOB_UNKNOWN");
      const { manifest } = await push(into, "v1", "after");
      const late = client.pushManifest(into, "v2", mediaTypes.manifest, manifest, stopped);
      await expect(late).rejects.toThrow("time is up");
      expect(await client.tags(into, signal)).toEqual(["v1"]);
    });

    test("after many parallel pushes of one tag, the tag points to one of them", async () => {
      const into = `${repository}/race`;
      const pushed = await Promise.all(Array.from({ length: 8 }, (_, index) => push(into, "v1", `${index}`)));
      const digests = pushed.map(({ digest }) => digest);
      expect(digests).toContain(await client.digestOfTag(into, "v1", signal));
      for (const digest of digests) expect((await client.manifest(into, digest, signal)).digest).toBe(digest);
    });

    test("every tag is listed, for all page sizes of the registry", async () => {
      const into = `${repository}/tags`;
      const tags = Array.from({ length: 7 }, (_, index) => `1.${index}.0`);
      for (const tag of tags) await push(into, tag, tag);
      expect((await client.tags(into, signal)).toSorted()).toEqual(tags);
    });

    test("a missing tag is reported with the registry's message", async () => {
      await push(repository, "present", "here");
      await expect(client.digestOfTag(repository, "absent", signal)).rejects.toThrow(
        `://${registry.access.host}/v2/${repository}/manifests/absent: MANIFEST_UNKNOWN: manifest unknown`,
      );
    });

    test("listing the tags of a missing repository is an error", async () => {
      await expect(client.tags(`${repository}/nowhere`, signal)).rejects.toThrow(
        "NAME_UNKNOWN: repository name not known to registry",
      );
    });

    test("a missing blob is reported", async () => {
      const absent = digestOf("never pushed");
      await expect(client.blob(repository, absent, 1_000, signal)).rejects.toThrow("BLOB_UNKNOWN");
    });

    test.each([
      ["an empty object", "{}", mediaTypes.manifest],
      ["an empty object, as an index", "{}", mediaTypes.index],
      ["of schema version 1", '{"schemaVersion":1}', mediaTypes.manifest],
      ["without a config", '{"schemaVersion":2,"layers":[]}', mediaTypes.manifest],
      ["no JSON", "nonsense", mediaTypes.manifest],
      ["a list", "[]", mediaTypes.manifest],
      ["of another type in its content", '{"schemaVersion":2,"mediaType":"text/x"}', mediaTypes.manifest],
      ["an index in its content", '{"schemaVersion":2,"manifests":[]}', mediaTypes.manifest],
      ["a manifest in its content, as an index", '{"schemaVersion":2,"layers":[]}', mediaTypes.index],
      ["Docker's without its type", '{"schemaVersion":2}', mediaTypes.dockerManifest],
      ["of a type that is not a manifest", '{"schemaVersion":2}', "text/plain"],
    ])("a manifest that is %s is refused and not stored", async (_, text, mediaType) => {
      const into = `${repository}/bad`;
      await push(into, "good", "content");
      await expect(client.pushManifest(into, "bad", mediaType, Buffer.from(text), signal)).rejects.toThrow(
        RegistryFault,
      );
      expect(await client.tags(into, signal)).toEqual(["good"]);
    });

    test("a manifest whose layer was never pushed is refused", async () => {
      const manifest = {
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: { mediaType: mediaTypes.fluxConfig, digest: digestOf("no config"), size: 9 },
        layers: [],
      };
      const bytes = Buffer.from(JSON.stringify(manifest));
      await expect(client.pushManifest(repository, "broken", mediaTypes.manifest, bytes, signal)).rejects.toThrow(
        "BLOB_UNKNOWN",
      );
    });
  });
}

const Catalog = z.object({ repositories: z.array(z.string()) });

/** What people ask of a registry without accounts by its address: which repositories there are, in pages. */
export function catalogContract(name: string, start: () => Promise<RegistryUnderTest>): void {
  describe(`the catalog of ${name}`, () => {
    const http = httpClient({ network: homeNetwork });
    const { signal } = new AbortController();
    const prefix = `catalog/${randomBytes(6).toString("hex")}`;
    // In the registry's order, which is that of the parts of a name.
    const repositories = ["a", "a/b", "a-b", "b"].map((repository) => `${prefix}/${repository}`);
    let registry: RegistryUnderTest;
    beforeAll(async () => {
      registry = await start();
      const client = registryClients(http, clock)(registry.access);
      for (const repository of repositories.toReversed()) {
        await client.pushBlob(repository, Buffer.from("{}"), signal);
        const config = { mediaType: mediaTypes.fluxConfig, digest: digestOf("{}"), size: 2 };
        const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [] };
        await client.pushManifest(repository, "v1", mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
      }
    });
    afterAll(async () => {
      http.close();
      await registry.close();
    });

    const get = async (path: string) => {
      const response = await fetch(new URL(path, `http://${registry.access.host}`));
      const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
      const body: unknown = await response.json();
      return { status: response.status, body, link };
    };

    test.each([1, 2, 3, 100])("lists all repositories in pages of %i", async (n) => {
      const found: string[] = [];
      let path: string | undefined = `/v2/_catalog?n=${n}&last=${prefix}`;
      while (path !== undefined && found.length < 1000) {
        const { status, body, link } = await get(path);
        expect(status).toBe(200);
        const { repositories: page } = Catalog.parse(body);
        expect(page.length).toBeLessThanOrEqual(n);
        found.push(...page);
        path = link;
      }
      // Other tests may push to the same registry.
      expect(found.filter((repository) => repository.startsWith(`${prefix}/`))).toEqual(repositories);
    });

    test("of an empty registry is empty", async () => {
      expect(await get("/v2/_catalog?n=0")).toEqual({ status: 200, body: { repositories: [] }, link: undefined });
    });

    test.each(["-1", "abc", "1001"])("refuses pages of %s", async (n) => {
      const { status, body } = await get(`/v2/_catalog?n=${n}`);
      expect([status, body]).toMatchObject([400, { errors: [{ code: "PAGINATION_NUMBER_INVALID" }] }]);
    });

    test("is read-only", async () => {
      const { status } = await fetch(`http://${registry.access.host}/v2/_catalog`, { method: "POST" });
      expect(status).toBe(405);
    });
  });
}
