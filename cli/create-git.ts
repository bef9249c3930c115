import { declaredGitRepository } from "../lib/api/kinds/git-repository.ts";
import type { Json, JsonObject } from "../lib/core/json.ts";
import { applyCredentials, applySource, withSecret } from "./applied-source.ts";
import { type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { createSecret } from "./create-secret.ts";
import { checkName, secretOf, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { type CredentialOptions, httpData, repositoryUrl, type SecretData, sshData } from "./git-credentials.ts";
import { type GlobalOptions, type Session, type Surroundings, timeoutOf } from "./session.ts";

interface GitSecretOptions extends CreatedOptions, CredentialOptions {}

interface GitSourceOptions extends GitSecretOptions {
  readonly interval: string;
  readonly fetchTimeout?: string;
  readonly branch?: string;
  readonly tag?: string;
  readonly tagSemver?: string;
  readonly refName?: string;
  readonly commit?: string;
  readonly secretRef?: string;
  readonly proxySecretRef?: string;
  readonly provider?: string;
  readonly recurseSubmodules?: boolean;
  readonly ignorePaths?: readonly string[];
  readonly sparseCheckoutPaths?: readonly string[];
  /** Takes it that the deploy key has been added. */
  readonly silent?: boolean;
}

/** `create secret git`: what a GitRepository logs in with; over ssh a new key, whose public part it prints. */
export async function createSecretGit(
  name: string | undefined,
  options: GitSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const url = repositoryUrl(options.url);
  const isSsh = url.protocol === "ssh:";
  if (!isSsh) checkLogin(options);
  const data = isSsh ? await sshData(url, options, timeLimit(options, surroundings)) : await httpData(options);
  await createSecret("git", { name, dataIn: () => data }, options, surroundings, {
    before: (session) => tellKeys(data, session),
  });
}

function checkLogin({ username = "", password = "", bearerToken = "" }: GitSecretOptions): void {
  if (bearerToken !== "" && (username !== "" || password !== "")) {
    throw new Error("user credentials and bearer token cannot be used together");
  }
  if (bearerToken === "" && (username === "" || password === "")) {
    throw new Error("for Git over HTTP/S the username and password, or a bearer token is required");
  }
}

/** `create source git`: a GitRepository, with the Secret that it logs in with, and waits for its first artifact. */
export async function createSourceGit(
  name: string | undefined,
  options: GitSourceOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const url = repositoryUrl(options.url);
  const manifestIn = objectOf(declaredGitRepository, name, specOf(options), options);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    session.terminal.generating("generating GitRepository source");
    const data = options.secretRef === undefined ? await credentialsOf(url, options, session) : {};
    const hasCredentials = Object.keys(data).length > 0;
    if (hasCredentials) {
      tellKeys(data, session);
      if (data["identity.pub"] !== undefined && options.silent !== true) await confirmKey(surroundings);
      await applyCredentials(secretOf(name, session.namespace, data, options), "repository", session);
    }
    const whole = hasCredentials ? withSecret(manifest, name) : manifest;
    await applySource(whole, { thing: "GitRepository source" }, session);
  });
}

async function credentialsOf(url: URL, options: GitSourceOptions, session: Session): Promise<SecretData> {
  if (url.protocol === "ssh:") return sshData(url, options, session.signal);
  const data = await httpData(options);
  if (url.protocol === "http:" && Object.keys(data).length > 0) {
    session.terminal.warning("insecure configuration: credentials configured for an HTTP URL");
  }
  return data;
}

function specOf(options: GitSourceOptions): JsonObject {
  const { branch, commit, refName, tag, tagSemver } = options;
  if ([branch, commit, refName, tag, tagSemver].every((one) => one === undefined)) {
    const choices = "--branch, --tag, --commit, --ref-name or --tag-semver";
    throw new Error(`a Git ref is required, use one of the following: ${choices}`);
  }
  const { ignorePaths, provider, proxySecretRef, recurseSubmodules, secretRef, sparseCheckoutPaths } = options;
  return withoutUndefined({
    url: options.url,
    interval: durationOf(options.interval, "--interval"),
    timeout: options.fetchTimeout === undefined ? undefined : durationOf(options.fetchTimeout, "--fetch-timeout"),
    ref: withoutUndefined(refOfOptions(options)),
    secretRef: secretRef === undefined ? undefined : { name: secretRef },
    proxySecretRef: proxySecretRef === undefined ? undefined : { name: proxySecretRef },
    provider,
    recurseSubmodules: recurseSubmodules === true ? true : undefined,
    ignore: ignorePaths?.join("\n"),
    sparseCheckout: sparseCheckoutPaths === undefined ? undefined : [...sparseCheckoutPaths],
  });
}

/** One ref, in flux's order; a branch given with a commit says where the commit is. */
function refOfOptions({ branch, commit, refName, tag, tagSemver }: GitSourceOptions): Record<string, Json | undefined> {
  if (commit !== undefined) return { commit, branch };
  if (refName !== undefined) return { name: refName };
  if (tagSemver !== undefined) return { semver: tagSemver };
  return tag === undefined ? { branch } : { tag };
}

function tellKeys(data: SecretData, { terminal }: Pick<Session, "terminal">): void {
  if (data["known_hosts"] !== undefined) {
    terminal.success(`collected public key from SSH server:\n${data["known_hosts"].trimEnd()}`);
  }
  if (data["identity.pub"] !== undefined) terminal.generating(`deploy key: ${data["identity.pub"].trimEnd()}`);
}

async function confirmKey({ terminal }: Surroundings): Promise<void> {
  const question = "Have you added the deploy key to your repository";
  if (terminal.confirm === undefined) {
    throw new Error("aborting: without a terminal no one can say that the deploy key was added, say it with --silent");
  }
  if (!(await terminal.confirm(question))) throw new Error("aborting");
}

function timeLimit(options: GlobalOptions, { signal }: Surroundings): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutOf(options))]);
}
