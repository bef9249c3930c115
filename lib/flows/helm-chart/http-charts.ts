import type { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { type Http, trustElsewhere } from "../../core/ports/http.ts";
import { maxChartBytes } from "../../sources/helm/chart-archive.ts";
import type { ChartIndex, IndexedChart } from "../../sources/helm/chart-entry.ts";
import { chooseVersion } from "../../sources/helm/choose-chart.ts";
import { RepositoryFault, repositoryFault } from "../../sources/helm/repository-fault.ts";
import type { HelmCredentials } from "../helm-repository/credentials.ts";
import { getFile, HelmFetchError } from "../helm-repository/helm-getter.ts";
import type { ChartRepository } from "./chart-repository.ts";

/** How the server of a repository is asked. */
export interface ChartServer {
  readonly repository: Pick<HelmRepositorySpec, "passCredentials" | "timeout" | "url">;
  readonly credentials: HelmCredentials;
  readonly http: Pick<Http, "send">;
  /** Read when a version is chosen. Throws a `RepositoryFault`. */
  index(signal: AbortSignal): Promise<Pick<ChartIndex, "entries">>;
}

/**
 * The charts of a server with an index (reference sources 7.3). A chart is the first URL of its entry. Its server gets the credentials
 * of the repository only if it is the repository's own, or `passCredentials` says so. The digest in the index counts.
 */
export function httpCharts(server: ChartServer): ChartRepository {
  return {
    async choose(name, version, signal) {
      const index = await server.index(signal);
      try {
        return await chooseVersion(index, name, version, signal);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new RepositoryFault("absent", error.message, { cause: error });
      }
    },
    download: (chart, signal) => download(chart, server, signal),
  };
}

async function download(
  { digest, name, urls }: IndexedChart,
  { credentials, http, repository }: ChartServer,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const [first] = urls;
  if (first === undefined) throw new RepositoryFault("external", `chart '${name}' has no downloadable URLs`);
  const url = chartUrl(repository.url, first);
  const isElsewhere = new URL(url).origin !== new URL(repository.url).origin && repository.passCredentials !== true;
  const { tls, ...login } = credentials;
  const trust = tls !== undefined && isElsewhere ? trustElsewhere(tls) : tls;
  const own = trust === undefined ? login : { ...login, tls: trust };
  const file = { url, repository, credentials: own, maxBytes: maxChartBytes };
  const { body } = await getFile(file, http, signal).catch((error: unknown) => {
    if (!(error instanceof HelmFetchError)) throw repositoryFault(error);
    const cause = repositoryFault(error.cause);
    const isRefused = error.status === 401 || (cause instanceof RepositoryFault && cause.reason === "unauthorized");
    throw new RepositoryFault(isRefused ? "unauthorized" : "external", error.message, { cause: error });
  });
  if (digest !== undefined) checkDigest(body, digest, name);
  return body;
}

/** An index without a digest is taken, one with a digest that cannot be checked is not. */
function checkDigest(body: Uint8Array, digest: string, name: string): void {
  const wanted = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(digest)?.[1]?.toLowerCase();
  if (wanted === undefined) {
    const mend = "write the index again with helm repo index";
    throw new RepositoryFault(
      "external",
      `the index gives chart '${name}' a digest that is not one of SHA-256: ${mend}`,
    );
  }
  const found = digestOf(body);
  if (found === `sha256:${wanted}`) return;
  const why = `the index says sha256:${wanted}, the archive has ${found}`;
  throw new RepositoryFault("external", `the archive of chart '${name}' is not the one that the index lists: ${why}`);
}

/** The address of an archive. It may be relative to the repository's; then it gets the repository's query. */
function chartUrl(repository: string, text: string): string {
  const base = new URL(repository);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const url = URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new RepositoryFault("external", "the index lists an address that is not a URL of http or https");
  }
  if (!URL.canParse(text) && url.search === "") url.search = base.search;
  return url.href;
}
