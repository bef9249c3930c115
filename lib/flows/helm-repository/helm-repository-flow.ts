import { HelmRepositorySpec, HelmRepositoryStatus } from "../../api/helm-repository.ts";
import { declaredHelmRepository } from "../../api/kinds/helm-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import type { Http } from "../../core/ports/http.ts";
import type { Flow } from "../../core/ports/run.ts";
import { readIndex } from "../../sources/helm/chart-index.ts";
import { defaultIndexLimits, type IndexLimits } from "../../sources/helm/index-limits.ts";
import type { SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { Pulled, SourceKind } from "../source/source-kind.ts";
import { checkRepositoryUrl, shownUrl } from "./check-url.ts";
import { helmCredentials } from "./credentials.ts";
import { fetchIndex } from "./fetch-index.ts";

/** The outside services of the reconcile of a HelmRepository. */
export interface HelmRepositoryDeps extends SourceDeps {
  readonly http: Pick<Http, "send">;
  /** Bytes of an index: Flux's flag `helm-index-max-size`. */
  readonly helmIndexMaxBytes?: number;
}

/** The reconcile of a HelmRepository. */
export function helmRepositoryFlow(deps: HelmRepositoryDeps): Flow {
  return sourceFlow(helmRepositorySource(deps), deps);
}

function helmRepositorySource({ helmIndexMaxBytes, http }: HelmRepositoryDeps): SourceKind<HelmRepositorySpec> {
  const limits = { ...defaultIndexLimits, maxBytes: helmIndexMaxBytes ?? defaultIndexLimits.maxBytes };
  return {
    declared: declaredHelmRepository,
    spec: HelmRepositorySpec,
    status: HelmRepositoryStatus,
    latest: "index.yaml",
    check: ({ url }) => checkRepositoryUrl(url),
    topics: () => [],
    resolve: async (spec, ctx) => {
      const { signal } = ctx.run;
      const fetched = await fetchIndex(
        spec,
        {
          http,
          credentials: await helmCredentials(spec, ctx),
          maxBytes: limits.maxBytes,
          stored: ctx.status().artifact?.revision,
          carried: ctx.run.carried,
        },
        signal,
      );
      const { bytes, revision, validators } = fetched;
      return {
        revision,
        file: `index-${revision.slice("sha256:".length)}.yaml`,
        observed: {},
        messages: {
          outdated: `new index revision '${revision}'`,
          stored: `stored artifact: revision '${revision}'`,
          event: ({ size }) =>
            `stored fetched index of ${size === undefined ? "unknown size" : `size ${humanSize(size)}`} from '${shownUrl(spec.url)}'`,
        },
        isAnnounced: false,
        ...(validators === undefined ? {} : { carried: { index: { ...validators } } }),
        pull: async (announce) => {
          if (bytes === undefined) throw new Error("an index that is stored is pulled again");
          const pulled = await pull(bytes, limits, signal);
          await announce();
          return pulled;
        },
      };
    },
  };
}

async function pull(bytes: Uint8Array, limits: IndexLimits, signal: AbortSignal): Promise<Pulled> {
  const { json } = await readIndex(bytes, limits, signal).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    const message = `failed to load Helm repository from index YAML: failed to load index: ${error.message}`;
    throw new Failure("IndexationFailed", message, { cause: error });
  });
  return { bytes: json, digest: digestOf(json), metadata: {}, links: [] };
}

const units = ["B", "kB", "MB", "GB"];

/** A number of bytes as Flux prints it in events: four digits at most, in units of 1000. */
function humanSize(bytes: number): string {
  const exponent = units.findIndex((_unit, index) => bytes < 1_000 ** (index + 1));
  const index = exponent === -1 ? units.length - 1 : exponent;
  return `${Number((bytes / 1_000 ** index).toPrecision(4))}${units[index]}`;
}
