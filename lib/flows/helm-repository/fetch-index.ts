import { posix } from "node:path";
import { z } from "zod";
import type { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import { type Http, HttpError } from "../../core/ports/http.ts";
import type { HelmCredentials } from "./credentials.ts";
import { getFile, HelmFetchError } from "./helm-getter.ts";

/** Longer validators are not kept: a note to the next run is small. */
const maxValidatorChars = 1_000;

/** The server's headers about the index that it last sent, passed from run to run: it need not send the same index again. */
const Validators = z.object({
  url: z.string(),
  revision: z.string(),
  etag: z.string().exactOptional(),
  lastModified: z.string().exactOptional(),
});
type Validators = z.infer<typeof Validators>;
const Carried = z.object({ index: Validators });

/** An index as it was downloaded; `bytes` is undefined if it is the one that is stored. */
export interface FetchedIndex {
  /** SHA-256 of its bytes. */
  readonly revision: string;
  readonly bytes: Uint8Array | undefined;
  readonly validators: Validators | undefined;
}

/** What a fetch of an index needs in addition to its spec. */
interface Fetching {
  readonly http: Pick<Http, "send">;
  readonly credentials: HelmCredentials;
  readonly maxBytes: number;
  /** The revision of the stored artifact. */
  readonly stored: string | undefined;
  /** What the last run passed on. */
  readonly carried: unknown;
}

/** Downloads the index, unless the server says that it is the stored one. Throws a {@link Failure} `Failed` in Flux's words. */
export async function fetchIndex(
  spec: HelmRepositorySpec,
  { carried, credentials, http, maxBytes, stored }: Fetching,
  signal: AbortSignal,
): Promise<FetchedIndex> {
  const url = indexUrl(spec.url);
  const known = Carried.safeParse(carried).data?.index;
  const isKnown = known !== undefined && known.url === url && known.revision === stored;
  const headers = isKnown ? conditions(known) : undefined;
  const repository = { ...spec, url: spec.url };
  const file = { url, repository, credentials, maxBytes, ...(headers === undefined ? {} : { headers }) };
  const {
    status,
    body,
    headers: answered,
  } = await getFile(file, http, signal).catch((error: unknown) => {
    if (error instanceof HttpError)
      throw failed(`index exceeds the maximum index file size of ${maxBytes} bytes`, error);
    if (error instanceof HelmFetchError) throw failed(error.message, error);
    throw error;
  });
  if (status === 304 && isKnown) return { revision: known.revision, bytes: undefined, validators: known };
  const revision = digestOf(body);
  return { revision, bytes: body, validators: validatorsOf(url, revision, answered) };
}

/** The address of the index, as Go joins it: behind the path, which it cleans, and before the query. */
function indexUrl(url: string): string {
  const index = new URL(url);
  index.pathname = posix.join(index.pathname, "index.yaml");
  return index.href;
}

function conditions({ etag, lastModified }: Validators): Readonly<Record<string, string>> | undefined {
  if (etag !== undefined) return { "if-none-match": etag };
  return lastModified === undefined ? undefined : { "if-modified-since": lastModified };
}

function validatorsOf(
  url: string,
  revision: string,
  { etag, "last-modified": lastModified }: Readonly<Record<string, string>>,
): Validators | undefined {
  // A URL with a login or a signature is not kept either.
  if (url.length > maxValidatorChars || /[?@]/.test(url)) return undefined;
  const isKept = (text: string | undefined): text is string => text !== undefined && text.length <= maxValidatorChars;
  if (isKept(etag)) return { url, revision, etag };
  return isKept(lastModified) ? { url, revision, lastModified } : undefined;
}

function failed(why: string, cause: unknown): Failure {
  const message = `failed to fetch Helm repository index: failed to cache index to temporary file: ${why}`;
  return new Failure("Failed", message, { cause });
}
