import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LyingRegistry, lyingRegistry } from "../../doubles/lying-registry.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { tarOf } from "../../unit/sources/tar-of.ts";
import { type BadInputWorld, badInputWorld, configMapYaml } from "./bad-input-world.ts";

let world: BadInputWorld;
let registry: LyingRegistry;

beforeAll(async () => {
  [world, registry] = await Promise.all([badInputWorld(), lyingRegistry()]);
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** A port without a listener, or with one that never answers. */
async function port(isSilent: boolean): Promise<{ host: string; server: Server }> {
  const server = createServer();
  const host = `127.0.0.1:${await portOnLoopback(server)}`;
  if (!isSilent) await once(server.close(), "close");
  return { host, server };
}

describe("an unusable registry is named in the source's Ready, and other sources are reconciled", () => {
  const failed = "False OCIArtifactPullFailed: failed to determine artifact digest";

  test.each([
    {
      name: "down",
      isSilent: false,
      says: /: Get "https:\S+\/v2\/": dial tcp \S+: connect: connection refused; Get "http:/,
    },
    { name: "silent", isSilent: true, says: /no answer within the 1000 ms that all requests have together/ },
  ])("$name", async ({ name, isSilent, says }) => {
    const { host, server } = await port(isSilent);
    await world.source(name, { url: `oci://${host}/app`, timeout: "1s" });
    const message = await world.answer("OCIRepository", name, `${failed}: `);
    expect(message).toContain(host);
    expect(message).toMatch(says);
    server.close();
  });

  test.each([
    { name: "slow", verb: "HEAD", timeout: "1s", says: "no answer within the 1000 ms that all requests have together" },
    { name: "closed", verb: "GET", timeout: "60s", says: "UNAUTHORIZED: authentication required" },
    { name: "absent", verb: "GET", timeout: "60s", says: "NAME_UNKNOWN: repository name not known to registry" },
    { name: "busy", verb: "HEAD", timeout: "1s", says: "unexpected status code 429 Too Many Requests" },
  ])("$name", async ({ name, verb, timeout, says }) => {
    await world.source(name, { url: `oci://${registry.host}/${name}`, ref: { tag: "v1" }, timeout });
    const request = `${verb} http://${registry.host}/v2/${name}/manifests/v1`;
    const message = `${failed}: ${request}: ${says}`;
    expect(await world.answer("OCIRepository", name, message)).toContain(message);
  });

  test("a missing tag", async () => {
    await world.source("bystander-next", { url: `oci://${world.local.registry}/bystander`, ref: { tag: "next" } });
    const message = `${failed}: GET http://${world.local.registry}/v2/bystander/manifests/next: MANIFEST_UNKNOWN`;
    expect(await world.answer("OCIRepository", "bystander-next", message)).toContain(message);
  });

  test.each([
    { name: "false-layer", says: "blob of false-layer does not match its digest: want sha256:" },
    { name: "false-manifest", says: "manifest of false-manifest does not match its digest: want sha256:" },
  ])("one that sends false data: $name", async ({ name, says }) => {
    await world.source(name, { url: `oci://${registry.host}/${name}` });
    await world.kustomization(name);
    expect(await world.answer("OCIRepository", name, says)).toMatch(new RegExp(`^False OCIArtifact.*: ${says}`));
    const message = "False ArtifactFailed: Source artifact not found, retrying in 30s";
    expect(await world.answer("Kustomization", name, message)).toBe(message);
  });
});

describe("an invalid layer is named in the source's Ready, and other sources are reconciled", () => {
  const good = { name: "good.yaml", content: configMapYaml("from-bad-archive") };
  const zeros = gzipSync(Buffer.alloc(64 * 1024 ** 2));
  const zip = (members: Parameters<typeof tarOf>[0]): Buffer => gzipSync(tarOf([good, ...members]));
  /** One header, to which content of any length can be put: the members of a gzip stream follow one another. */
  const headerOf = (size: number): Buffer => gzipSync(tarOf([{ name: "zeros", size }]).subarray(0, 512));
  const manyNames = Array.from({ length: 10_000 }, (_, index) => ({ name: `e${index * 7_919}` }));
  const many = gzipSync(tarOf(manyNames).subarray(0, manyNames.length * 512));

  test.each([
    { name: "no-gzip", layer: "no tar at all", says: "requires gzip-compressed body: gzip: invalid header" },
    { name: "no-tar", layer: gzipSync("no tar. ".repeat(200)), says: "tar error: archive/tar: invalid tar header" },
    { name: "cut-off", layer: zip([]).subarray(0, 60), says: "requires gzip-compressed body: unexpected end of file" },
    {
      name: "outside",
      layer: zip([{ name: "../../etc/x", content: "x" }]),
      says: 'tar contained invalid name error "../../etc/x"',
    },
    {
      name: "absolute",
      layer: zip([{ name: "/etc/x", content: "x" }]),
      says: 'tar contained invalid name error "/etc/x"',
    },
    {
      name: "device",
      layer: zip([{ name: "null", type: "3" }]),
      says: "tar file entry null contained unsupported file type Dcrw-r--r--",
    },
    {
      name: "a-million-entries",
      layer: Buffer.concat(Array.from({ length: 100 }, () => many)),
      says: "tar has more than 100000 entries",
    },
    {
      name: "ten-gigabytes-of-zeros",
      layer: Buffer.concat([headerOf(10 * 1024 ** 3), ...Array.from({ length: 160 }, () => zeros)]),
      says: "tar is bigger than max archive size of 167772160 bytes",
    },
    {
      name: "ten-gigabytes-of-zeros-in-files",
      layer: Buffer.concat(Array.from({ length: 160 }, () => [headerOf(64 * 1024 ** 2), zeros]).flat()),
      says: "tar is bigger than max archive size of 167772160 bytes",
    },
  ])("$name", async ({ name, layer, says }) => {
    await world.push(name, Buffer.from(layer));
    await world.source(name);
    await world.kustomization(name);
    const failed = "False OCIArtifactLayerOperationFailed: failed to extract layer contents from artifact";
    expect(await world.answer("OCIRepository", name, says)).toBe(`${failed}: ${says}`);
    expect(await world.has("from-bad-archive")).toBe(false);
  });

  test("a link out of an archive is refused by name; one inside of it is followed", async () => {
    const inside = [
      { name: "elsewhere/a", content: configMapYaml("behind-a-link") },
      { name: "a.yaml", type: "2", link: "elsewhere/a" },
    ];
    await world.push("links", gzipSync(tarOf([...inside, { name: "passwd.yaml", type: "2", link: "/etc/passwd" }])));
    await world.source("links");
    await world.kustomization("links");
    expect(await world.answer("OCIRepository", "links", "passwd")).toContain(
      "'passwd.yaml' is a link to '/etc/passwd', which leads out of the archive",
    );
    expect(await world.has("behind-a-link")).toBe(false);
    await world.push("links", gzipSync(tarOf(inside)));
    expect(await world.answer("Kustomization", "links", "True")).toContain("Applied revision: v1@sha256:");
    expect(await world.has("behind-a-link")).toBe(true);
  });
});
