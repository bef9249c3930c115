import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { readTar } from "../../../lib/sources/archive/read-tar.ts";
import { type ArtifactToPush, pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import type { RegistryClient } from "../../../lib/sources/oci/registry-client.ts";
import { untilDeadline } from "../../deadline.ts";

let folder: string;
let pushed: Map<string, Uint8Array>;
let manifests: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-push-"));
  pushed = new Map();
  manifests = [];
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A registry that takes everything. */
function registry(): RegistryClient {
  const notHere = (): never => {
    throw new Error("not in this test");
  };
  return {
    blob: notHere,
    digestOfTag: notHere,
    manifest: notHere,
    referrers: notHere,
    tags: notHere,
    pushBlob: async (_repository, bytes) => void pushed.set(digestOf(bytes), bytes),
    pushManifest: async (_repository, _tag, _mediaType, bytes) => {
      manifests.push(Buffer.from(bytes).toString());
      return digestOf(bytes);
    },
  };
}

async function content(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, "sub"), { recursive: true });
  await writeFile(join(path, "a.yaml"), "a: 1\n");
  await writeFile(join(path, "sub", "run.sh"), "echo\n");
  await chmod(join(path, "sub", "run.sh"), 0o755);
  return path;
}

function push(path: string, more: Partial<ArtifactToPush> = {}) {
  const artifact = { url: "oci://r.example/app:v1", path, source: "https://s", revision: "main@sha1:1", ...more };
  return pushArtifact(artifact, registry, untilDeadline());
}

/** The members of the layer that was pushed last. */
async function layer(): Promise<readonly string[]> {
  const manifest: unknown = JSON.parse(manifests.at(-1) ?? "");
  const [digest = ""] = /sha256:[0-9a-f]{64}(?=[^}]*\}\])/.exec(JSON.stringify(manifest)) ?? [];
  const tar = gunzipSync(pushed.get(digest) ?? new Uint8Array());
  async function* once() {
    yield tar;
  }
  const names: string[] = [];
  for await (const { name, mode } of readTar(once())) names.push(`${mode.toString(8)} ${name}`);
  return names;
}

describe("pushing an artifact", () => {
  test("writes Flux's media types and annotations, and a config with only the digest of the unpacked layer", async () => {
    await push(await content("in"));
    const created = "1970-01-01T00:00:00Z";
    expect(JSON.parse(manifests[0] ?? "")).toMatchObject({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.cncf.flux.config.v1+json" },
      layers: [{ mediaType: "application/vnd.cncf.flux.content.v1.tar+gzip" }],
      annotations: {
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.revision": "main@sha1:1",
        "org.opencontainers.image.source": "https://s",
      },
    });
    const [packed = new Uint8Array(), config = new Uint8Array()] = pushed.values();
    expect(JSON.parse(Buffer.from(config).toString())).toEqual({
      architecture: "",
      config: {},
      created,
      history: [{ created: "0001-01-01T00:00:00Z" }],
      os: "",
      rootfs: { type: "layers", diff_ids: [digestOf(gunzipSync(packed))] },
    });
  });

  test("gives the same digest for the same content, whatever its folder and age", async () => {
    const [one, two] = [await content("one"), await content("two")];
    await utimes(join(two, "a.yaml"), 1, 1);
    const first = await push(one);
    expect((await push(two)).digest).toBe(first.digest);
    await writeFile(join(two, "a.yaml"), "a: 2\n");
    expect((await push(two)).digest).not.toBe(first.digest);
    expect((await push(one, { revision: "main@sha1:2" })).digest).not.toBe(first.digest);
  });

  test("11.1/16: keeps permissions, and skips and names links", async () => {
    const path = await content("in");
    await chmod(path, 0o755);
    await chmod(join(path, "sub"), 0o700);
    await chmod(join(path, "a.yaml"), 0o640);
    await symlink("/etc/passwd", join(path, "link"));
    const { skippedLinks } = await push(path);
    expect(skippedLinks).toEqual(["link"]);
    expect(await layer()).toEqual(["755 .", "640 a.yaml", "700 sub", "755 sub/run.sh"]);
  });

  test("excludes version control and image files by default, or what the options say", async () => {
    const path = await content("in");
    for (const name of [".gitignore", "logo.png", ".sops.yaml"]) await writeFile(join(path, name), "");
    const names = async (more: Partial<ArtifactToPush>) => {
      await push(path, more);
      return (await layer()).map((line) => line.replace(/^\d+ /, ""));
    };
    expect(await names({})).toEqual([".", ".sops.yaml", "a.yaml", "sub", "sub/run.sh"]);
    expect(await names({ addIgnorePaths: ["sub/"] })).toEqual([".", ".sops.yaml", "a.yaml"]);
    expect(await names({ ignorePaths: ["*.yaml", "sub"] })).toEqual([".", ".gitignore", "logo.png"]);
    const both = { ignorePaths: ["*.yaml"], addIgnorePaths: ["sub/", "logo.*", "!/a.yaml"] };
    expect(await names(both)).toEqual([".", ".gitignore", "a.yaml"]);
  });

  test("packs a single file as a folder with one file", async () => {
    const path = await content("in");
    await push(join(path, "a.yaml"));
    expect((await layer()).map((line) => line.replace(/^\d+ /, ""))).toEqual([".", "a.yaml"]);
  });

  test("packs content that is not on disk as a file with the given name", async () => {
    const kind = { content: Buffer.from("kind: ConfigMap\n") };
    const { digest } = await push("stdin.yaml", kind);
    expect(await layer()).toEqual(["755 .", "644 stdin.yaml"]);
    expect((await push("stdin.yaml", kind)).digest).toBe(digest);
  });

  test("packs the targets of links on request, each link separately, and stops at a cycle", async () => {
    const path = await content("in");
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere", "b.yaml"), "b: 1\n");
    await chmod(join(folder, "elsewhere", "b.yaml"), 0o600);
    for (const name of ["one", "two"]) await symlink("../elsewhere", join(path, name));
    await symlink("../elsewhere/b.yaml", join(path, "b.yaml"));
    await symlink("../in", join(folder, "elsewhere", "back"));
    const { skippedLinks } = await push(path, { resolveSymlinks: true });
    expect(skippedLinks.toSorted()).toEqual(["one/back", "two/back"]);
    expect((await layer()).map((line) => line.replace(/^\d+ /, ""))).toEqual([
      ".",
      ...["a.yaml", "b.yaml", "one", "one/b.yaml", "sub", "sub/run.sh", "two", "two/b.yaml"],
    ]);
    expect(await layer()).toContain("600 b.yaml");
    await symlink("nowhere", join(path, "broken"));
    await expect(push(path, { resolveSymlinks: true })).rejects.toThrow(
      /the symbolic link .*broken cannot be followed/,
    );
  });

  test("given annotations take precedence over the default ones", async () => {
    await push(await content("in"), { annotations: { "org.opencontainers.image.source": "mine", team: "a" } });
    expect(JSON.parse(manifests[0] ?? "")).toMatchObject({
      annotations: { "org.opencontainers.image.source": "mine", team: "a" },
    });
  });
});
