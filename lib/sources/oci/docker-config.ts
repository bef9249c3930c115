import { z } from "zod";
import { isJsonObject } from "../../core/json.ts";
import { Secret } from "../../core/secret.ts";
import { limitedMap } from "../../core/validation.ts";

/** A user name and a password for a registry. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: Secret;
}

const Entry = z.object({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
});
/** Registries in one docker configuration. */
export const maxDockerConfigEntries = 10_000;
const Entries = limitedMap(Entry, maxDockerConfigEntries);
const DockerConfig = z.object({ auths: Entries });

/** The limit of a Secret in Kubernetes. A file at home could be larger. */
export const maxDockerConfigBytes = 1024 * 1024;

/** The host names of Docker Hub. */
const dockerHub = new Set(["docker.io", "index.docker.io", "registry-1.docker.io"]);

/**
 * The credentials for a host in a `.dockerconfigjson` or, without `auths`, a `.dockercfg`; undefined if it has no entry for the
 * host. Throws a `RangeError`, which quotes nothing of it, if it cannot be read.
 */
export function credentialsFor(host: string, dockerConfig: string): RegistryCredentials | undefined {
  if (Buffer.byteLength(dockerConfig) > maxDockerConfigBytes) {
    throw new RangeError(`it has more than ${maxDockerConfigBytes} bytes, which no login needs`);
  }
  let json: unknown;
  try {
    json = JSON.parse(dockerConfig);
  } catch {
    // The parser's own message would quote the text, which holds passwords.
    throw new RangeError("it is not JSON");
  }
  const isCurrent = isJsonObject(json) && "auths" in json;
  const entries = isCurrent ? DockerConfig.safeParse(json).data?.auths : Entries.safeParse(json).data;
  if (entries === undefined)
    throw new RangeError(`it has no entries for registries, or more than ${maxDockerConfigEntries}`);
  const found = Object.entries(entries).find(([key]) => isSameHost(hostOf(key), host));
  if (found === undefined) return undefined;
  const [, { auth, username, password }] = found;
  if (username !== undefined && password !== undefined) return { username, password: new Secret(password) };
  if (auth === undefined) return undefined;
  const decoded = Buffer.from(auth, "base64").toString();
  const colon = decoded.indexOf(":");
  if (colon === -1) throw new RangeError(`the auth of ${host} is not base64 of user:password`);
  return { username: decoded.slice(0, colon), password: new Secret(decoded.slice(colon + 1)) };
}

/** Keys are hosts, or URLs such as `https://index.docker.io/v1/`. */
function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}

function isSameHost(a: string, b: string): boolean {
  return a === b || (dockerHub.has(a) && dockerHub.has(b));
}
