import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { layerKubectl } from "../../../local/layer.ts";
import type { Files } from "./build-files.ts";

/** What `kubectl kustomize` (kustomize 5.7.1) makes of the files on a disk: another release, and nothing of ours. Throws with its words. */
export async function builtByKubectl(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-kubectl-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const kubectl = await layerKubectl(() => undefined);
    return (await promisify(execFile)(kubectl, ["kustomize", folder])).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
