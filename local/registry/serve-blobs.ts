import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { answer, type Exchange } from "./answer.ts";
import { RegistryError } from "./registry-error.ts";
import { type RegistryFiles, sizeIfThere } from "./registry-files.ts";

/** GET, HEAD (whole or one range) and DELETE of a blob. A deleted blob's bytes stay while other repositories may have it. */
export async function serveBlob(
  exchange: Exchange,
  files: RegistryFiles,
  repository: string,
  digest: string,
): Promise<void> {
  const linked = await sizeIfThere(files.blobLink(repository, digest));
  const size = linked === undefined ? undefined : await sizeIfThere(files.blob(digest));
  if (size === undefined) throw new RegistryError(404, "BLOB_UNKNOWN", "blob unknown to registry", digest);
  const { method, request, response } = exchange;
  if (method === "DELETE") {
    await rm(files.blobLink(repository, digest), { force: true });
    return answer(exchange, 202, { "docker-content-digest": digest });
  }
  if (method !== "GET" && method !== "HEAD")
    throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported");
  const range = parseRange(request.headers.range, size);
  const length = range.end - range.start;
  response.writeHead(range.partial ? 206 : 200, {
    "accept-ranges": "bytes",
    "content-type": "application/octet-stream",
    "content-length": length,
    "docker-content-digest": digest,
    etag: `"${digest}"`,
    ...(range.partial ? { "content-range": `bytes ${range.start}-${range.end - 1}/${size}` } : {}),
  });
  if (method === "HEAD" || length === 0) {
    response.end();
    return;
  }
  await pipeline(createReadStream(files.blob(digest), { start: range.start, end: range.end - 1 }), response);
}

/** The half-open range of bytes that was asked for; a header of another form than one range of bytes is ignored. */
function parseRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number; readonly partial: boolean } {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return { start: 0, end: size, partial: false };
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (start >= end) throw new RegistryError(416, "RANGE_INVALID", `range ${header} is outside of ${size} bytes`);
  return { start, end, partial: true };
}
