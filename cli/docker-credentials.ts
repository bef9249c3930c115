import { join } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import { isJsonObject } from "../lib/core/json.ts";
import { readLimitedFile } from "../lib/kube/read-limited-file.ts";
import { credentialsFor, maxDockerConfigBytes, type RegistryCredentials } from "../lib/sources/oci/docker-config.ts";

/** What `docker login` has left for a host, in `$DOCKER_CONFIG/config.json` or `~/.docker/config.json`. */
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
    // Docker writes the file for other things too, without a login in it.
    return undefined;
  }
}
