import type { OciRepositorySpec } from "../../api/oci-repository.ts";
import { cutText } from "../../core/cut-text.ts";
import { Failure } from "../../core/failure.ts";
import { mediaTypes } from "./media-types.ts";
import { maxTagLength, type RegistryClient } from "./registry-client.ts";
import { failureOf } from "./registry-fault.ts";
import { inRegistryWords } from "./registry-words.ts";
import type { RepositoryAddress } from "./repository-url.ts";

/** The current target of an OCIRepository's `spec.ref`. */
export interface Resolved {
  /** `<tag>@sha256:…`, or only the digest if the spec gives one. */
  readonly revision: string;
  /** `host/repository:tag`, as messages name it. */
  readonly reference: string;
  /** The digest of the manifest or index; all later requests use it. */
  readonly digest: string;
}

const sha256Digits = 64;
const maxQuotedBytes = 200;

/** What Flux's registry library says of a text that is not a digest. */
function digestFault(text: string): string | undefined {
  const [, algorithm = "", body = ""] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (body === "") return `cannot parse hash: ${JSON.stringify(cutText(text, maxQuotedBytes))}`;
  const [other] = /[^0-9a-f]/u.exec(body) ?? [];
  if (other !== undefined) return `found non-hex character in hash: ${other}`;
  if (algorithm !== "sha256") return `unsupported hash: ${JSON.stringify(cutText(algorithm, maxQuotedBytes))}`;
  if (body.length === sha256Digits) return undefined;
  return `wrong number of hex digits for sha256: ${cutText(body, maxQuotedBytes)}`;
}

/**
 * Resolves `spec.ref`: digest before semver before tag before `latest` (reference 3.3). A digest is used without a request to
 * the registry. Throws a {@link Failure} with Flux's reason and text.
 */
export async function resolve(
  spec: Pick<OciRepositorySpec, "layerSelector" | "ref" | "url">,
  { host, repository }: RepositoryAddress,
  registry: RegistryClient,
  signal: AbortSignal,
): Promise<Resolved> {
  const { digest, semver, semverFilter, tag = "" } = spec.ref ?? {};
  if (digest !== undefined && digest !== "") {
    const fault = digestFault(digest);
    if (fault !== undefined) {
      throw new Failure("OCIArtifactPullFailed", `failed to determine artifact digest: ${fault}`);
    }
    return { revision: digest, reference: `${host}/${repository}@${digest}`, digest };
  }
  if (tag.length > maxTagLength) {
    const why = `'${cutText(tag, maxTagLength)}' is not a valid tag, which has at most ${maxTagLength} characters`;
    throw new Failure("ReadOperationFailed", `failed to determine the artifact tag for '${spec.url}': ${why}`);
  }
  let chosen = tag === "" ? "latest" : tag;
  if (semver !== undefined && semver !== "") {
    const isChart = spec.layerSelector?.mediaType === mediaTypes.helmChart;
    try {
      const tags = await registry.tags(repository, signal);
      // With a matcher of regular expressions that is a tenth of what a function would load at its start.
      const { chooseTag } = await import("./choose-tag.ts");
      chosen = await chooseTag(tags, { semver, filter: semverFilter, isChart }, signal);
    } catch (error) {
      const text = `failed to determine the artifact tag for '${spec.url}': ${inRegistryWords(error, host)}`;
      throw error instanceof RangeError
        ? new Failure("ReadOperationFailed", text, { cause: error })
        : failureOf("ReadOperationFailed", text, error, signal);
    }
  }
  try {
    const found = await registry.digestOfTag(repository, chosen, signal);
    return { revision: `${chosen}@${found}`, reference: `${host}/${repository}:${chosen}`, digest: found };
  } catch (error) {
    const text = `failed to determine artifact digest: ${inRegistryWords(error, host)}`;
    throw failureOf("OCIArtifactPullFailed", text, error, signal);
  }
}
