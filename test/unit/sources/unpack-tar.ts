import { gzipSync } from "node:zlib";
import { type ArchiveLimits, defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";

const forever = new AbortController().signal;

/** Unpacks a tar as the layer that it would be. */
export function unpackTar(tar: Uint8Array, limits: Partial<ArchiveLimits> = {}) {
  return unpack(gzipSync(tar), { ...defaultArchiveLimits, ...limits }, forever);
}
