import { stat } from "node:fs/promises";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import { Secret } from "../lib/core/secret.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { pushArtifact as push, pushUserAgent } from "../lib/sources/oci/push-artifact.ts";
import type { RegistryAccess } from "../lib/sources/oci/registry-access.ts";
import { registryClients } from "../lib/sources/oci/registry-client.ts";
import { parsePushUrl } from "../lib/sources/oci/repository-url.ts";
import { dockerCredentials } from "./docker-credentials.ts";
import { type GlobalOptions, type Surroundings, timeoutOf } from "./settings.ts";

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
}

/** `push artifact`: packs a folder as Flux does, always with the same bytes for the same input, and pushes it. */
export async function pushArtifact(
  url: string | undefined,
  options: PushOptions,
  { terminal, env, homeDir, stdin, signal }: Surroundings,
): Promise<void> {
  if (url === undefined) throw new Error("artifact URL is required");
  const { host, repository, tag } = parsePushUrl(url);
  const { source, revision, path = "", output } = options;
  if (source === undefined) throw new Error("--source is required");
  if (revision === undefined) throw new Error("--revision is required");
  if (path !== "-" && !(await exists(path))) {
    const mend = path === "" ? ": give --path" : "";
    throw new Error(`invalid path "${path}", it must point to an existing directory or file${mend}`);
  }
  if (output !== undefined && output !== "json" && output !== "yaml") {
    throw new Error(`invalid argument "${output}" for "--output" flag: must be one of json, yaml`);
  }
  const annotations = Object.fromEntries((options.annotations ?? []).map(annotationOf));
  const given = options.creds === undefined ? undefined : credentialsOf(options.creds);
  const progress = output === undefined ? terminal : { ...terminal, action: () => {}, success: () => {} };
  if (given !== undefined) progress.action("logging in to registry with credentials");

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
        source,
        revision,
        annotations,
        ...(ignorePaths === undefined ? {} : { ignorePaths }),
        ...(addIgnorePaths === undefined ? {} : { addIgnorePaths }),
      },
      (where) => connect({ ...access, ...where }),
      AbortSignal.any([signal, AbortSignal.timeout(timeoutOf(options))]),
    );
    for (const link of pushed.skippedLinks) terminal.warning(`left out ${link}: links are never followed`);
    progress.success(`artifact successfully pushed to ${pushed.repository}@${pushed.digest}`);
    const { skippedLinks: _skippedLinks, ...result } = pushed;
    if (output !== undefined) terminal.document(await formatted(result, output));
  } finally {
    http.close();
  }
}

/** Flux takes a random name, with which the same input would have another digest each time. */
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
