import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { SecretData } from "./git-credentials.ts";
import type { Session } from "./session.ts";

/** The values of a Secret in the namespace of the session, decoded; undefined if there is no such Secret. */
export async function secretData(name: string, session: Session): Promise<SecretData | undefined> {
  const { cluster, namespace, signal } = session;
  const live = await cluster.get({ group: "", version: "v1", kind: "Secret", namespace, name }, signal);
  return live === undefined ? undefined : decoded(live);
}

function decoded(live: LiveObject): SecretData {
  const data = isJsonObject(live["data"]) ? live["data"] : {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      typeof value === "string" ? Buffer.from(value, "base64").toString() : "",
    ]),
  );
}
