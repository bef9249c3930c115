import { posix } from "node:path";

/** Only files with this text are parsed: the field of a marker with its quotes. */
const field = Buffer.from('"$imagepolicy"');

/** Whether markers are looked for in a file of this path. */
export function isSetterFile(path: string): boolean {
  return path.endsWith(".yaml") || path.endsWith(".yml") || posix.basename(path) === "Kustomization";
}

/** Whether the bytes may hold a marker. Other files are not parsed: most are not manifests, and many are not YAML. */
export function mayHoldMarkers(content: Uint8Array): boolean {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(field);
}
