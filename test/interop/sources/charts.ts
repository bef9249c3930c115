import { digestOf } from "../../../lib/core/digest.ts";
import { gzip, packEnd, packEntry } from "../../../lib/sources/archive/pack-tar.ts";
import type { SourceHosts } from "./source-hosts.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The files of a chart, by their path in its folder. */
export function chartFiles(name: string, version: string, more: Files = {}): Files {
  return {
    "Chart.yaml": `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    "values.yaml": "replicas: 1\ncolour: blue\n",
    "templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n",
    ...more,
  };
}

/** A packed folder of files. */
export function archiveOf(files: Files, folder = ""): Promise<Uint8Array> {
  const members = Object.entries(files).flatMap(([path, text]) => [
    ...packEntry({ type: "file", path: `${folder}${path}`, mode: 0o644, bytes: Buffer.from(text) }),
  ]);
  return gzip([...members, packEnd()]);
}

export const chartArchive = (name: string, version: string, more: Files = {}): Promise<Uint8Array> =>
  archiveOf(chartFiles(name, version, more), `${name}/`);

/** A version in an index: its chart, and fields beside those that it needs. */
export interface Entry {
  readonly name: string;
  readonly version: string;
  readonly more?: Files;
  readonly fields?: string;
  readonly urls?: readonly string[];
}

/** Puts charts and the index that lists them below `/FOLDER/`. */
export async function publish(
  { files }: SourceHosts,
  folder: string,
  entries: readonly Entry[],
  head = "",
): Promise<void> {
  const lines = new Map<string, string[]>();
  for (const { name, version, more = {}, fields = "", urls } of entries) {
    const archive = await chartArchive(name, version, more);
    const file = `${name}-${version}.tgz`;
    files.set(`/${folder}/${file}`, archive);
    const listed = (urls ?? [file]).map((url) => `      - ${url}\n`).join("");
    const digest = digestOf(archive).slice("sha256:".length);
    const entry = `    - apiVersion: v2\n      name: ${name}\n      version: ${version}\n      digest: ${digest}\n      urls:\n${listed}${fields}`;
    lines.set(name, [...(lines.get(name) ?? []), entry]);
  }
  const text = [...lines].map(([name, all]) => `  ${name}:\n${all.join("")}`).join("");
  files.set(`/${folder}/index.yaml`, `apiVersion: v1\n${head}entries:\n${text}`);
}
