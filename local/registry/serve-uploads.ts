import { answer, type Exchange } from "./answer.ts";
import { RegistryError } from "./registry-error.ts";
import { type RegistryFiles, sizeIfThere, writeWhole } from "./registry-files.ts";
import { parseDigest, parseName } from "./route.ts";
import type { Uploads } from "./uploads.ts";

/** POST: begins an upload, takes a whole blob (`digest`), or shares a blob of another repository (`mount`, `from`). */
export async function beginUpload(
  exchange: Exchange,
  files: RegistryFiles,
  uploads: Uploads,
  repository: string,
): Promise<void> {
  const { method, query, request } = exchange;
  if (method !== "POST") throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported");
  const mount = query.get("mount") ?? "";
  const from = query.get("from") ?? "";
  if (mount !== "" && from !== "") {
    const digest = parseDigest(mount);
    if ((await sizeIfThere(files.blobLink(parseName(from), digest))) !== undefined) {
      await writeWhole(files, files.blobLink(repository, digest), "");
      return created(exchange, repository, digest);
    }
  }
  const whole = query.get("digest");
  const digest = whole === null ? undefined : parseDigest(whole);
  const id = await uploads.begin(repository);
  if (digest === undefined) return goOn(exchange, repository, id, 0, 202);
  await uploads.append(repository, id, request, 0);
  await uploads.finish(repository, id, digest);
  return created(exchange, repository, digest);
}

/** GET: how far it is. PATCH: a chunk. PUT: the last chunk, if any, and the digest. DELETE: never mind. */
export async function serveUpload(exchange: Exchange, uploads: Uploads, repository: string, id: string): Promise<void> {
  const { method, query, request } = exchange;
  switch (method) {
    case "GET":
    case "HEAD":
      return goOn(exchange, repository, id, await uploads.offset(repository, id), 204);
    case "PATCH": {
      const start = startOfChunk(request.headers["content-range"]);
      return goOn(exchange, repository, id, await uploads.append(repository, id, request, start), 202);
    }
    case "PUT": {
      const digest = parseDigest(query.get("digest") ?? "");
      await uploads.append(repository, id, request, startOfChunk(request.headers["content-range"]));
      await uploads.finish(repository, id, digest);
      return created(exchange, repository, digest);
    }
    case "DELETE":
      await uploads.cancel(repository, id);
      return answer(exchange, 204, {});
    default:
      throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported");
  }
}

/** `0-1023` or `bytes 0-1023/2048`; docker streams without any. */
function startOfChunk(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const [, start] = /^(?:bytes )?(\d+)-\d+(?:\/.*)?$/.exec(header) ?? [];
  if (start === undefined) throw new RegistryError(400, "BLOB_UPLOAD_INVALID", `cannot read Content-Range "${header}"`);
  return Number(start);
}

function goOn(exchange: Exchange, repository: string, id: string, offset: number, status: number): void {
  answer(exchange, status, {
    location: `/v2/${repository}/blobs/uploads/${id}`,
    // The specification counts the last byte, so nothing yet is written the way the CNCF registry writes it.
    range: `0-${Math.max(0, offset - 1)}`,
    "docker-upload-uuid": id,
  });
}

function created(exchange: Exchange, repository: string, digest: string): void {
  answer(exchange, 201, { location: `/v2/${repository}/blobs/${digest}`, "docker-content-digest": digest });
}
