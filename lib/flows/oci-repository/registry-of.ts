import type { OciRepositorySpec } from "../../api/oci-repository-spec.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { credentialsFor, type RegistryCredentials } from "../../sources/oci/docker-config.ts";
import { type Connect, type RegistryClient } from "../../sources/oci/registry-client.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** The keys of an image pull secret, the present type's first. */
const dockerConfigKeys = [".dockerconfigjson", ".dockercfg"] as const;

/** The registry of a source, with the credentials that its secret holds for it. */
export async function registryOf(
  host: string,
  { insecure = false, secretRef, timeout }: OciRepositorySpec,
  connect: Connect,
  of: SubjectOfRun,
): Promise<RegistryClient> {
  const credentials = secretRef === undefined ? undefined : await readCredentials(host, secretRef.name, of);
  return connect({
    host,
    insecure,
    timeoutMs: parseDuration(timeout),
    // One flag for both, as in Flux: plain HTTP is allowed, and no certificate is checked.
    ...(insecure ? { tls: { insecure } } : {}),
    ...(credentials === undefined ? {} : { credentials }),
  });
}

async function readCredentials(
  host: string,
  name: string,
  { cluster, deps, namespace, run }: SubjectOfRun,
): Promise<RegistryCredentials | undefined> {
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `failed to get credential: ${why}`, { cause });
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name };
  const secret = await cluster.get(ref, run.signal);
  if (secret === undefined) {
    throw failed(`failed to get secret '${namespace}/${name}': secrets "${name}" not found`);
  }
  const data = secret["data"];
  for (const key of dockerConfigKeys) {
    const encoded: unknown = typeof data === "object" && data !== null ? Reflect.get(data, key) : undefined;
    if (typeof encoded !== "string") continue;
    try {
      return credentialsFor(host, Buffer.from(encoded, "base64").toString());
    } catch (error) {
      throw failed(`secret '${namespace}/${name}', key '${key}': ${messageOf(error)}`, error);
    }
  }
  deps.log.warn("secret has no registry credentials", { ...run.key, secret: name, keys: dockerConfigKeys });
  return undefined;
}
