import { z } from "zod";
import type { ImageRepositorySpec } from "../../api/image-repository.ts";
import { parseDuration } from "../../core/duration.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import type { Log } from "../../core/ports/log.ts";
import { outageOf } from "../../core/ports/outage.ts";
import { type RegistryLogin, RegistryLoginError } from "../../core/ports/registry-login.ts";
import type { Run } from "../../core/ports/run.ts";
import { secretTexts } from "../../core/secret-texts.ts";
import { proxyIn } from "../../secrets/proxy.ts";
import { trustIn } from "../../secrets/trust.ts";
import type { RegistryAccess } from "../../sources/oci/authorize.ts";
import { credentialsFor, type RegistryCredentials } from "../../sources/oci/docker-config.ts";
import type { Connect, RegistryClient } from "../../sources/oci/registry-client.ts";
import type { RepositoryAddress } from "../../sources/oci/repository-url.ts";

/** All requests of a scan to a registry take at most as long as a function may live, whatever `spec.timeout` says. */
export const maxScanMs = 900_000;
const minScanMs = 1_000;

/** The inputs of an ImageRepository's login, in its own namespace. */
export interface ImageRegistryContext {
  readonly namespace: string;
  readonly home: Pick<HomeCluster, "get">;
  readonly run: Pick<Run, "key" | "signal">;
  readonly log: Log;
}

/** What the registries of all ImageRepositories share. */
export interface ImageRegistryParts {
  readonly connect: Connect;
  /** The clouds with an identity that can log in to registries. */
  readonly logins?: { readonly aws?: RegistryLogin };
}

/**
 * The registry of an ImageRepository, with the credentials, the certificates and the proxy in its Secrets. It is asked nothing yet.
 * An ImagePolicy that looks up a digest uses it too.
 *
 * @throws {Failure} `AuthenticationFailed`
 */
export async function imageRegistry(
  address: RepositoryAddress,
  spec: ImageRepositorySpec,
  { connect, logins }: ImageRegistryParts,
  ctx: ImageRegistryContext,
): Promise<RegistryClient> {
  const { host } = address;
  const { insecure = false, provider } = spec;
  const proxy = await proxyOf(spec, ctx);
  const tls = await trustOf(spec, ctx);
  const credentials = provider === "generic" ? await pullCredentials(host, spec, ctx) : undefined;
  const totalMs = Math.min(Math.ceil(Math.max(parseDuration(spec.timeout ?? spec.interval), minScanMs)), maxScanMs);
  return connect({
    ...{ host, insecure, timeoutMs: totalMs, totalMs },
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(provider === "generic" ? {} : { login: cloudLogin(address, provider, logins?.aws, ctx) }),
  });
}

/** As Flux it logs in when the registry is asked first, so that a failure is one of the scan. */
function cloudLogin(
  address: RepositoryAddress,
  provider: Exclude<ImageRepositorySpec["provider"], "generic">,
  aws: RegistryLogin | undefined,
  { namespace, run }: ImageRegistryContext,
): NonNullable<RegistryAccess["login"]> {
  return async (signal, url) => {
    try {
      if (provider === "aws" && aws !== undefined) {
        return await aws.credentials({ ...address, cluster: run.key.cluster, namespace }, signal);
      }
      throw new RegistryLoginError("not-supported", unsupportedProvider(address.host, provider));
    } catch (error) {
      if (!(error instanceof RegistryLoginError)) throw error;
      throw new RegistryLoginError(error.reason, `Get "${url}": ${error.message}`, { cause: error });
    }
  };
}

/** The registries of other clouds, by Flux's expressions, which its messages quote. */
const cloudHosts = {
  azure: { name: "Azure", expression: "^.+\\.(azurecr\\.io|azurecr\\.cn|azurecr\\.de|azurecr\\.us)$" },
  gcp: {
    name: "GCP",
    expression: "^(((.+\\.)?gcr\\.io)|(.+-docker\\.pkg\\.dev)|(docker\\.s3nsregistry\\.fr))$",
  },
} as const;

/** Why there is no login with this cloud's identity. */
export function unsupportedProvider(host: string, provider: "aws" | "azure" | "gcp"): string {
  if (provider !== "aws") {
    const { name, expression } = cloudHosts[provider];
    if (!new RegExp(expression).test(host)) return `invalid ${name} registry: '${host}'. must match ${expression}`;
  }
  return `this installation has no identity for spec.provider ${provider}: set generic, and give a secretRef`;
}

function failed(why: string, cause?: unknown): Failure {
  return new Failure("AuthenticationFailed", `failed to configure authentication options: ${why}`, { cause });
}

/** A Secret with its type. */
interface TypedSecret {
  readonly type: string;
  readonly data: ReadonlyMap<string, string>;
}

async function read(kind: "Secret" | "ServiceAccount", name: string, { home, namespace, run }: ImageRegistryContext) {
  const what = `failed to get ${kind.toLowerCase()} '${namespace}/${name}'`;
  const fault = nameFault(name);
  if (fault !== undefined) throw failed(`${what}: ${fault}`);
  return home.get({ group: "", version: "v1", kind, namespace, name }, run.signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") throw failed(`${what}: ${error.message}`, error);
    throw outageOf(error, "AuthenticationFailed", `failed to configure authentication options: ${what}`);
  });
}

async function secretOf(name: string, absent: string, ctx: ImageRegistryContext): Promise<TypedSecret> {
  const secret = await read("Secret", name, ctx);
  if (secret === undefined) throw failed(absent);
  const { type } = secret;
  return { type: typeof type === "string" ? type : "", data: secretTexts(secret) };
}

async function proxyOf({ proxySecretRef }: ImageRepositorySpec, ctx: ImageRegistryContext) {
  if (proxySecretRef === undefined) return undefined;
  const secret = `secret '${ctx.namespace}/${proxySecretRef.name}'`;
  const { data } = await secretOf(proxySecretRef.name, `${secret} not found`, ctx);
  return proxyIn(data, secret, failed);
}

async function trustOf(
  { certSecretRef }: ImageRepositorySpec,
  ctx: ImageRegistryContext,
): Promise<TlsTrust | undefined> {
  if (certSecretRef === undefined) return undefined;
  const { name } = certSecretRef;
  const { data } = await secretOf(name, `secrets "${name}" not found`, ctx);
  return trustIn(data, `secret '${ctx.namespace}/${name}'`, failed);
}

const PullSecrets = z.object({ imagePullSecrets: z.array(z.object({ name: z.string().default("") })).default([]) });

/** The key of each type of pull secret. As in Flux, a Secret of another type is ignored. */
const dockerConfigKeys: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/dockerconfigjson", ".dockerconfigjson"],
  ["kubernetes.io/dockercfg", ".dockercfg"],
]);

/** The first entry for the host: of the object's own Secret, then of those of its service account. */
async function pullCredentials(
  host: string,
  { secretRef, serviceAccountName = "" }: ImageRepositorySpec,
  ctx: ImageRegistryContext,
): Promise<RegistryCredentials | undefined> {
  const secrets: (TypedSecret & { readonly name: string })[] = [];
  if (secretRef !== undefined) {
    const { name } = secretRef;
    secrets.push({ name, ...(await secretOf(name, `secrets "${name}" not found`, ctx)) });
  }
  if (serviceAccountName !== "") {
    const account = await read("ServiceAccount", serviceAccountName, ctx);
    const subject = `serviceaccount '${ctx.namespace}/${serviceAccountName}'`;
    if (account === undefined) throw failed(`${subject} not found`);
    for (const { name } of PullSecrets.parse(account).imagePullSecrets) {
      const absent = `failed to get image pull secret for ${subject}: secret '${ctx.namespace}/${name}' not found`;
      secrets.push({ name, ...(await secretOf(name, absent, ctx)) });
    }
  }
  for (const { name, type, data } of secrets) {
    const text = data.get(dockerConfigKeys.get(type) ?? "");
    if (text === undefined) {
      // As in Flux, which does not report it. The log does, since the registry's refusal alone does not explain the reason.
      ctx.log.warn("secret has no registry credentials", { ...ctx.run.key, secret: name, type });
      continue;
    }
    try {
      const found = credentialsFor(host, text);
      if (found !== undefined) return found;
    } catch (error) {
      throw failed(`secret '${ctx.namespace}/${name}': ${messageOf(error)}`, error);
    }
  }
  return undefined;
}
