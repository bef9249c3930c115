import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Files } from "./push.ts";

const example = join(import.meta.dirname, "../../../examples/oddy-test/manifests");

/** The example that the demo pushes, in another namespace. */
export async function exampleFiles(namespace: string): Promise<Files> {
  const names = await readdir(example);
  const text = async (name: string) =>
    (await readFile(join(example, name), "utf8")).replace(": default", `: ${namespace}`);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await text(name)] as const)));
}

/** All files but one. */
export function without(files: Files, name: string): Files {
  return Object.fromEntries(Object.entries(files).filter(([each]) => each !== name));
}

/** ConfigMaps, a hundred to a file. */
export function configMaps(namespace: string, names: readonly string[], value: string): Files {
  const chunks = Array.from({ length: Math.ceil(names.length / 100) }, (_, index) =>
    names.slice(index * 100, (index + 1) * 100),
  );
  const manifest = (name: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
    data: { value },
  });
  return Object.fromEntries(
    chunks.map((chunk, index) => [
      `maps-${index}.yaml`,
      chunk.map((name) => JSON.stringify(manifest(name))).join("\n---\n"),
    ]),
  );
}
