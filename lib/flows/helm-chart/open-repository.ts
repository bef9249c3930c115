import type { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure } from "../../core/failure.ts";
import type { Http } from "../../core/ports/http.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { RegistryAccess } from "../../sources/oci/authorize.ts";
import { credentialsFor, type RegistryCredentials } from "../../sources/oci/docker-config.ts";
import type { Connect } from "../../sources/oci/registry-client.ts";
import { parseRepositoryUrl, type RepositoryAddress } from "../../sources/oci/repository-url.ts";
import { checkRepositoryUrl } from "../helm-repository/check-url.ts";
import { type HelmCredentials, helmCredentials } from "../helm-repository/credentials.ts";
import { maxRegistryTimeoutMs } from "../oci-repository/registry.ts";
import { secretData } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { type ChartServer, httpCharts } from "./http-charts.ts";
import { ociCharts } from "./oci-charts.ts";

/** The clients for chart repositories. */
export interface RepositoryParts {
  readonly http: Pick<Http, "send">;
  readonly connect: Connect;
  /** Our own identity, for a repository whose provider asks for it. */
  readonly aws: RegistryLogin | undefined;
}

const defaultTimeout = "1m";
const dockerConfigKey = ".dockerconfigjson";

/**
 * The repository of a HelmRepository, with the credentials in its Secrets, which are read in the namespace of the run. Throws a
 * `Failure` with Flux's text (reference sources 7.3).
 *
 * @param index of a repository over http
 */
export async function openChartRepository(
  spec: HelmRepositorySpec,
  index: (credentials: HelmCredentials) => ChartServer["index"],
  parts: RepositoryParts,
  ctx: SourceContext,
): Promise<ChartRepository> {
  const credentials = await helmCredentials(spec, ctx);
  if (spec.type !== "oci" && !spec.url.startsWith("oci://")) {
    // It may still have the index of an earlier URL.
    checkRepositoryUrl(spec.url);
    return httpCharts({ repository: spec, credentials, http: parts.http, index: index(credentials) });
  }
  const url = spec.url.replace(/\/+$/, "");
  const { host, repository } = ociAddress(url);
  const accessTo = await registryAccess(spec, host, credentials, parts, ctx);
  const { credentials: known, login } = accessTo(repository);
  const hasCredentials = known !== undefined || login !== undefined;
  return ociCharts({ url, host, repository, registryOf: (each) => parts.connect(accessTo(each)), hasCredentials });
}

function ociAddress(url: string): RepositoryAddress {
  const invalid = (cause?: unknown) =>
    new Failure("Failed", `failed to construct Helm client: invalid OCI registry URL: ${url}`, {
      cause,
      retry: "never",
    });
  if (!url.startsWith("oci://")) throw invalid();
  const [, host = "", path] = /^oci:\/\/([^/]+)(?:\/(.*))?$/.exec(url) ?? [];
  // Charts may lie at the root of a registry.
  if (path === undefined || path === "") return { host, repository: "" };
  try {
    return parseRepositoryUrl(url);
  } catch (error) {
    throw invalid(error);
  }
}

async function registryAccess(
  spec: HelmRepositorySpec,
  host: string,
  { password, tls, username }: HelmCredentials,
  { aws }: RepositoryParts,
  ctx: SourceContext,
): Promise<(repository: string) => RegistryAccess> {
  const timeoutMs = Math.min(Math.ceil(parseDuration(spec.timeout ?? defaultTimeout)), maxRegistryTimeoutMs);
  const basic = username === undefined || password === undefined ? undefined : { username, password };
  const credentials = (await ofDockerConfig(spec, host, ctx)) ?? basic;
  const isLent = credentials === undefined && spec.secretRef === undefined && spec.provider === "aws";
  refuseLogin(spec, aws === undefined ? [] : ["aws"]);
  const { namespace, run } = ctx;
  const access = {
    ...{ host, insecure: spec.insecure === true, timeoutMs, totalMs: timeoutMs },
    ...(tls === undefined ? {} : { tls }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  if (!isLent || aws === undefined) return () => access;
  return (repository) => ({
    ...access,
    login: (signal) => aws.credentials({ host, repository, cluster: run.key.cluster, namespace }, signal),
  });
}

/**
 * Throws a {@link Failure} for a registry without a Secret to which Sluice cannot log in.
 *
 * @param clouds providers for which the installation has an identity
 */
export function refuseLogin(spec: HelmRepositorySpec, clouds: readonly "aws"[]): void {
  const { certSecretRef, insecure, provider, secretRef } = spec;
  if (provider === "generic" || secretRef !== undefined) return;
  if (provider !== "aws" || !clouds.includes(provider)) {
    const why = `failed to get credential from '${provider}': Sluice has no identity of it here`;
    throw new Failure("AuthenticationFailed", `${why}: log in with a secretRef`);
  }
  if (insecure !== true && certSecretRef === undefined) return;
  const field = insecure === true ? "spec.insecure" : "spec.certSecretRef";
  const why = "cannot be set with provider aws, whose token is for the registry alone";
  throw new Failure(
    "InvalidProviderConfiguration",
    `${field} of the HelmRepository ${why}: remove it, or log in with a secretRef`,
  );
}

async function ofDockerConfig(
  { secretRef }: HelmRepositorySpec,
  host: string,
  ctx: SourceContext,
): Promise<RegistryCredentials | undefined> {
  if (secretRef === undefined) return undefined;
  const data = await secretData(secretRef.name, ctx);
  const text = data?.get(dockerConfigKey);
  if (text === undefined) return undefined;
  const failed = (why: string, cause?: unknown) =>
    new Failure("AuthenticationFailed", `failed to configure OCI registry authentication: ${why}`, { cause });
  let found: RegistryCredentials | undefined;
  try {
    found = credentialsFor(host, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw failed(`unable to load Docker config from Secret '${secretRef.name}': ${error.message}`, error);
  }
  if (found !== undefined) return found;
  throw failed(`no auth config for '${host}' in the docker-registry Secret '${secretRef.name}'`);
}
