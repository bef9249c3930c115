import { z } from "zod";
import type { OciRepositorySpec } from "../../api/oci-repository-spec.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { credentialsFor, type RegistryCredentials } from "../../sources/oci/docker-config.ts";
import type { RegistryAccess } from "../../sources/oci/registry-access.ts";
import type { Connect, RegistryClient } from "../../sources/oci/registry-client.ts";
import type { RepositoryAddress } from "../../sources/oci/repository-url.ts";
import { noCredential, secretData } from "./secret-data.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";
import { tlsTrust } from "./tls-trust.ts";

/** What a run asks of a registry takes no longer than a function may live, whatever `spec.timeout` says. */
export const maxRegistryTimeoutMs = 900_000;

/** The keys of an image pull secret, the present type's first. */
const dockerConfigKeys = [".dockerconfigjson", ".dockercfg"] as const;
const PullSecrets = z.object({ imagePullSecrets: z.array(z.object({ name: z.string().default("") })).default([]) });

/** The registry of a source, with the credentials and the trust that its secrets hold for it. */
export async function registryOf(
  { host, repository }: RepositoryAddress,
  spec: OciRepositorySpec,
  connect: Connect,
  of: SubjectOfRun,
): Promise<RegistryClient> {
  const { insecure = false, timeout } = spec;
  const secrets = await pullSecrets(spec, of);
  const credentials = await findCredentials(host, secrets, of);
  const login = secrets.length === 0 ? cloudLogin({ host, repository }, spec, of) : undefined;
  const tls = await trustOf(spec, of);
  // A timer takes whole milliseconds.
  const totalMs = Math.min(Math.ceil(parseDuration(timeout)), maxRegistryTimeoutMs);
  return connect({
    host,
    insecure,
    timeoutMs: totalMs,
    totalMs,
    ...(tls === undefined ? {} : { tls }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(login === undefined ? {} : { login }),
  });
}

/** Our own identity's login, for an object without pull secrets that asks for it by its provider. */
function cloudLogin(
  address: RepositoryAddress,
  { provider, serviceAccountName }: OciRepositorySpec,
  { deps, namespace }: SubjectOfRun,
): RegistryAccess["login"] {
  const aws = deps.logins?.aws;
  if (provider !== "aws" || aws === undefined) return undefined;
  if (serviceAccountName !== undefined && serviceAccountName !== "") {
    // With a cloud it names who is to log in; our own identity in its place would be more than was asked for.
    const why = `spec.serviceAccountName without pull secrets and with provider ${provider} is not supported yet`;
    throw new Failure("UnsupportedField", `${why}: remove it, or give its service account imagePullSecrets`);
  }
  return (signal) => aws.credentials({ ...address, namespace }, signal);
}

/**
 * One flag allows plain HTTP and any certificate, as in Flux, unless a secret says which certificates. A reference without a
 * name counts as none, as in Flux (`getTLSConfig`).
 */
async function trustOf(
  { certSecretRef, insecure, url }: OciRepositorySpec,
  of: SubjectOfRun,
): Promise<TlsTrust | undefined> {
  if (certSecretRef !== undefined && certSecretRef.name !== "") return tlsTrust(url, certSecretRef.name, of);
  return insecure === true ? { insecure } : undefined;
}

/** The names of the secrets that may hold credentials, the object's own before its service account's. */
async function pullSecrets(
  { secretRef, serviceAccountName }: OciRepositorySpec,
  { cluster, namespace, run }: SubjectOfRun,
): Promise<readonly string[]> {
  const own = secretRef === undefined ? [] : [secretRef.name];
  if (serviceAccountName === undefined || serviceAccountName === "") return own;
  const ref = { group: "", version: "v1", kind: "ServiceAccount", namespace, name: serviceAccountName };
  const account = await cluster.get(ref, run.signal);
  if (account === undefined) throw noCredential(`serviceaccount '${namespace}/${serviceAccountName}' not found`);
  const { imagePullSecrets } = PullSecrets.parse(account);
  return [...own, ...imagePullSecrets.flatMap(({ name }) => (name === "" ? [] : [name]))];
}

/** The first credentials for this host; none is for a registry that lets everybody in. */
async function findCredentials(
  host: string,
  names: readonly string[],
  of: SubjectOfRun,
): Promise<RegistryCredentials | undefined> {
  for (const name of names) {
    const secret = `secret '${of.namespace}/${name}'`;
    const data = await secretData(name, of);
    if (data === undefined) throw noCredential(`failed to get ${secret}: secrets "${name}" not found`);
    const key = dockerConfigKeys.find((one) => data.has(one));
    if (key === undefined) {
      of.deps.log.warn("secret has no registry credentials", { ...of.run.key, secret: name, keys: dockerConfigKeys });
      continue;
    }
    try {
      const found = credentialsFor(host, data.get(key) ?? "");
      if (found !== undefined) return found;
    } catch (error) {
      throw noCredential(`${secret}, key '${key}': ${messageOf(error)}`, error);
    }
  }
  return undefined;
}
