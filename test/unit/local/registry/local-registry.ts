import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { z } from "zod";
import { digestOf } from "../../../../lib/core/digest.ts";
import type { Push } from "../../../../local/registry/serve-manifests.ts";
import { type Registry, startRegistry } from "../../../../local/registry/start-registry.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

export const manifestType = "application/vnd.oci.image.manifest.v1+json";
export const indexType = "application/vnd.oci.image.index.v1+json";
export const dockerType = "application/vnd.docker.distribution.manifest.v2+json";
export const configType = "application/vnd.oci.image.config.v1+json";

/** A registry with a folder of its own for each test of the file that calls this; `pushes` are those that it announced. */
export function localRegistry() {
  const own = {
    folder: "",
    pushes: [] as Push[],
    start,
    close: () => registry.close(),
    address: () => registry.address,
    send,
    pushBlob,
    pushManifest,
  };
  let registry: Registry;

  beforeEach(async () => {
    own.folder = await mkdtemp(join(tmpdir(), "sluice-registry-"));
    own.pushes = [];
    await start();
  });
  afterEach(async () => {
    await registry.close();
    await rm(own.folder, { recursive: true });
  });

  async function start(
    port = 0,
    onPush: (push: Push) => void | Promise<void> = (push) => void own.pushes.push(push),
  ): Promise<void> {
    registry = await startRegistry({ folder: own.folder, port, log: silentLog, onPush });
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

  return own;
}

const Answer = z
  .object({
    errors: z.array(z.object({ code: z.string(), message: z.string(), detail: z.unknown().optional() })),
    manifests: z.array(z.unknown()),
    tags: z.array(z.string()),
  })
  .partial();

export function parse(text: string) {
  return Answer.parse(JSON.parse(text));
}

export function codeOf(text: string): string | undefined {
  return text.startsWith("{") ? parse(text).errors?.[0]?.code : undefined;
}
