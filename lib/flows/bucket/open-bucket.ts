import type { BucketSpec } from "../../api/bucket.ts";
import { Failure } from "../../core/failure.ts";
import { type BucketLogin, BucketLoginError } from "../../core/ports/bucket-login.ts";
import type { Http, TlsTrust } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { Way } from "../../sources/bucket/bounded-requests.ts";
import { BucketFault, type ObjectStore } from "../../sources/bucket/object-store.ts";
import type { Phase } from "../../sources/bucket/phase.ts";
import { bucketNameFault, endpointFault, endpointHost } from "../../sources/bucket/s3-endpoint.ts";
import type { S3Credentials } from "../../sources/bucket/sign-request.ts";
import { proxyOf } from "../source/proxy.ts";
import { tlsTrust } from "../source/secrets.ts";
import type { SourceContext } from "../source/source-context.ts";
import { invalidSecret, readSecret, type SecretData } from "./bucket-secrets.ts";

/** What opens buckets. */
export interface BucketParts {
  readonly http: Http;
  /** The clouds with an identity that can log in to buckets; any other `spec.provider` needs a secret. */
  readonly logins: { readonly aws?: BucketLogin };
}

/**
 * The bucket of a spec, with the credentials and certificates in its Secrets, which are read again for each run (reference sources
 * 8.2). Throws a {@link Failure} in Flux's words.
 */
export async function openBucket(
  spec: BucketSpec,
  parts: BucketParts,
  phase: Phase,
  ctx: SourceContext,
): Promise<ObjectStore> {
  const secret = spec.secretRef === undefined ? undefined : await readSecret("secret", spec.secretRef.name, ctx);
  const proxy = await proxyOf(spec, "failed to get proxy URL", ctx);
  const way: Way = { http: parts.http, proxy };
  switch (spec.provider) {
    case "gcp": {
      const { openGoogleBucket } = await import("./google-bucket.ts");
      return openGoogleBucket(spec, secret, way, ctx);
    }
    case "azure": {
      const { openAzureContainer } = await import("./azure-container.ts");
      return openAzureContainer(spec, secret, way, ctx);
    }
    case "aws":
    case "generic":
      return openS3Bucket(spec, { secret, way, login: parts.logins.aws }, phase, ctx);
  }
}

interface S3Access {
  readonly secret: SecretData | undefined;
  readonly way: Way;
  readonly login: BucketLogin | undefined;
}

async function openS3Bucket(
  spec: BucketSpec,
  access: S3Access,
  phase: Phase,
  ctx: SourceContext,
): Promise<ObjectStore> {
  const { bucketName: bucket, insecure = false } = spec;
  const tls = insecure ? undefined : await trustOf(spec, spec.endpoint, "failed to get TLS config", ctx);
  const own = access.secret && keysIn(access.secret, spec);
  const endpoint = checkAddress(spec);
  const found = own ?? (await s3Credentials(spec, access, phase, ctx));
  const region = nonEmpty(spec.region) ?? found.region;
  const { s3Store } = await import("../../sources/bucket/s3-store.ts");
  const { credentials } = found;
  const isForAmazonOnly = spec.provider === "aws" && access.secret === undefined;
  const { clock } = ctx.deps;
  return s3Store({ ...access.way, tls, endpoint, insecure, bucket, region, credentials, isForAmazonOnly, clock });
}

async function trustOf(
  { certSecretRef }: { readonly certSecretRef?: { readonly name: string } },
  url: string,
  what: string,
  ctx: SourceContext,
): Promise<TlsTrust | undefined> {
  return certSecretRef === undefined ? undefined : tlsTrust(url, certSecretRef.name, ctx, what);
}

interface Found {
  readonly credentials: S3Credentials | undefined;
  /** Where `spec.region` does not say it. */
  readonly region?: string;
}

/** The endpoint, checked before anybody is asked for a login (minio-go: `NewClient`, then the name with the first request). */
function checkAddress({ bucketName: bucket, endpoint }: BucketSpec): string {
  const host = endpointHost(endpoint);
  const fault = endpointFault(host);
  if (fault !== undefined) throw new Failure("AuthenticationFailed", fault);
  const nameFault = bucketNameFault(bucket);
  if (nameFault === undefined) return host;
  throw new Failure("BucketOperationFailed", `failed to confirm existence of '${bucket}' bucket: ${nameFault}`);
}

function keysIn(secret: SecretData, { secretRef }: BucketSpec): Found {
  const [accessKeyId = "", secretAccessKey = ""] = [secret.get("accesskey"), secret.get("secretkey")];
  if (accessKeyId === "" || secretAccessKey === "") {
    throw invalidSecret(secretRef?.name, "required fields 'accesskey' and 'secretkey'");
  }
  for (const [key, value] of Object.entries({ accesskey: accessKeyId, secretkey: secretAccessKey })) {
    if (/^[ -~]*$/.test(value)) continue;
    const why = `key '${key}' holds a character that is not printable ASCII`;
    throw invalidSecret(secretRef?.name, `${why}: write it without a newline`);
  }
  return { credentials: { accessKeyId, secretAccessKey: new Secret(secretAccessKey) } };
}

async function s3Credentials(
  spec: BucketSpec,
  { way, login }: Omit<S3Access, "secret">,
  phase: Phase,
  ctx: SourceContext,
): Promise<Found> {
  const { provider, sts } = spec;
  if (provider === "aws") return awsCredentials(spec, login, ctx);
  if (sts === undefined) return { credentials: undefined };
  const user = sts.secretRef === undefined ? undefined : await readSecret("STS secret", sts.secretRef.name, ctx);
  const [username = "", password = ""] = [user?.get("username"), user?.get("password")];
  if (user !== undefined && (username === "" || password === "")) {
    const why = "required fields username, password";
    throw new Failure(
      "AuthenticationFailed",
      `invalid '${sts.secretRef?.name}' secret data for 'ldap' STS provider: ${why}`,
    );
  }
  const tls = await trustOf(sts, sts.endpoint, "failed to get STS TLS config", ctx);
  const { ldapCredentials } = await import("../../sources/bucket/ldap-credentials.ts");
  try {
    const ldap = { username, password: new Secret(password) };
    return { credentials: await ldapCredentials(sts.endpoint, ldap, { ...way, tls }, phase) };
  } catch (error) {
    throw asFailure("failed to confirm existence of", spec, error);
  }
}

/** Flux's client asks for credentials with its first request, so the failure is that request's. */
function asFailure(doing: string, { bucketName }: BucketSpec, error: unknown): unknown {
  if (!(error instanceof BucketFault)) return error;
  return new Failure("BucketOperationFailed", `${doing} '${bucketName}' bucket: ${error.message}`, { cause: error });
}

const stsEndpoint = /^https:\/\/(.+\.)?sts(-fips)?(\.[^.]+)?(\.vpce)?\.amazonaws\.com$/;

async function awsCredentials(
  { bucketName: bucket, sts }: BucketSpec,
  login: BucketLogin | undefined,
  { namespace, run }: SourceContext,
): Promise<Found> {
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `AWS authentication failed: ${why}`, { cause });
  if (sts !== undefined && !stsEndpoint.test(sts.endpoint)) {
    throw failed(`invalid STS endpoint: '${sts.endpoint}'. must match ${stsEndpoint.source.replaceAll("\\/", "/")}`);
  }
  if (login === undefined) {
    const why = "spec.provider aws without secretRef is not supported here, where no AWS identity is";
    throw new Failure("UnsupportedField", `${why}: give a secretRef, or leave this Bucket to Flux`);
  }
  try {
    const { region, ...credentials } = await login.credentials(
      { bucket, cluster: run.key.cluster, namespace },
      run.signal,
    );
    return { credentials, region };
  } catch (error) {
    if (!(error instanceof BucketLoginError)) throw error;
    throw failed(error.message, error);
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
