import type { EngineInput } from "../core/ports/engine.ts";

/**
 * A build as the module reads it (`engine/request.go`): the length of a JSON header as 32 bits little endian, the header, and
 * the bytes of all files one after the other. Files are no part of the JSON, since they may hold any bytes.
 */
export function engineRequest({ tree, folder, spec }: EngineInput): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({
      folder,
      folders: [...tree.folders],
      files: [...tree.files].map(([path, { length }]) => [path, length]),
      spec,
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header, ...tree.files.values()]);
}
