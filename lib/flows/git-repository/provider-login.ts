import { Failure, messageOf } from "../../core/failure.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import { type GitLogin, GitLoginError } from "../../core/ports/git-login.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { codeCommitRegion } from "../../sources/git/codecommit-host.ts";
import type { GitHubApp, GitHubAppToken } from "../../sources/git/github-app.ts";
import type { SourceContext } from "../source/source-context.ts";
import { type AccessSpec, type HttpCredentials, notConfigured, type SecretData } from "./credentials.ts";

/** Sources of logins that are not in a Secret. */
export interface ProviderLogins {
  /** An App of GitHub. */
  readonly github: GitHubAppToken;
  /** Our own identity in AWS; undefined if the installation has none. */
  readonly aws: GitLogin | undefined;
}

/** The inputs of a provider's login. */
interface ProviderRequest {
  readonly url: URL;
  readonly spec: AccessSpec;
  readonly secret: SecretData | undefined;
  readonly proxy: Proxy | undefined;
  /** The certificates in the Secret, also for GitHub's API. */
  readonly tls: TlsTrust;
}

type Login = Pick<HttpCredentials, "password" | "username">;

/** The object, as far as a login depends on it. */
export interface ProviderContext extends Pick<SourceContext, "namespace"> {
  readonly run: Pick<SourceContext["run"], "signal"> & { readonly key: Pick<WorkKey, "cluster"> };
}

const appKeys = {
  id: "githubAppID",
  key: "githubAppPrivateKey",
  installation: "githubAppInstallationID",
  owner: "githubAppInstallationOwner",
  baseUrl: "githubAppBaseURL",
} as const;

/**
 * The login of `spec.provider`, which replaces the Secret's; undefined for the generic provider. Throws a {@link Failure} (reference
 * sources 2.4).
 */
export async function providerLogin(
  request: ProviderRequest,
  logins: ProviderLogins,
  ctx: ProviderContext,
): Promise<Login | undefined> {
  const { secret, spec } = request;
  const { provider = "generic" } = spec;
  switch (provider) {
    case "generic": {
      if ((secret?.get(appKeys.id) ?? "") === "") return undefined;
      const why = `secretRef '${ctx.namespace}/${spec.secretRef?.name ?? ""}' has github app data but provider is not set to github`;
      throw new Failure("InvalidProviderConfiguration", why, { retry: "backoff" });
    }
    case "github":
      return githubLogin(request, logins.github, ctx);
    case "aws":
      refuseProvider(spec);
      return awsLogin(request, logins.aws, ctx);
    case "azure":
      refuseProvider(spec);
      return undefined;
  }
}

/** Throws a {@link Failure} for the identity of a cloud that Sluice never has. */
export function refuseProvider(spec: Pick<AccessSpec, "provider" | "serviceAccountName">): void {
  const { provider } = spec;
  if (provider !== "aws" && provider !== "azure") return;
  refuseServiceAccount(spec);
  if (provider === "aws") return;
  const mend = "give a secretRef with a personal access token, or leave this GitRepository to Flux";
  throw new Failure("UnsupportedField", `spec.provider azure is not supported: ${mend}`);
}

/** It names an identity of its own. Flux takes it only behind a gate that is off by default. */
function refuseServiceAccount({ serviceAccountName = "" }: Pick<AccessSpec, "serviceAccountName">): void {
  if (serviceAccountName === "") return;
  const gate = "please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
  const why = `to use spec.serviceAccountName for provider authentication ${gate}`;
  throw new Failure("FeatureGateDisabled", why);
}

async function githubLogin(
  { proxy, secret, spec, tls }: ProviderRequest,
  token: GitHubAppToken,
  ctx: ProviderContext,
): Promise<Login> {
  const app = secret === undefined ? undefined : appOf(secret, `${ctx.namespace}/${spec.secretRef?.name ?? ""}`);
  if (secret === undefined || app === undefined) {
    const why = "secretRef with github app data must be specified when provider is set to github";
    throw new Failure("InvalidProviderConfiguration", why, { retry: secret === undefined ? "never" : "backoff" });
  }
  try {
    return { username: "x-access-token", password: await token({ ...app, proxy, tls }, ctx.run.signal) };
  } catch (error) {
    ctx.run.signal.throwIfAborted();
    throw notConfigured(messageOf(error), error);
  }
}

/** The GitHub App in a Secret; undefined if it has none. Throws a {@link Failure} where Flux has a bare error without a condition. */
function appOf(secret: SecretData, name: string): GitHubApp | undefined {
  const [id, key] = [secret.get(appKeys.id), secret.get(appKeys.key)];
  if (id === undefined || key === undefined) return undefined;
  const [installation, owner] = [secret.get(appKeys.installation), secret.get(appKeys.owner)];
  if ((installation === undefined) === (owner === undefined)) {
    const why = `must contain exactly one of '${appKeys.owner}' or '${appKeys.installation}'`;
    throw new Failure("AuthenticationFailed", `secret '${name}' ${why}`);
  }
  if (!isNumber(id)) throw notConfigured("app ID must be provided to use github app authentication");
  if (installation !== undefined ? !isNumber(installation) : owner === "") {
    throw notConfigured("app installation owner or ID must be provided to use github app authentication");
  }
  if (key === "") throw notConfigured("private key must be provided to use github app authentication");
  return {
    id,
    privateKey: new Secret(key),
    installation: installation === undefined ? { owner: owner ?? "" } : { id: installation },
    baseUrl: secret.get(appKeys.baseUrl),
  };
}

function isNumber(text: string): boolean {
  return /^[1-9][0-9]{0,18}$/.test(text);
}

/**
 * Throws a {@link Failure} for a repository for which there is no login to AWS, whatever its Secrets contain.
 *
 * @param hasProxy whether it is reached by a proxy
 */
export function refuseAwsLogin(url: URL, hasProxy: boolean): void {
  try {
    codeCommitRegion(url);
  } catch (error) {
    throw loginFailure(error);
  }
  if (hasProxy) throw unsafeField("spec.proxySecretRef");
}

function unsafeField(field: string): Failure {
  const why = "cannot be set with provider aws, which logs in to AWS alone";
  return new Failure("InvalidProviderConfiguration", `${field} ${why}: remove it, or log in with a secretRef`);
}

function loginFailure(error: unknown): unknown {
  return error instanceof GitLoginError ? notConfigured(error.message, error) : error;
}

async function awsLogin(
  { proxy, secret, url }: ProviderRequest,
  login: GitLogin | undefined,
  { namespace, run }: ProviderContext,
): Promise<Login> {
  refuseAwsLogin(url, proxy !== undefined);
  const trust = ["ca.crt", "caFile"].find((key) => secret?.has(key) === true);
  if (trust !== undefined) throw unsafeField(`'${trust}' of spec.secretRef`);
  if (login === undefined) {
    const mend = "remove it, or leave this GitRepository to Flux until it is";
    throw new Failure("UnsupportedField", `spec.provider aws is not supported here, where no AWS identity is: ${mend}`);
  }
  return login.credentials({ url, cluster: run.key.cluster, namespace }, run.signal).catch((error: unknown) => {
    throw loginFailure(error);
  });
}
