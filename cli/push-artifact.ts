import { stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import { isJsonObject } from "../lib/core/json.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import { Secret } from "../lib/core/secret.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { readLimitedFile } from "../lib/kube/read-limited-file.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import type { TreeEntry } from "../lib/sources/archive/pack-tar.ts";
import type { RegistryAccess } from "../lib/sources/oci/authorize.ts";
import { credentialsFor, maxDockerConfigBytes, type RegistryCredentials } from "../lib/sources/oci/docker-config.ts";
import { pushArtifact as push, pushUserAgent } from "../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../lib/sources/oci/registry-client.ts";
import { parsePushUrl } from "../lib/sources/oci/repository-url.ts";
import { type GlobalOptions, type Surroundings, TimeIsUp, timeoutOf } from "./session.ts";
import type { Terminal } from "./terminal.ts";

export interface PushOptions extends GlobalOptions {
  readonly path?: string;
  readonly source?: string;
  readonly revision?: string;
  /** `user:password`. */
  readonly creds?: string;
  readonly annotations?: readonly string[];
  readonly ignorePaths?: readonly string[];
  readonly addIgnorePaths?: readonly string[];
  readonly resolveSymlinks?: boolean;
  readonly insecureRegistry?: boolean;
  readonly insecure?: boolean;
  readonly output?: string;
  readonly allowEmpty?: boolean;
}

/** `push artifact`: packs a folder as Flux does, always with the same bytes for the same input, and pushes it. */
export async function pushArtifact(
  url: string | undefined,
  options: PushOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { terminal, env, homeDir, stdin, signal } = surroundings;
  if (url === undefined) throw new Error("artifact URL is required");
  const { host, repository, tag } = parsePushUrl(url);
  const { path = "", output } = options;
  if (path !== "" && path !== "-" && !(await exists(path))) throw noSuchPath(path);
  const { source, revision, warning } = await originOf(options, surroundings);
  if (path === "") throw noSuchPath(path, ": give --path");
  if (output !== undefined && output !== "json" && output !== "yaml") {
    throw new Error(`invalid argument "${output}" for "--output" flag: must be one of json, yaml`);
  }
  const annotations = Object.fromEntries((options.annotations ?? []).map(annotationOf));
  const given = options.creds === undefined ? undefined : credentialsOf(options.creds);
  const progress = output === undefined ? terminal : { ...terminal, action: () => {}, success: () => {} };
  if (options.source === undefined || options.revision === undefined) {
    progress.action(`using source ${source} and revision ${revision}`);
  }
  if (warning !== undefined) terminal.warning(warning);
  if (given !== undefined) progress.action("logging in to registry with credentials");

  const timeoutMs = timeoutOf(options);
  const time = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const http = httpClient({ network: homeNetwork });
  const connect = registryClients(http, systemClock);
  try {
    progress.action(`pushing artifact to ${host}/${repository}:${tag}`);
    const credentials = given ?? (await dockerCredentials(host, env, homeDir));
    const access: Omit<RegistryAccess, "host"> = {
      insecure: options.insecureRegistry === true || options.insecure === true,
      userAgent: pushUserAgent,
      ...(credentials === undefined ? {} : { credentials }),
    };
    const { ignorePaths, addIgnorePaths } = options;
    const pushed = await push(
      {
        url,
        ...(path === "-" ? { path: nameOfStdin, content: await readAll(stdin) } : { path }),
        resolveSymlinks: options.resolveSymlinks === true,
        inspect: async (entries) => {
          if (!hasManifests(entries)) await confirmEmpty(path, entries, options, terminal);
          // Not before: the user may take any time to answer.
          timer = setTimeout(() => time.abort(new TimeIsUp()), timeoutMs);
        },
        source,
        revision,
        annotations,
        ...(ignorePaths === undefined ? {} : { ignorePaths }),
        ...(addIgnorePaths === undefined ? {} : { addIgnorePaths }),
      },
      (where) => connect({ ...access, ...where }),
      AbortSignal.any([signal, time.signal]),
    );
    const why =
      options.resolveSymlinks === true ? "it leads back to its own path" : "follow links with --resolve-symlinks";
    for (const link of pushed.skippedLinks) terminal.warning(`left out the symbolic link ${link}: ${why}`);
    progress.success(`artifact successfully pushed to ${pushed.repository}@${pushed.digest}`);
    const { skippedLinks: _skippedLinks, ...result } = pushed;
    if (output !== undefined) terminal.document(await formatted(result, output));
  } finally {
    clearTimeout(timer);
    http.close();
  }
}

/**
 * Whether the packed files have anything that a Kustomization would apply: a YAML file with content, or a kustomization.
 *
 * @internal Exported for its tests.
 */
export function hasManifests(entries: readonly TreeEntry[]): boolean {
  return entries.some(
    (entry) =>
      entry.type === "file" &&
      (/(^|\/)Kustomization$/.test(entry.path) ||
        (/\.ya?ml$/.test(entry.path) && lineWithContent.test(Buffer.from(entry.bytes).toString("utf8")))),
  );
}

/** A document of `null` has nothing to apply. Its spaces stay within a line: across lines, the search would take time in the square of the number of blank lines. */
const lineWithContent = /^(?![^\S\n\r\u2028\u2029]*(#|$|(---|\.\.\.|null|~)[^\S\n\r\u2028\u2029]*$))/m;

/** Warns of what a push without manifests does. Throws unless the user allows it. */
async function confirmEmpty(
  path: string,
  entries: readonly TreeEntry[],
  { allowEmpty }: PushOptions,
  terminal: Terminal,
): Promise<void> {
  const hasJson = entries.some((entry) => entry.type === "file" && entry.path.endsWith(".json"));
  // As in Flux, which generates a kustomization of YAML files only.
  const ofJson = hasJson ? " (a *.json file is applied only where a kustomization.yaml lists it)" : "";
  const what = `${path === "-" ? "standard input" : path} has no manifests${ofJson}, so a Kustomization with prune: true that follows this artifact would delete all its objects`;
  const { confirm } = terminal;
  if (allowEmpty !== true && confirm === undefined) throw new Error(`${what}: give --allow-empty to push it`);
  terminal.warning(what);
  if (allowEmpty === true || (await confirm?.("Push it?")) === true) return;
  throw new Error("nothing was pushed");
}

/** Not a random name as in flux: the same input would get another digest each time. */
const nameOfStdin = "stdin.yaml";
export const maxStdinBytes = 100 * 1024 * 1024;

export async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > maxStdinBytes) throw new Error(`standard input has more than ${maxStdinBytes} bytes`);
    chunks.push(chunk);
  }
  if (bytes === 0) throw new Error("standard input is empty, there is nothing to push");
  return Buffer.concat(chunks);
}

interface Origin {
  readonly source: string;
  readonly revision: string;
  /** What the revision does not say. */
  readonly warning?: string;
}

/** `--source` and `--revision`; what is not given, git says of the path, or of the working folder for standard input. */
async function originOf(options: PushOptions, surroundings: Surroundings): Promise<Origin> {
  const { source, revision } = options;
  if (source !== undefined && revision !== undefined) return { source, revision };
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(new TimeIsUp()), timeoutOf(options));
  try {
    return await askGit(options, { ...surroundings, signal: AbortSignal.any([surroundings.signal, time.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

async function askGit(
  { source, revision, path = "" }: PushOptions,
  { cwd, env, signal }: Pick<Surroundings, "cwd" | "env" | "signal">,
): Promise<Origin> {
  const { gitFolder } = await import("./git-folder.ts");
  const isHere = path === "-" || path === "";
  const git = await gitFolder(isHere ? cwd : path, env, signal);
  const ask = (flag: string, value: () => Promise<string>) =>
    value().catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`${flag} is required, since git cannot tell it for ${isHere ? cwd : path}: ${messageOf(error)}`, {
        cause: error,
      });
    });
  const origin = {
    source: source ?? (await ask("--source", git.source)),
    revision: revision ?? (await ask("--revision", git.revision)),
  };
  if (revision !== undefined || isHere) return origin;
  const warning = await git.isChanged().then(
    (isChanged) =>
      isChanged
        ? `${path} has changes that are not committed: the artifact has them, its revision does not`
        : undefined,
    (error: unknown) => {
      signal.throwIfAborted();
      return `git cannot tell whether ${path} has uncommitted changes: ${messageOf(error)}`;
    },
  );
  return warning === undefined ? origin : { ...origin, warning };
}

function noSuchPath(path: string, mend = ""): Error {
  return new Error(`invalid path "${path}", it must point to an existing directory or file${mend}`);
}

async function exists(path: string): Promise<boolean> {
  return (
    path !== "" &&
    (await stat(path).then(
      () => true,
      () => false,
    ))
  );
}

function annotationOf(text: string): readonly [string, string] {
  const [key = "", value, rest] = text.split("=");
  if (key !== "" && value !== undefined && rest === undefined) return [key, value];
  throw new Error(`invalid annotation ${text}, must be in the format key=value`);
}

function credentialsOf(text: string): { readonly username: string; readonly password: Secret } {
  const colon = text.indexOf(":");
  // The text holds a password, so the message does not repeat it.
  if (colon <= 0) throw new Error('invalid argument for "--creds" flag: write it like user:password');
  return { username: text.slice(0, colon), password: new Secret(text.slice(colon + 1)) };
}

async function formatted(value: object, output: "json" | "yaml"): Promise<string> {
  if (output === "json") return `${JSON.stringify(value, undefined, 4)}\n`;
  const { dump } = await import("js-yaml");
  return dump(value);
}

/** The credentials that `docker login` has stored for a host, in `$DOCKER_CONFIG/config.json` or `~/.docker/config.json`. */
export async function dockerCredentials(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
  homeDir: string,
): Promise<RegistryCredentials | undefined> {
  const path = join(env["DOCKER_CONFIG"] ?? join(homeDir, ".docker"), "config.json");
  let text: string;
  try {
    text = await readLimitedFile(path, maxDockerConfigBytes);
  } catch (error) {
    if (isJsonObject(error) && error["code"] === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return credentialsFor(host, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Docker uses the file for other settings too: it may have no login.
    return undefined;
  }
}
