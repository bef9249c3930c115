import { z } from "zod";
import { HttpError } from "../../core/ports/http.ts";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { maxChartBytes } from "../../sources/helm/chart-archive.ts";
import { chooseTag, isOneTag } from "../../sources/helm/choose-chart.ts";
import { RepositoryFault, repositoryFault } from "../../sources/helm/repository-fault.ts";
import { mediaTypes } from "../../sources/oci/media-types.ts";
import type { RegistryClient } from "../../sources/oci/registry-client.ts";
import { jsonOf, RegistryFault } from "../../sources/oci/registry-fault.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { orasConnectionWords, orasWithoutLogin, orasWords } from "./oras-words.ts";

const maxLayers = 100;
const Layers = z.object({
  layers: z
    .array(z.object({ mediaType: z.string(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), size: z.number() }))
    .max(maxLayers),
});

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
    async signed({ name, urls, version }, signal) {
      const [shown = ""] = urls;
      const registry = registryOf(place(name));
      const ask = () => registry.digestOfTag(place(name), tagOf(version), signal);
      const digest = await about(`failed to get '${shown}'`, ask, charts);
      return { repository: place(name), digest, reference: `${host}/${place(name)}@${digest}`, registry };
    },
    async download({ digest, name, urls, version }, signal) {
      const [shown = ""] = urls;
      const wanted = digest ?? tagOf(version);
      const pull = async (): Promise<Uint8Array> => {
        const registry = registryOf(place(name));
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
        return registry.blob(place(name), layer.digest, maxChartBytes, signal);
      };
      const path = `/v2/${place(name)}/manifests/${wanted}`;
      const pulled = `${host}/${place(name)}:${tagOf(version)}`;
      return about(`failed to get '${shown}'`, pull, { ...charts, path, pulled });
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

interface Asked extends Pick<OciCharts, "hasCredentials"> {
  /** The path of the request that Helm begins with: `/v2/app/tags/list`. */
  readonly path?: string;
  /** The chart that is pulled: `host/app:1.0.0`. */
  readonly pulled?: string;
}

function faultOf(error: unknown, what: string, asked: Asked): unknown {
  if (error instanceof RegistryFault) {
    const isRefused = error.reason === "unauthorized";
    const reason = isRefused && asked.hasCredentials ? "unauthorized" : "external";
    return new RepositoryFault(reason, `${what}${inWordsOfOras(error, asked)}`, { cause: error });
  }
  if (error instanceof RegistryLoginError)
    return new RepositoryFault("external", `${what}${error.message}`, { cause: error });
  if (!(error instanceof HttpError)) return repositoryFault(error, what);
  const why = orasConnectionWords(error, asked.path);
  const said = why !== undefined && asked.pulled !== undefined ? fetching(why) : (why ?? error.message);
  return repositoryFault(new HttpError(error.reason, said, { cause: error }), what);
}

function fetching(why: string): string {
  return `failed to perform "FetchReference" on source: ${why}`;
}

function inWordsOfOras(fault: RegistryFault, { hasCredentials, pulled }: Asked): string {
  const isAnonymous = fault.reason === "unauthorized" && !hasCredentials;
  const why = isAnonymous ? orasWithoutLogin(fault) : orasWords(fault);
  if (pulled === undefined || !fault.message.includes("/manifests/")) return why;
  return fetching(fault.status === 404 ? `${pulled}: not found` : why);
}
