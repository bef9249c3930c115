import type { FileTree } from "../../../../lib/core/ports/engine.ts";
import { gzip, packEnd, packEntry } from "../../../../lib/sources/archive/pack-tar.ts";
import { chartBudget, readArchive } from "../../../../lib/sources/helm/chart-archive.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The chart of the recorded scenarios. */
export const appChart: Files = {
  "Chart.yaml": 'apiVersion: v2\nname: app\nversion: "1.0.0"\n',
  "values.yaml": "color: blue\nreplicas: 1\n",
  "templates/configmap.yaml": "data: {{ .Values.color | quote }}\n",
};

/** A packed chart; its folder is called `app`. */
export async function packed(files: Files, folder = "app"): Promise<Uint8Array> {
  return gzip(members(files, folder));
}

function* members(files: Files, folder: string): Generator<Uint8Array, void, undefined> {
  for (const [name, content] of Object.entries(files)) {
    yield* packEntry({ type: "file", path: `${folder}/${name}`, mode: 0o644, bytes: Buffer.from(content) });
  }
  yield packEnd();
}

/** The files of a packed chart as text, in their order, each by its whole path. */
export async function unpacked(archive: Uint8Array, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const files = await readArchive(archive, chartBudget(), signal);
  return Object.fromEntries(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]));
}

/** The artifact of a source that has these files. */
export function sourceTree(files: Files): FileTree {
  const folders = new Set([""]);
  for (const path of Object.keys(files)) {
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1))
      folders.add(path.slice(0, slash));
  }
  return { files: new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])), folders };
}

/** The files below a folder. */
export function below(folder: string, files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]));
}
