import { z } from "zod";
import { HttpError } from "../../core/ports/http.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { maxChartBytes } from "../../sources/helm/chart-archive.ts";
import { chooseTag, isOneTag } from "../../sources/helm/choose-chart.ts";
import { RepositoryFault, repositoryFault } from "../../sources/helm/repository-fault.ts";
import { mediaTypes } from "../../sources/oci/media-types.ts";
import type { RegistryClient } from "../../sources/oci/registry-client.ts";
import { jsonOf, RegistryFault } from "../../sources/oci/registry-fault.ts";
import { inRegistryWords } from "../../sources/oci/registry-words.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { type OrasStep, orasConnectionWords, orasWords } from "./oras-words.ts";

const maxLayers = 100;
const Layer = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number(),
});
const Layers = z.object({ layers: z.array(Layer).max(maxLayers) });

/** Where the charts of a repository lie in a registry: each in a repository of its own, below this one. */
export interface OciCharts {
  /** `oci://…`, as users see it. */
  readonly url: string;
  readonly host: string;
  /** The path in the registry; empty for its root. */
  readonly repository: string;
  /** The registry for one of its repositories: the login may be for that alone. */
  readonly registryOf: (repository: string) => RegistryClient;
  /** Whether requests to the registry have credentials. */
  readonly hasCredentials: boolean;
}

/**
 * The charts of an OCI registry (reference sources 7.3). A whole version is the tag, without a look at the tags. A tag has `_` for the
 * `+` of a version. A chart with a digest is pulled by that, whatever its tag is now.
 */
export function ociCharts(charts: OciCharts): ChartRepository {
  const { host, registryOf, repository, url } = charts;
  const place = (name: string) => (repository === "" ? name : `${repository}/${name}`);
  return {
    async choose(name, version, signal) {
      if (isOneTag(version)) return { name, version, urls: [`${url}/${name}:${version}`] };
      const tags = await tagsOf(name, signal);
      const found = await chooseTag(tags, version, signal).catch((error: unknown) => {
        throw repositoryFault(error);
      });
      return { name, version: found, urls: [`${url}/${name}:${found}`] };
    },
    async signed({ name, version }, signal) {
      const registry = registryOf(place(name));
      const ask = () => registry.digestOfTag(place(name), tagOf(version), signal);
      const digest = await ask().catch((error: unknown) => {
        throw unsigned(error, host);
      });
      return { repository: place(name), digest, reference: `${host}/${place(name)}@${digest}`, registry };
    },
    async download({ digest, name, urls, version }, signal) {
      const [shown = ""] = urls;
      const registry = registryOf(place(name));
      const failed = `failed to get '${shown}'`;
      const wanted = digest ?? tagOf(version);
      const pull = async (): Promise<z.infer<typeof Layer>> => {
        const { bytes } = await registry.manifest(place(name), wanted, signal);
        const layer = Layers.safeParse(jsonOf(bytes)).data?.layers.find(
          (one) => one.mediaType === mediaTypes.helmChart,
        );
        if (layer === undefined) {
          throw new RangeError(`manifest does not contain a layer with mediatype ${mediaTypes.helmChart}`);
        }
        if (layer.size > maxChartBytes) {
          throw new RangeError(`size of chart '${name}' exceeds '${maxChartBytes}' bytes limit`);
        }
        return layer;
      };
      const pulled = `${host}/${place(name)}:${tagOf(version)}`;
      const layer = await about(failed, pull, {
        ...charts,
        path: `/v2/${place(name)}/manifests/${wanted}`,
        copy: { operation: "FetchReference", what: pulled },
      });
      return about(failed, () => registry.blob(place(name), layer.digest, maxChartBytes, signal), {
        ...charts,
        path: `/v2/${place(name)}/blobs/${layer.digest}`,
        copy: { operation: "Fetch", what: layer.digest },
      });
    },
  };

  async function tagsOf(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const what = `could not get tags for ${JSON.stringify(name)}`;
    const fetched = `${what}: could not fetch tags for "${url}/${name}"`;
    const tags = await about(fetched, () => registryOf(place(name)).tags(place(name), signal), {
      ...charts,
      path: `/v2/${place(name)}/tags/list`,
    });
    if (tags.length > 0) return tags;
    throw new RepositoryFault("external", `${what}: unable to locate any tags in provided repository: ${url}/${name}`);
  }
}

function tagOf(version: string): string {
  return version.replaceAll("+", "_");
}

/** The attempted step, before the text of a fault. */
async function about<Result>(what: string, work: () => Promise<Result>, asked: Asked): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw faultOf(error, `${what}: `, asked);
  }
}

type Asked = OrasStep & Pick<OciCharts, "hasCredentials" | "host">;

function faultOf(error: unknown, what: string, asked: Asked): unknown {
  const { hasCredentials, host } = asked;
  if (error instanceof RegistryFault) {
    const isRefused = error.reason === "unauthorized";
    const reason = isRefused && hasCredentials ? "unauthorized" : "external";
    const why = orasWords(error.refusal, asked, hasCredentials);
    return new RepositoryFault(reason, `${what}${why}`, { cause: error });
  }
  if (error instanceof RegistryLoginError)
    return new RepositoryFault("external", `${what}${error.message}`, { cause: error });
  if (!(error instanceof HttpError)) return repositoryFault(error, what);
  const why = orasConnectionWords(error, asked, host);
  return repositoryFault(new HttpError(error.reason, why, { cause: error }), what);
}

/** Flux verifies with go-containerregistry, so the digest of a chart that is not found is reported in its words. */
function unsigned(error: unknown, host: string): unknown {
  if (error instanceof RegistryFault || error instanceof RegistryLoginError)
    return new RepositoryFault("external", error.message, { cause: error });
  if (!(error instanceof HttpError)) return repositoryFault(error);
  return repositoryFault(new HttpError(error.reason, inRegistryWords(error, host), { cause: error }));
}
