import { z } from "zod";
import type { OciRepositorySpec } from "../../api/oci-repository.ts";
import { digestOf } from "../../core/digest.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { RegistryAccess } from "../../sources/oci/authorize.ts";
import { credentialsFor, type RegistryCredentials } from "../../sources/oci/docker-config.ts";
import type { Connect, RegistryClient } from "../../sources/oci/registry-client.ts";
import type { RepositoryAddress } from "../../sources/oci/repository-url.ts";
import type { ShareListing } from "../../sources/shared-listing.ts";
import { proxyOf } from "../source/proxy.ts";
import { noCredential, secretData, tlsTrust } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";

/** All requests of a run to a registry take at most as long as a function may live, whatever `spec.timeout` says. */
export const maxRegistryTimeoutMs = 900_000;

/** The keys of an image pull secret, the present type's first. */
const dockerConfigKeys = [".dockerconfigjson", ".dockercfg"] as const;
const PullSecrets = z.object({ imagePullSecrets: z.array(z.object({ name: z.string().default("") })).default([]) });

/** The registry of a source, with the credentials and certificates in its secrets. */
export async function registryOf(
  { host, repository }: RepositoryAddress,
  spec: OciRepositorySpec,
  { connect, share, aws }: RegistryParts,
  ctx: SourceContext,
): Promise<RegistryClient> {
  const { insecure = false, timeout } = spec;
  const secrets = await pullSecrets(spec, ctx);
  const credentials = findCredentials(host, secrets, ctx);
  const proxy = await proxyOf(spec, "failed to get proxy address", ctx);
  const login = secrets.length === 0 ? cloudLogin({ host, repository }, spec, aws, ctx) : undefined;
  const tls = await trustOf(spec, ctx);
  // A timer takes whole milliseconds.
  const totalMs = Math.min(Math.ceil(parseDuration(timeout)), maxRegistryTimeoutMs);
  const access = {
    ...{ host, insecure },
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(login === undefined ? {} : { login }),
  };
  // Our own identity may pull different repositories for each namespace.
  const who = login === undefined ? [] : [ctx.run.key.cluster, ctx.namespace];
  // As JSON a Secret is the same text as every other one.
  const hidden = [credentials, proxy].map((one) => one?.password?.reveal() ?? null);
  const identity = digestOf(JSON.stringify([access, ...hidden, ...who]));
  return sharing(connect({ ...access, timeoutMs: totalMs, totalMs }), identity, share, ctx.since);
}

/** What the registries of all sources share. */
export interface RegistryParts {
  readonly connect: Connect;
  readonly share: ShareListing;
  readonly aws: RegistryLogin | undefined;
}

/** Two bytes for each of its characters, and the overhead of a text. */
function textBytes(text: string): number {
  return 2 * text.length + 32;
}

function tagBytes(tags: readonly string[]): number {
  return tags.reduce((sum, tag) => sum + textBytes(tag), 0);
}

/** The same registry, but its tags are listed once for all runs of the same identity that began before. */
function sharing(client: RegistryClient, identity: string, share: ShareListing, since: number): RegistryClient {
  return {
    ...client,
    digestOfTag(repository, tag, signal) {
      const ask = (stop: AbortSignal) => client.digestOfTag(repository, tag, stop);
      return share({ key: `tag ${identity} ${repository}:${tag}`, since, ask, bytesOf: textBytes }, signal);
    },
    tags(repository, signal) {
      const ask = (stop: AbortSignal) => client.tags(repository, stop);
      return share({ key: `tags ${identity} ${repository}`, since, ask, bytesOf: tagBytes }, signal);
    },
  };
}

/** A login with our own identity, for an object without pull secrets whose provider asks for it. */
function cloudLogin(
  address: RepositoryAddress,
  spec: OciRepositorySpec,
  aws: RegistryLogin | undefined,
  { namespace, run }: SourceContext,
): RegistryAccess["login"] {
  if (spec.provider !== "aws" || aws === undefined) return undefined;
  refuseAccount(spec);
  return (signal) => aws.credentials({ ...address, cluster: run.key.cluster, namespace }, signal);
}

/** Throws a {@link Failure} for a service account without pull secrets that stands for the identity of a cloud. */
export function refuseAccount({ provider, serviceAccountName = "" }: OciRepositorySpec): void {
  if (provider !== "aws" || serviceAccountName === "") return;
  // It names a cloud identity to log in with: ours in its place would grant more than was asked for.
  const why = `spec.serviceAccountName without pull secrets and with provider ${provider} is not supported yet`;
  throw new Failure("UnsupportedField", `${why}: remove it, or give its service account imagePullSecrets`);
}

/**
 * One flag allows plain HTTP and any certificate, as in Flux, unless a secret holds the certificates. A reference without a name is
 * ignored, as in Flux (`getTLSConfig`).
 */
async function trustOf(
  { certSecretRef, insecure, url }: OciRepositorySpec,
  ctx: SourceContext,
): Promise<TlsTrust | undefined> {
  if (certSecretRef !== undefined && certSecretRef.name !== "") return tlsTrust(url, certSecretRef.name, ctx);
  return insecure === true ? { insecure } : undefined;
}

/** A secret that may hold credentials. */
interface PullSecret {
  readonly name: string;
  readonly data: ReadonlyMap<string, string>;
}

/** The secrets that may hold credentials: the object's own, then those of its service account. */
async function pullSecrets(
  { secretRef, serviceAccountName }: OciRepositorySpec,
  ctx: SourceContext,
): Promise<readonly PullSecret[]> {
  const { home, namespace, run } = ctx;
  const found: PullSecret[] = [];
  if (secretRef !== undefined) {
    const { name } = secretRef;
    found.push(await pullSecret(name, `failed to get secret '${namespace}/${name}': secrets "${name}" not found`, ctx));
  }
  if (serviceAccountName === undefined || serviceAccountName === "") return found;
  const ref = { group: "", version: "v1", kind: "ServiceAccount", namespace, name: serviceAccountName };
  const account = await home.get(ref, run.signal);
  const subject = `serviceaccount '${namespace}/${serviceAccountName}'`;
  if (account === undefined) throw noCredential(`${subject} not found`);
  for (const { name } of PullSecrets.parse(account).imagePullSecrets) {
    if (name === "") continue;
    const absent = `failed to get image pull secret for ${subject}: secret '${namespace}/${name}' not found`;
    found.push(await pullSecret(name, absent, ctx));
  }
  return found;
}

async function pullSecret(name: string, absent: string, ctx: SourceContext): Promise<PullSecret> {
  const data = await secretData(name, ctx);
  if (data === undefined) throw noCredential(absent);
  return { name, data };
}

/** The first credentials for this host; undefined if the secrets have none: the registry may be public. */
function findCredentials(
  host: string,
  secrets: readonly PullSecret[],
  ctx: SourceContext,
): RegistryCredentials | undefined {
  for (const { name, data } of secrets) {
    const key = dockerConfigKeys.find((one) => data.has(one));
    if (key === undefined) {
      ctx.deps.log.warn("secret has no registry credentials", { ...ctx.run.key, secret: name, keys: dockerConfigKeys });
      continue;
    }
    try {
      const found = credentialsFor(host, data.get(key) ?? "");
      if (found !== undefined) return found;
    } catch (error) {
      throw noCredential(`secret '${ctx.namespace}/${name}', key '${key}': ${messageOf(error)}`, error);
    }
  }
  return undefined;
}
