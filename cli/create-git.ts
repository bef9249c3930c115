import { sourceGroup } from "../lib/api/names.ts";
import { formatDuration, parseDuration } from "../lib/core/duration.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../lib/core/json.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
import { type CredentialOptions, httpData, repositoryUrl, type SecretData, sshData } from "./git-credentials.ts";
import { waitFor } from "./progress.ts";
import { textAt } from "./read-object.ts";
import { isCurrent, manager } from "./reconcile-object.ts";
import {
  defaultNamespace,
  type GlobalOptions,
  type Session,
  type Surroundings,
  timeoutOf,
  withCluster,
} from "./session.ts";
import { isObserved } from "./suspend-and-resume.ts";

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
    terminal.document(await yamlOf(repositoryOf(name, exportNamespace(options, surroundings), spec, options)));
    return;
  }
  await withCluster(options, surroundings, async (session) => {
    terminal.generating("generating GitRepository source");
    const data = options.secretRef === undefined ? await credentialsOf(url, options, session) : {};
    const hasCredentials = Object.keys(data).length > 0;
    if (hasCredentials) {
      tellKeys(data, session);
      if (data["identity.pub"] !== undefined && options.silent !== true) await confirmKey(surroundings);
      terminal.action("applying secret with repository credentials");
      await upsert(secretOf(name, session.namespace, data, options), session);
      terminal.success("authentication configured");
    }
    terminal.action("applying GitRepository source");
    const whole = hasCredentials ? { ...spec, secretRef: { name } } : spec;
    const manifest = repositoryOf(name, session.namespace, whole, options);
    terminal.success(`GitRepository source ${await upsert(manifest, session)}`);
    terminal.waiting("waiting for GitRepository source reconciliation");
    const ref = { ...refOf(manifest), version: "v1" };
    const seen = await waitFor(ref, (object) => isObserved(object) && isCurrent(object), session);
    terminal.success("GitRepository source reconciliation completed");
    const revision = textAt(seen, "status", "artifact", "revision");
    if (revision === "") throw new Error("GitRepository source reconciliation completed but no artifact was found");
    terminal.success(`fetched revision: ${revision}`);
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

/** One ref, in flux's order; a branch beside a commit says where the commit is. */
function refOfOptions({ branch, commit, refName, tag, tagSemver }: SourceOptions): Record<string, Json | undefined> {
  if (commit !== undefined) return { commit, branch };
  if (refName !== undefined) return { name: refName };
  if (tagSemver !== undefined) return { semver: tagSemver };
  return tag === undefined ? { branch } : { tag };
}

/** A duration in Go's notation. @param option that has the text */
export function durationOf(text: string, option: string): string {
  try {
    return formatDuration(parseDuration(text));
  } catch (error) {
    throw new Error(`invalid argument "${text}" for "${option}" flag: write it like 30s, 5m or 1h`, { cause: error });
  }
}

export function withoutUndefined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export function secretOf(name: string, namespace: string, data: SecretData, options: CreateOptions): Manifest {
  return { apiVersion: "v1", kind: "Secret", metadata: metadataOf(name, namespace, options), stringData: { ...data } };
}

function repositoryOf(name: string, namespace: string, spec: JsonObject, options: CreateOptions): Manifest {
  const metadata = metadataOf(name, namespace, options);
  return { apiVersion: `${sourceGroup}/v1`, kind: "GitRepository", metadata, spec };
}

export function metadataOf(name: string, namespace: string, { label = [] }: CreateOptions) {
  const labels = Object.fromEntries(
    label.map((text) => {
      const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
      if (key === undefined || value === undefined) {
        throw new Error(`invalid label format '${text}', must be key=value`);
      }
      return [key, value];
    }),
  );
  return { name, namespace, ...(label.length === 0 ? {} : { labels }) };
}

/** As flux: of an object that exists, the labels and the whole spec are overwritten; of a Secret what is given. */
export async function upsert(manifest: Manifest, { cluster, signal }: Session): Promise<"created" | "updated"> {
  const ref = { ...refOf(manifest), version: "v1" };
  const before = await cluster.get(ref, signal);
  if (before === undefined) {
    await cluster.create(manifest, { manager }, signal);
    return "created";
  }
  const { metadata, spec, stringData } = manifest;
  const body: JsonObject = {
    metadata: { labels: replacing(before.metadata.labels, metadata.labels ?? {}) },
    ...(spec === undefined ? {} : { spec: replacing(before["spec"], spec) }),
    ...(isJsonObject(stringData) ? { stringData } : {}),
  };
  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
  return "updated";
}

/** A merge patch that leaves of `before` nothing but `after`. */
function replacing(before: unknown, after: unknown): Json {
  if (!isJsonObject(after)) return toJson(after);
  const old = isJsonObject(before) ? before : {};
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(after, name));
  return {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(after).map(([name, value]) => [name, replacing(old[name], value)])),
  };
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
    throw new Error("aborting: without a terminal nobody can say that the deploy key was added, say it with --silent");
  }
  if (!(await terminal.confirm(question))) throw new Error("aborting");
}

/** One letter is refused, too, as flux does it. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/;

export function checkName(name: string | undefined): asserts name is string {
  if (name === undefined) throw new Error("name is required");
  if (namePattern.test(name)) return;
  const rule = "the name can only contain alphanumeric characters or '-'";
  throw new Error(`name '${name}' is invalid, it should adhere to standard defined in RFC 1123, ${rule}`);
}

export function exportNamespace({ namespace }: GlobalOptions, { env, terminal }: Surroundings): string {
  return namespace ?? defaultNamespace(env, terminal);
}

function timeLimit(options: GlobalOptions, { signal }: Surroundings): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutOf(options))]);
}

export async function yamlOf(manifest: Manifest): Promise<string> {
  const { dump } = await import("js-yaml");
  return `---\n${dump(manifest, { sortKeys: true, lineWidth: -1 })}`;
}
