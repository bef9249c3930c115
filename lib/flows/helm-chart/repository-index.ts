import { posix } from "node:path";
import type { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { messageOf } from "../../core/failure.ts";
import { type Http, HttpError } from "../../core/ports/http.ts";
import type { ChartIndex } from "../../sources/helm/chart-entry.ts";
import { readIndex } from "../../sources/helm/chart-index.ts";
import { defaultIndexLimits } from "../../sources/helm/index-limits.ts";
import { RepositoryFault, repositoryFault } from "../../sources/helm/repository-fault.ts";
import type { HelmCredentials } from "../helm-repository/credentials.ts";
import { getFile, HelmFetchError } from "../helm-repository/helm-getter.ts";

/** The index that these bytes are. Throws a `RepositoryFault`. */
export async function parseIndex(bytes: Uint8Array, maxBytes: number, signal: AbortSignal): Promise<ChartIndex> {
  try {
    return await readIndex(bytes, { ...defaultIndexLimits, maxBytes }, signal);
  } catch (error) {
    throw repositoryFault(error, "failed to load index: failed to load index: ");
  }
}

/** The index of a repository that no HelmRepository of ours has stored. Throws a `RepositoryFault`. */
export async function downloadIndex(
  repository: Pick<HelmRepositorySpec, "passCredentials" | "timeout" | "url">,
  credentials: HelmCredentials,
  { http, maxIndexBytes }: { readonly http: Pick<Http, "send">; readonly maxIndexBytes: number },
  signal: AbortSignal,
): Promise<ChartIndex> {
  const url = new URL(repository.url);
  url.pathname = posix.join(url.pathname, "index.yaml");
  const file = { url: url.href, repository, credentials, maxBytes: maxIndexBytes };
  const { body } = await getFile(file, http, signal).catch((error: unknown) => {
    if (!(error instanceof HelmFetchError || error instanceof HttpError)) throw error;
    const why = `failed to cache index: failed to cache index to temporary file: ${messageOf(error)}`;
    throw new RepositoryFault("external", why, { cause: error });
  });
  return parseIndex(body, maxIndexBytes, signal);
}
