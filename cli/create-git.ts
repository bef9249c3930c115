import type { Json, JsonObject } from "../lib/core/json.ts";
import { applyCredentials, awaitArtifact, sourceOf } from "./applied-source.ts";
import { checkName, exportNamespace, secretOf, upsert, withoutUndefined, yamlOf } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { type CredentialOptions, httpData, repositoryUrl, type SecretData, sshData } from "./git-credentials.ts";
import { type GlobalOptions, type Session, type Surroundings, timeoutOf, withCluster } from "./session.ts";

export interface CreateOptions extends GlobalOptions, CredentialOptions {
  readonly export?: boolean;
  readonly label?: readonly string[];
}

export interface SourceOptions extends CreateOptions {
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
  options: CreateOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const url = repositoryUrl(options.url);
  const { terminal } = surroundings;
  const isSsh = url.protocol === "ssh:";
  if (!isSsh) checkLogin(options);
  const data = isSsh ? await sshData(url, options, timeLimit(options, surroundings)) : await httpData(options);
  if (options.export === true) {
    terminal.document(await yamlOf(secretOf(name, exportNamespace(options, surroundings), data, options)));
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    tellKeys(data, session);
    await upsert(secretOf(name, session.namespace, data, options), session);
    terminal.action(`git secret '${name}' created in '${session.namespace}' namespace`);
  });
}

function checkLogin({ username = "", password = "", bearerToken = "" }: CreateOptions): void {
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
  options: SourceOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const url = repositoryUrl(options.url);
  const spec = specOf(options);
  const { terminal } = surroundings;
  if (options.export === true) {
    terminal.document(
      await yamlOf(sourceOf("GitRepository", name, exportNamespace(options, surroundings), spec, options)),
    );
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    terminal.generating("generating GitRepository source");
    const data = options.secretRef === undefined ? await credentialsOf(url, options, session) : {};
    const hasCredentials = Object.keys(data).length > 0;
    if (hasCredentials) {
      tellKeys(data, session);
      if (data["identity.pub"] !== undefined && options.silent !== true) await confirmKey(surroundings);
      await applyCredentials(secretOf(name, session.namespace, data, options), "repository", session);
    }
    terminal.action("applying GitRepository source");
    const whole = hasCredentials ? { ...spec, secretRef: { name } } : spec;
    const manifest = sourceOf("GitRepository", name, session.namespace, whole, options);
    terminal.success(`GitRepository source ${await upsert(manifest, session)}`);
    await awaitArtifact(manifest, session);
  });
}

async function credentialsOf(url: URL, options: SourceOptions, session: Session): Promise<SecretData> {
  if (url.protocol === "ssh:") return sshData(url, options, session.signal);
  const data = await httpData(options);
  if (url.protocol === "http:" && Object.keys(data).length > 0) {
    session.terminal.warning("insecure configuration: credentials configured for an HTTP URL");
  }
  return data;
}

function specOf(options: SourceOptions): JsonObject {
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
function refOfOptions({ branch, commit, refName, tag, tagSemver }: SourceOptions): Record<string, Json | undefined> {
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
