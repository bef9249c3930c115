import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { OciRepositorySpec } from "../../../lib/api/oci-repository.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import {
  maxIndexChildren,
  maxLayers,
  maxManifestAnnotationBytes,
  maxManifestAnnotations,
  pullArtifact,
} from "../../../lib/sources/oci/pull-artifact.ts";
import type { RegistryClient } from "../../../lib/sources/oci/registry-client.ts";
import { tarOf } from "./tar-of.ts";

const forever = new AbortController().signal;
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";

interface Content {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** A registry that holds these, by their digests. */
function registryOf(...contents: readonly Content[]): RegistryClient {
  const held = new Map(contents.map((content) => [digestOf(content.bytes), content]));
  const get = (digest: string): Content => {
    const found = [...held].find(([one]) => one === digest)?.[1];
    if (found === undefined) throw new Error(`nothing was asked for but ${digest}`);
    return found;
  };
  const notHere = (): never => {
    throw new Error("not in this test");
  };
  return {
    manifest: async (_repository, digest) => ({ digest, ...get(digest) }),
    blob: async (_repository, digest) => get(digest).bytes,
    digestOfTag: notHere,
    tags: notHere,
    pushBlob: notHere,
    referrers: notHere,
    pushManifest: notHere,
  };
}

function json(mediaType: string, value: object): Content {
  return { mediaType, bytes: Buffer.from(JSON.stringify(value)) };
}

function layer(name: string, mediaType = "text/layer"): Content {
  return { mediaType, bytes: gzipSync(tarOf([{ name, content: name }])) };
}

function described({ mediaType, bytes }: Content): object {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

function manifestOf(layers: readonly Content[], annotations?: Readonly<Record<string, string>>): Content {
  return json(manifestType, { schemaVersion: 2, layers: layers.map(described), annotations });
}

function pull(top: Content, contents: readonly Content[], spec: Partial<OciRepositorySpec> = {}, limits = {}) {
  return pullArtifact(
    { url: "oci://r/app", ...spec },
    "app",
    digestOf(top.bytes),
    registryOf(top, ...contents),
    { ...defaultArchiveLimits, ...limits },
    forever,
  );
}

async function namesIn(archive: Uint8Array): Promise<readonly string[]> {
  return (await unpack(archive, defaultArchiveLimits, forever)).entries.map(({ path }) => path);
}

describe("the layer of an artifact", () => {
  const [first, second, third] = [layer("first"), layer("second", "text/other"), layer("third", "text/other")];

  test("is the first one, or the first one with the selected media type", async () => {
    const manifest = manifestOf([first, second, third]);
    const all = [first, second, third];
    expect(await namesIn((await pull(manifest, all)).bytes)).toEqual(["first"]);
    const chosen = await pull(manifest, all, { layerSelector: { mediaType: "text/other" } });
    expect(await namesIn(chosen.bytes)).toEqual(["second"]);
  });

  test("11.3/74: of an index is that of its child for linux/amd64", async () => {
    const [arm, amd] = [manifestOf([first]), manifestOf([second], { child: "yes" })];
    const platform = (architecture: string): object => ({ platform: { os: "linux", architecture } });
    const index = json(indexType, {
      schemaVersion: 2,
      manifests: [
        { ...described(arm), ...platform("arm64") },
        { ...described(amd), ...platform("amd64") },
      ],
      annotations: { index: "yes" },
    });
    const { bytes, metadata } = await pull(index, [arm, amd, second]);
    expect(await namesIn(bytes)).toEqual(["second"]);
    expect(metadata).toEqual({ child: "yes" });
    const armOnly = json(indexType, { manifests: [{ ...described(arm), ...platform("arm64") }] });
    await expect(pull(armOnly, [arm])).rejects.toMatchObject({
      reason: "OCIArtifactPullFailed",
      message: `failed to pull artifact from 'oci://r/app': no child with platform linux/amd64 in index r/app@${digestOf(armOnly.bytes)}`,
    });
  });
});

/** Children of an index by their platform; undefined for one that names none. */
const platforms = [
  { os: "windows", architecture: "amd64" },
  { os: "linux", architecture: "arm64" },
  { os: "linux", architecture: "amd64", variant: "v2" },
  { os: "linux", architecture: "amd64" },
  undefined,
];
const parameters = ["", "; charset=utf-8", ";charset=utf-8"];

test.each([
  { order: [0, 1, 2, 3, 4], chosen: 2 },
  { order: [0, 1, 3, 2], chosen: 3 },
  { order: [4, 3], chosen: 4 },
  { order: [0, 4], chosen: 4 },
  { order: [0, 1], chosen: undefined },
  { order: [], chosen: undefined },
])("11.3/74: of the children $order of an index, $chosen is the first for linux/amd64", async ({ order, chosen }) => {
  for (const type of [indexType, "application/vnd.docker.distribution.manifest.list.v2+json"]) {
    for (const parameter of parameters) {
      const layers = platforms.map((_, at) => layer(`child-${at}`));
      const children = layers.map((one) => manifestOf([one]));
      const manifests = order.flatMap((at) => {
        const [child, platform] = [children[at], platforms[at]];
        return child === undefined ? [] : [{ ...described(child), ...(platform === undefined ? {} : { platform }) }];
      });
      const pulled = pull(json(`${type}${parameter}`, { manifests }), [...children, ...layers]);
      const end = await pulled.then(({ bytes }) => namesIn(bytes), messageOf);
      const none = expect.stringContaining("no child with platform linux/amd64");
      expect(end).toEqual(chosen === undefined ? none : [`child-${chosen}`]);
    }
  }
});

describe("manifests that are refused", () => {
  const plain: Content = { mediaType: "text/plain", bytes: Buffer.from("just a file") };
  const noTar: Content = { mediaType: "text/plain", bytes: gzipSync("x".repeat(2_000)) };
  const hostile: Content = { mediaType: "text/layer", bytes: gzipSync(tarOf([{ name: "a/../../b" }])) };

  test.each([
    { what: "no layers", top: manifestOf([]), contents: [], message: "no layers found in artifact" },
    {
      what: "an invalid manifest",
      top: json(manifestType, { layers: 3 }),
      contents: [],
      message: "failed to parse artifact manifest: layers must be a list",
    },
    {
      what: "a manifest that is not JSON",
      top: { ...plain, mediaType: manifestType },
      contents: [],
      message: "failed to parse artifact manifest: it is not JSON",
    },
    {
      what: "a manifest that is a list",
      top: json(manifestType, []),
      contents: [],
      message: "failed to parse artifact manifest: it must be an object",
    },
    {
      what: "a layer with missing fields",
      top: json(manifestType, { layers: [{ size: "7", digest: "sha1:0" }] }),
      contents: [],
      message:
        "failed to parse artifact manifest: layers[0].mediaType is missing; layers[0].digest must be sha256: and 64 hexadecimal digits; layers[0].size must be a number",
    },
    {
      what: "an annotation that is not a text",
      top: json(manifestType, { annotations: { "hunter2 key": 7 } }),
      contents: [],
      message: "failed to parse artifact manifest: a value of annotations must be a text",
    },
    {
      what: "annotations that are a list",
      top: json(manifestType, { annotations: ["a"] }),
      contents: [],
      message: "failed to parse artifact manifest: annotations must be an object",
    },
    {
      what: "11.3/71: a file",
      top: manifestOf([plain]),
      contents: [plain],
      message: "failed to extract layer contents from artifact: requires gzip-compressed body: ",
    },
    {
      what: "no tar",
      top: manifestOf([noTar]),
      contents: [noTar],
      message: "failed to extract layer contents from artifact: tar error: ",
    },
    {
      what: "11.3/73: a way out",
      top: manifestOf([hostile]),
      contents: [hostile],
      message: 'tar contained invalid name error "a/../../b"',
    },
  ])("$what", async ({ top, contents, message }) => {
    await expect(pull(top, contents)).rejects.toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: expect.stringContaining(message),
    });
  });

  test("a layer above the size limit is not requested", async () => {
    await expect(pull(manifestOf([plain]), [], {}, { maxPackedBytes: 5 })).rejects.toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: "failed to extract layer contents from artifact: the layer has 11 bytes, 5 are allowed",
    });
  });

  test("an invalid digest never becomes part of a URL", async () => {
    const digest = "sha256:../../../v2/other/blobs/x";
    const top = json(manifestType, { layers: [{ mediaType: "x", digest, size: 1 }] });
    await expect(pull(top, [])).rejects.toThrow("failed to parse artifact manifest");
  });
});

describe("a manifest with many parts", () => {
  const one = layer("first");
  const many = (count: number): readonly Content[] => Array.from({ length: count }, () => one);
  const annotated = (count: number): Readonly<Record<string, string>> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, "b"]));

  test.each([
    { what: "layers below the limit", top: manifestOf(many(maxLayers - 1)) },
    { what: "layers at the limit", top: manifestOf(many(maxLayers)) },
    { what: "annotations below the limit", top: manifestOf([one], annotated(maxManifestAnnotations - 1)) },
    { what: "annotations at the limit", top: manifestOf([one], annotated(maxManifestAnnotations)) },
    {
      what: "bytes of annotations at the limit",
      top: manifestOf([one], { a: "b".repeat(maxManifestAnnotationBytes - '{"a":""}'.length) }),
    },
  ])("$what is pulled", async ({ top }) => {
    expect(await namesIn((await pull(top, [one])).bytes)).toEqual(["first"]);
  });

  test.each([
    {
      what: "layers",
      top: manifestOf(many(maxLayers + 1)),
      message: `: layers has more than ${maxLayers} items`,
    },
    {
      what: "annotations",
      top: manifestOf([one], annotated(maxManifestAnnotations + 1)),
      message: `: annotations has more than ${maxManifestAnnotations} entries`,
    },
    {
      what: "bytes of annotations",
      top: manifestOf([one], { a: "b".repeat(maxManifestAnnotationBytes - '{"a":""}'.length + 1) }),
      message: `: annotations has more than ${maxManifestAnnotationBytes} bytes`,
    },
  ])("$what above the limit are refused", async ({ top, message }) => {
    await expect(pull(top, [one])).rejects.toMatchObject({
      reason: "OCIArtifactLayerOperationFailed",
      message: expect.stringContaining(message),
    });
  });

  test("an index with too many children selects none", async () => {
    const index = (count: number): Content => {
      const child = { ...described(manifestOf([one])), platform: { os: "linux", architecture: "amd64" } };
      return json(indexType, { manifests: Array.from({ length: count }, () => child) });
    };
    const inside = [manifestOf([one]), one];
    expect(await namesIn((await pull(index(maxIndexChildren), inside)).bytes)).toEqual(["first"]);
    await expect(pull(index(maxIndexChildren + 1), inside)).rejects.toThrow("no child with platform linux/amd64");
  });

  test("400 KB of invalid layers give a short message", async () => {
    const broken = json(manifestType, { layers: Array.from({ length: 200_000 }, () => 0) });
    expect(broken.bytes.length).toBeGreaterThan(400_000);
    const refusal: unknown = await pull(broken, []).catch((error: unknown) => error);
    expect(String(refusal)).toContain("failed to parse artifact manifest: ");
    expect(String(refusal).length).toBeLessThan(1_000);
  });

  test("of many faults the first few are named and the rest counted", async () => {
    const broken = json(manifestType, { layers: Array.from({ length: 10 }, () => 0) });
    await expect(pull(broken, [])).rejects.toThrow(
      /: layers\[0\] must be an object; .*layers\[2\] must be an object; and 7 more$/,
    );
  });
});

test("11.3/70: operation copy stores any bytes unchanged", async () => {
  const file: Content = { mediaType: "text/plain", bytes: Buffer.from("just a file") };
  const { bytes, digest } = await pull(manifestOf([file]), [file], {
    layerSelector: { operation: "copy" },
    ignore: "*",
  });
  expect(Buffer.from(bytes).toString()).toBe("just a file");
  expect(digest).toBe(digestOf(file.bytes));
});

describe("links in a layer", () => {
  const layerOf = (...members: Parameters<typeof tarOf>[0]): Content => ({
    mediaType: "text/layer",
    bytes: gzipSync(tarOf(members)),
  });
  const filesOf = async (content: Content, spec: Partial<OciRepositorySpec> = {}, limits = {}) => {
    const { bytes, links } = await pull(manifestOf([content]), [content], spec, limits);
    const { entries } = await unpack(bytes, defaultArchiveLimits, forever);
    const files = entries.flatMap((entry) => (entry.type === "file" ? [entry] : []));
    const texts = files.map(({ path, bytes: content_ }) => [path, Buffer.from(content_).toString()]);
    return { files: Object.fromEntries(texts), links };
  };

  test("inside of the layer are replaced by copies: to files and folders, through other links, hard and long ones", async () => {
    const long = `${"n".repeat(90)}/${"m".repeat(90)}/file.yaml`;
    const content = layerOf(
      { name: "base/a.yaml", content: "a" },
      { name: "base/deep/b.yaml", content: "b" },
      { name: "one", type: "2", link: "base" },
      { name: "apps/two", type: "2", link: "../one/deep/./b.yaml" },
      { name: "other/hard.yaml", type: "1", link: "base/a.yaml" },
      { name: "././@LongLink", type: "L", content: `${long}\0` },
      { name: "cut", content: "long" },
      { name: "././@LongLink", type: "K", content: `${long}\0` },
      { name: "to-long", type: "2", link: "cut" },
    );
    expect(await filesOf(content)).toEqual({
      files: {
        "apps/two": "b",
        "base/a.yaml": "a",
        "base/deep/b.yaml": "b",
        "other/hard.yaml": "a",
        "one/a.yaml": "a",
        "one/deep/b.yaml": "b",
        [long]: "long",
        "to-long": "long",
      },
      links: [],
    });
  });

  const mend = "put a file in its place, or leave it out with spec.ignore";
  test.each([
    { to: "/etc/passwd", why: "leads out of the archive" },
    { to: "../../etc/passwd", why: "leads out of the archive" },
    { to: "../sub/../../x", why: "leads out of the archive" },
    { to: "nothing.yaml", why: "does not exist in the archive" },
    { to: "../a.yaml/x", why: "does not exist in the archive" },
    { to: "link", why: "leads round in a circle" },
    { to: ".", why: "points to a folder that contains it" },
    { to: "..", why: "points to a folder that contains it" },
    { to: "/etc/passwd", type: "1", why: "leads out of the archive" },
    { to: "missing", type: "1", why: "does not exist in the archive" },
  ])("a link (type $type) to $to is refused by name, unless spec.ignore excludes it", async ({ to, why, type }) => {
    const content = layerOf(
      { name: "a.yaml", content: "a" },
      { name: "sub/link", type: type ?? "2", link: to },
      { name: "sub/b.yaml", content: "b" },
    );
    await expect(filesOf(content)).rejects.toThrow(
      `failed to extract layer contents from artifact: 'sub/link' is a link to '${to}', which ${why}: ${mend}`,
    );
    expect((await filesOf(content, { ignore: "sub/link" })).files).toEqual({ "a.yaml": "a", "sub/b.yaml": "b" });
  });

  test("that form a cycle, or take the place of a folder, are refused", async () => {
    const circle = layerOf({ name: "a", type: "2", link: "b" }, { name: "b", type: "2", link: "a" });
    await expect(filesOf(circle)).rejects.toThrow("which leads round in a circle");
    const below = layerOf(
      { name: "base/a.yaml", content: "a" },
      { name: "link", type: "2", link: "base" },
      { name: "link/b.yaml", content: "b" },
    );
    await expect(filesOf(below)).rejects.toThrow("tar file entry link is a link where a folder is");
    const onFile = layerOf({ name: "a", content: "a" }, { name: "a/link", type: "2", link: "../a" });
    await expect(filesOf(onFile)).rejects.toThrow("tar file entry a/link lies below the file a");
  });

  test("that copy more than an archive may contain are refused", async () => {
    const links = Array.from({ length: 10 }, (_, index) => ({ name: `l${index}`, type: "2", link: "a" }));
    const large = layerOf({ name: "a", content: "a".repeat(1_000) }, ...links);
    await expect(filesOf(large, {}, { maxBytes: 10_000 })).rejects.toThrow(
      "with the targets of its links, the archive is bigger than 10000 bytes",
    );
    await expect(filesOf(large, {}, { maxEntries: 10 })).rejects.toThrow("tar has more than 10 entries");
    const folders = Array.from({ length: 4 }, (_, index) => ({ name: `l${index}`, type: "2", link: "f" }));
    const many = layerOf({ name: "f/a" }, { name: "f/b" }, { name: "f/c" }, ...folders);
    await expect(filesOf(many, {}, { maxEntries: 10 })).rejects.toThrow(
      "with the targets of its links, the archive has more than 10 files and folders",
    );
  });

  test("are skipped and named if the installation sets skip-links", async () => {
    const content = layerOf({ name: "a", content: "a" }, { name: "l", type: "2", link: "/etc/passwd" });
    expect(await filesOf(content, {}, { skipLinks: true })).toEqual({ files: { a: "a" }, links: ["l"] });
  });
});

test("keys and values of an invalid manifest are not shown", async () => {
  const broken = json(manifestType, {
    annotations: { "hunter2 key": 7 },
    layers: [{ mediaType: "hunter2", digest: "hunter2", size: "hunter2" }],
  });
  const refusal: unknown = await pull(broken, []).catch((error: unknown) => error);
  expect(String(refusal)).toContain("failed to parse artifact manifest: ");
  expect(String(refusal)).not.toContain("hunter2");
});
