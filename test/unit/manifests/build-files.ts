import type { Engine } from "../../../lib/core/ports/engine.ts";
import { kustomizeModule, wasmEngine } from "../../../lib/engine/wasm-engine.ts";
import { type Built, buildManifests } from "../../../lib/manifests/build/build.ts";
import type { BuildSpec } from "../../../lib/manifests/build-spec.ts";
import { gzip, packTar } from "../../../lib/sources/archive/pack-tar.ts";
import { untilDeadline } from "../../deadline.ts";
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

export const owner = { uid: "8c5d1f0e-0000-4000-8000-000000000001", name: "app", namespace: "apps" };

/** The engine as it ships. One thread for all tests of a process, as in a function; its process ends with it running. */
export const realEngine = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 60_000 });

/** An engine that must not be asked. */
export const noEngine: Engine = { build: () => Promise.reject(new Error("the engine was asked")) };

/** Builds files as an artifact. */
export async function buildFiles(
  files: Files,
  spec: BuildSpec = {},
  engine: Engine = realEngine,
  signal: AbortSignal = untilDeadline(),
): Promise<Built> {
  return buildManifests(await artifactOf(files), { spec, owner }, { engine, log: silentLog }, signal);
}

export function configMap(name: string, data = "a: b"): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data}\n`;
}
