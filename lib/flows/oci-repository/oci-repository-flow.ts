import { declaredOciRepository } from "../../api/kinds/oci-repository.ts";
import { OciRepositorySpec, OciRepositoryStatus, unsupportedOciRepositoryFields } from "../../api/oci-repository.ts";
import type { Artifact } from "../../api/source.ts";
import { Failure } from "../../core/failure.ts";
import type { Follows } from "../../core/follows.ts";
import type { Http } from "../../core/ports/http.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { Flow } from "../../core/ports/run.ts";
import { repositoryTopic } from "../../core/topics.ts";
import { defaultArchiveLimits } from "../../sources/archive/unpack.ts";
import { annotations, mediaTypes } from "../../sources/oci/media-types.ts";
import { pullArtifact } from "../../sources/oci/pull-artifact.ts";
import { registryClients } from "../../sources/oci/registry-client.ts";
import { parseRepositoryUrl } from "../../sources/oci/repository-url.ts";
import { resolve } from "../../sources/oci/resolve.ts";
import { sharedListings } from "../../sources/shared-listing.ts";
import type { SourceDeps } from "../source/source-context.ts";
import { sourceFlow } from "../source/source-flow.ts";
import type { SourceKind } from "../source/source-kind.ts";
import { conditionByReason } from "./condition-by-reason.ts";
import { registryOf } from "./registry.ts";
import { recordedProofs, verifyRevision } from "./verification.ts";

/** The outside services of the reconcile of an OCIRepository. */
export interface OciRepositoryDeps extends SourceDeps {
  readonly http: Http;
  /** The clouds with an identity that can log in to registries; any other `spec.provider` is refused. */
  readonly logins?: { readonly aws?: RegistryLogin };
  /** Whether links in a layer are left out, as in Flux, in place of being followed. */
  readonly skipLinks?: boolean;
}

/**
 * Refuses a spec that only a change of the object mends. Throws a {@link Failure}.
 *
 * @param clouds providers that the installation has an identity of
 */
export function checkOciRepository(spec: OciRepositorySpec, clouds: readonly "aws"[]): void {
  if (clouds.includes("aws")) refuseUnsafeLogin(spec);
  const fields = unsupportedOciRepositoryFields(spec, clouds);
  if (fields.length === 0) return;
  const message = `${fields.join(", ")} is not supported yet: remove it, or leave this OCIRepository to Flux until it is`;
  throw new Failure("UnsupportedField", message);
}

/** The reconcile of an OCIRepository. */
export function ociRepositoryFlow(deps: OciRepositoryDeps): Flow {
  return sourceFlow(ociRepositorySource(deps), deps);
}

function ociRepositorySource({
  clock,
  http,
  limits,
  logins,
  skipLinks = false,
}: OciRepositoryDeps): SourceKind<OciRepositorySpec> {
  const parts = { connect: registryClients(http, clock), share: sharedListings(clock), aws: logins?.aws };
  return {
    declared: declaredOciRepository,
    spec: OciRepositorySpec,
    status: OciRepositoryStatus,
    latest: "latest.tar.gz",
    conditionByReason,
    recordedBeside: recordedProofs,
    check: (spec) => checkOciRepository(spec, logins?.aws === undefined ? [] : ["aws"]),
    topics: (spec) => {
      const { host, repository } = parseRepositoryUrl(spec.url);
      const topic = repositoryTopic(host, repository);
      // A signature is pushed after the artifact, with or without a tag of its own.
      return [spec.verify === undefined ? { topic, follows: followedTags(spec) } : topic];
    },
    resolve: async (spec, ctx) => {
      const address = parseRepositoryUrl(spec.url);
      const registry = await registryOf(address, spec, parts, ctx);
      const { revision, reference, digest } = await resolve(spec, address, registry, ctx.run.signal);
      const outdated = `new revision '${revision}' for '${reference}'`;
      const signed = `${address.host}/${address.repository}@${digest}`;
      const artifact = { repository: address.repository, digest, reference: signed, registry };
      await verifyRevision(spec, { revision, artifact, outdated }, ctx);
      const archiveLimits = { ...(limits ?? defaultArchiveLimits), skipLinks };
      return {
        revision,
        file: `${digest}.tar.gz`,
        observed: { observedIgnore: spec.ignore, observedLayerSelector: spec.layerSelector },
        messages: {
          outdated,
          stored: `stored artifact for digest '${revision}'`,
          event: (artifact) =>
            `stored artifact with revision '${artifact.revision}' from '${spec.url}'${origin(artifact)}`,
        },
        // Our own identity is for ECR registries only: their events reach the functions.
        isAnnounced: spec.provider === "aws",
        pull: async (announce) => {
          await announce();
          return pullArtifact(spec, address.repository, digest, registry, archiveLimits, ctx.run.signal);
        },
      };
    },
  };
}

/** The part of the repository that `spec.ref` selects, with the precedence of its resolution (reference 3.3). */
function followedTags({ layerSelector, ref = {} }: OciRepositorySpec): Follows {
  const { digest = "", semver = "", semverFilter = "", tag = "" } = ref;
  if (digest !== "") return { kind: "digest", digest };
  if (semver === "") return { kind: "names", names: [tag === "" ? "latest" : tag] };
  return {
    kind: "range",
    semver,
    ...(semverFilter === "" ? {} : { filter: semverFilter }),
    ...(layerSelector?.mediaType === mediaTypes.helmChart ? { isChart: true } : {}),
  };
}

/** With our own identity, the way to the registry has to be protected by TLS as the system trusts it. */
function refuseUnsafeLogin({ provider, secretRef, serviceAccountName = "", ...spec }: OciRepositorySpec): void {
  if (provider !== "aws" || secretRef !== undefined || serviceAccountName !== "") return;
  const unsafe = [
    ...(spec.insecure === true ? ["spec.insecure"] : []),
    ...((spec.certSecretRef?.name ?? "") === "" ? [] : ["spec.certSecretRef"]),
    ...(spec.proxySecretRef === undefined ? [] : ["spec.proxySecretRef"]),
  ];
  const [field] = unsafe;
  if (field === undefined) return;
  const why = "cannot be set with provider aws, whose token is for the registry alone";
  throw new Failure("InvalidProviderConfiguration", `${field} ${why}: remove it, or log in with a secretRef`);
}

/** The origin of the content, if the artifact names both source and revision. */
function origin({ metadata = {} }: Artifact): string {
  const { [annotations.source]: source = "", [annotations.revision]: revision = "" } = metadata;
  return source === "" || revision === "" ? "" : `, origin source '${source}', origin revision '${revision}'`;
}
