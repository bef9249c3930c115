import { createHash } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Artifact } from "../../api/source.ts";
import { Failure } from "../../core/failure.ts";
import { type Http, HttpError } from "../../core/ports/http.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";

const timeoutMs = 60_000;
const maxRedirects = 5;

/** Flux's algorithms that Node supports. */
const algorithms: ReadonlySet<string> = new Set(["sha256", "sha384", "sha512"]);

/**
 * Downloads the artifact of an ExternalArtifact from where its producer serves it, and verifies its digest (reference 3.5). The
 * network policy decides where that may be. Undefined if it is not there (404).
 *
 * @throws Failure `ArtifactFailed`, in Flux's words. Where the server may answer later, the download is tried again with back-off.
 */
export async function downloadArtifact(
  { url, digest }: Pick<Artifact, "digest" | "url">,
  http: Pick<Http, "send">,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const [algorithm = "", wanted = ""] = digest.split(":");
  if (!algorithms.has(algorithm)) {
    const known = [...algorithms].join(", ");
    throw new Failure("ArtifactFailed", `failed to verify archive: digest '${digest}' is not one of ${known}`);
  }
  const { maxPackedBytes: maxBytes } = defaultArchiveLimits;
  const request = { method: "GET", url, timeoutMs, maxBytes, maxRedirects } as const;
  const { status, body } = await http.send(request, signal).catch((error: unknown) => {
    if (!(error instanceof HttpError)) throw error;
    const isForGood = error.reason === "refused" || error.reason === "too-large";
    throw failed(`failed to download archive: ${error.message}`, isForGood ? "interval" : "backoff", error);
  });
  if (status === 404) return undefined;
  if (status !== 200) {
    const isForGood = status < 500 && status !== 429;
    const text = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    throw failed(`failed to download archive from ${url} (status: ${text})`, isForGood ? "interval" : "backoff");
  }
  if (createHash(algorithm).update(body).digest("hex") === wanted) return body;
  const hint = "check whether file size exceeds max download size";
  throw failed(`failed to verify archive: computed digest doesn't match provided '${digest}' (${hint})`, "interval");
}

function failed(message: string, retry: "backoff" | "interval", cause?: unknown): Failure {
  return new Failure("ArtifactFailed", message, { cause, retry });
}
