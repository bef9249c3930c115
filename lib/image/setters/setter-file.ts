import { posix } from "node:path";

/** What a file must hold to be read: the field of a marker with its quotes. */
const field = Buffer.from('"$imagepolicy"');

/** Whether markers are looked for in a file of this path. */
export function isSetterFile(path: string): boolean {
  return path.endsWith(".yaml") || path.endsWith(".yml") || posix.basename(path) === "Kustomization";
}

/** Whether the bytes may hold a marker. A file without is not parsed, as most are no manifests or not even YAML. */
export function mayHoldMarkers(content: Uint8Array): boolean {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(field);
}
