import type { TreeEntry } from "../../../lib/sources/archive/pack-tar.ts";

export function fileOf(path: string, text = "", mode = 0o644): TreeEntry {
  return { type: "file", path, mode, bytes: Buffer.from(text) };
}

/** In hexadecimal digits, which a failed comparison can show; of a folder there are none. */
export function contentOf(entry: TreeEntry): { readonly bytes: string } {
  return { bytes: entry.type === "file" ? Buffer.from(entry.bytes).toString("hex") : "" };
}
