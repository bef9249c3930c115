import { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredHelmRepository } from "../../api/kinds/helm-repository.ts";
import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { fetchArtifact, recordedArtifact, sourceOf } from "../source/read-source.ts";
import type { SourceContext } from "../source/source-context.ts";
import type { ChartRepository } from "./chart-repository.ts";
import type { Dependencies } from "./dependencies.ts";
import type { HelmRepositoryParts } from "./from-repository.ts";
import { openChartRepository } from "./open-repository.ts";
import { downloadIndex, parseIndex } from "./repository-index.ts";

/**
 * Charts of repositories that a chart names. A HelmRepository of the namespace with the same URL lends its credentials and its index;
 * any other repository is asked without credentials (reference sources 7.4).
 */
export function remoteDependencies(parts: HelmRepositoryParts): Dependencies {
  return {
    async download({ name, repository: url, version }, ctx) {
      const { signal } = ctx.run;
      const normalised = normalisedUrl(url);
      refuse(normalised);
      const repository = await repositoryAt(normalised, parts, ctx).catch((error: unknown) => {
        throw about(`failed to get chart repository for URL '${normalised}'`, error);
      });
      const chosen = await repository.choose(name, version, signal).catch((error: unknown) => {
        throw about(`failed to get chart '${name}' version '${version}' from '${url}'`, error);
      });
      return repository.download(chosen, signal).catch((error: unknown) => {
        throw about(`chart download of version '${chosen.version}' failed`, error);
      });
    },
  };
}

/** Slashes at the end do not matter; over http there is one. */
function normalisedUrl(url: string): string {
  const [, base = "", query = ""] = /^([^?#]*)(.*)$/s.exec(url) ?? [];
  const end = base.search(/\/*$/);
  return `${base.slice(0, end)}${base.startsWith("oci://") ? "" : "/"}${query}`;
}

function refuse(url: string): void {
  if (url.startsWith("oci://") || ((url.startsWith("https://") || url.startsWith("http://")) && URL.canParse(url)))
    return;
  const why = url.startsWith("@")
    ? "aliased repository dependency is not supported"
    : "invalid dependency repository URL";
  throw new RangeError(`${why}: ${url}`);
}

function about(what: string, error: unknown): Error {
  return new Error(`${what}: ${messageOf(error)}`, { cause: error });
}

async function repositoryAt(url: string, parts: HelmRepositoryParts, ctx: SourceContext): Promise<ChartRepository> {
  const { run } = ctx;
  const found = await repositoryOf(url, ctx);
  const own = found && HelmRepositorySpec.safeParse(found["spec"]).data;
  const spec = own ?? HelmRepositorySpec.parse({ url, ...(url.startsWith("oci://") ? { type: "oci" } : {}) });
  const { artifact, uid } = found === undefined ? { artifact: undefined, uid: "" } : sourceOf(found);
  const key = { ...run.key, kind: declaredHelmRepository.kind, name: found?.metadata.name ?? "" };
  const consumer = { deps: ctx.deps, run };
  const digest = artifact && (await recordedArtifact({ key, uid, artifact }, consumer));
  return openChartRepository(
    spec,
    (credentials) => async (signal) => {
      const bytes = digest && (await fetchArtifact(digest, consumer));
      if (bytes === undefined) return downloadIndex(spec, credentials, parts, signal);
      return parseIndex(bytes, Number.POSITIVE_INFINITY, signal);
    },
    parts,
    ctx,
  );
}

/** The first one by its name. */
async function repositoryOf(url: string, { home, namespace, run }: SourceContext): Promise<LiveObject | undefined> {
  const all = await home.list({ ...servedKind(declaredHelmRepository), namespace }, run.signal);
  const isOne = (live: LiveObject): boolean => {
    const parsed = HelmRepositorySpec.safeParse(live["spec"]);
    return parsed.success && normalisedUrl(parsed.data.url) === url;
  };
  return all.filter(isOne).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
