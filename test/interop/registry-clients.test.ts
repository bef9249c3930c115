import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { defaultArchiveLimits } from "../../lib/sources/archive/unpack.ts";
import { pullArtifact } from "../../lib/sources/oci/pull-artifact.ts";
import { pushArtifact } from "../../lib/sources/oci/push-artifact.ts";
import { type RegistryClient, registryClients } from "../../lib/sources/oci/registry-client.ts";
import { type Registry, startRegistry } from "../../local/registry/start-registry.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { buildClients, crane, orasPush } from "./build-clients.ts";

const execute = promisify(execFile);
const nothing = (): void => undefined;
const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => undefined };
const { signal } = new AbortController();

const missing = await buildClients();

/** Clients of other projects, at the versions that go.sum names. */
describe.skipIf(missing !== undefined)(`other registry clients${missing ?? ""}`, () => {
  const http = httpClient({ network: homeNetwork });
  let folder: string;
  let registry: Registry;
  let client: RegistryClient;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-interop-"));
    registry = await startRegistry({ folder: join(folder, "registry"), port: 0, log: silentLog, onPush: nothing });
    client = registryClients(http, clock)({ host: registry.address, insecure: true });
  });
  afterAll(async () => {
    http.close();
    await registry.close();
    await rm(folder, { recursive: true });
  });

  const run = async (program: string, args: readonly string[]): Promise<string> => {
    // HOME has no login of the person who runs the tests.
    const { stdout } = await execute(program, [...args], { cwd: folder, env: { HOME: folder } });
    return stdout.trim();
  };

  const contentOf = async (name: string): Promise<string> => {
    const content = join(folder, name);
    await mkdir(content);
    await writeFile(join(content, "a.yaml"), `# ${name}\nkind: ConfigMap\n`);
    return content;
  };

  test("crane pushes, lists, reads, copies, moves a tag and deletes", async () => {
    await contentOf("crane");
    const image = `${registry.address}/team/crane`;
    await run("tar", ["czf", "layer.tgz", "-C", "crane", "."]);
    await run(crane, ["append", "-f", "layer.tgz", "-t", `${image}:v1`]);
    const digest = await run(crane, ["digest", `${image}:v1`]);
    expect(await client.digestOfTag("team/crane", "v1", signal)).toBe(digest);
    await run(crane, ["tag", `${image}:v1`, "stable"]);
    await run(crane, ["copy", `${image}:v1`, `${registry.address}/other/crane:copied`]);
    expect((await run(crane, ["ls", image])).split("\n")).toEqual(["stable", "v1"]);
    expect(await run(crane, ["digest", `${registry.address}/other/crane:copied`])).toBe(digest);
    await run(crane, ["validate", "--remote", `${image}:stable`]);
    await run(crane, ["delete", `${image}@${digest}`]);
    await expect(run(crane, ["digest", `${image}:v1`])).rejects.toThrow("MANIFEST_UNKNOWN: manifest unknown");
  });

  test("an image that crane pushed can be used as an artifact", async () => {
    await contentOf("pulled");
    await run("tar", ["czf", "pulled.tgz", "-C", "pulled", "."]);
    await run(crane, ["append", "-f", "pulled.tgz", "-t", `${registry.address}/team/pulled:v1`]);
    const digest = await client.digestOfTag("team/pulled", "v1", signal);
    const spec = { url: `oci://${registry.address}/team/pulled` };
    const artifact = await pullArtifact(spec, "team/pulled", digest, client, defaultArchiveLimits, signal);
    expect(artifact.bytes.length).toBeGreaterThan(0);
    expect(artifact.links).toEqual([]);
  });

  test("crane and Sluice read the same artifact that Sluice pushed", async () => {
    const path = await contentOf("ours");
    const url = `oci://${registry.address}/team/ours:v1`;
    const artifact = { url, path, source: "https://example.test/repo", revision: "main@sha1:0" };
    const connect = registryClients(http, clock);
    const pushed = await pushArtifact(artifact, ({ host }) => connect({ host, insecure: true }), signal);
    expect(await run(crane, ["digest", `${registry.address}/team/ours:v1`])).toBe(pushed.digest);
    await run(crane, ["validate", "--remote", `${registry.address}/team/ours:v1`]);
    const manifest: unknown = JSON.parse(await run(crane, ["manifest", `${registry.address}/team/ours:v1`]));
    expect(manifest).toMatchObject({
      config: { mediaType: "application/vnd.cncf.flux.config.v1+json" },
      layers: [{ mediaType: "application/vnd.cncf.flux.content.v1.tar+gzip" }],
    });
  });

  test("oras-go pushes several layers, a manifest with a subject, and finds its referrers and tags", async () => {
    await contentOf("oras");
    await run("tar", ["czf", "one.tgz", "-C", "oras", "."]);
    await writeFile(join(folder, "two.txt"), "two");
    const answer = await run(orasPush, [`${registry.address}/team/oras`, "v1", "one.tgz", "two.txt"]);
    const Answer = z.object({
      digest: z.string(),
      signature: z.string(),
      referrers: z.array(z.string()),
      tags: z.array(z.string()),
    });
    const { digest, signature, referrers, tags } = Answer.parse(JSON.parse(answer));
    expect(referrers).toEqual([signature]);
    expect(tags).toEqual(["v1"]);
    const spec = { url: `oci://${registry.address}/team/oras` };
    const artifact = await pullArtifact(spec, "team/oras", digest, client, defaultArchiveLimits, signal);
    expect(artifact.metadata).toEqual({ "org.opencontainers.image.created": "2026-01-01T00:00:00Z" });
  });
});
