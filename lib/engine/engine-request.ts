import type { EngineInput } from "../core/ports/engine.ts";

const lengthBytes = 4;

/**
 * A build as the module reads it (`engine/internal/request/request.go`): the length of a JSON header as 32 bits little endian, the header, and
 * the bytes of all files one after the other. Files are no part of the JSON, since they may hold any bytes.
 */
export function engineRequest({ tree, folder, spec }: EngineInput): Uint8Array<ArrayBuffer> {
  const header = Buffer.from(
    JSON.stringify({
      folder,
      folders: [...tree.folders],
      files: [...tree.files].map(([path, { length }]) => [path, length]),
      spec,
    }),
  );
  const contents = [...tree.files.values()];
  const length = contents.reduce((sum, content) => sum + content.length, lengthBytes + header.length);
  // Memory of its own, which can be handed over to a thread.
  const request = new Uint8Array(length);
  new DataView(request.buffer).setUint32(0, header.length, true);
  let at = lengthBytes;
  for (const part of [header, ...contents]) {
    request.set(part, at);
    at += part.length;
  }
  return request;
}
