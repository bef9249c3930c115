import { isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import { Secret } from "../core/secret.ts";

/**
 * The values of a Receiver's Secret, each with its bytes in the low halves of characters (`latin1`): a token need not be text,
 * and {@link Secret} keeps it out of every log.
 */
export type SecretValues = ReadonlyMap<string, Secret>;

/** Undefined if there is no such Secret. Throws an `ApiError` as the cluster does. */
export async function readSecretValues(
  cluster: Pick<Cluster, "get">,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<SecretValues | undefined> {
  const live = await cluster.get({ group: "", version: "v1", kind: "Secret", namespace, name }, signal);
  return live === undefined ? undefined : valuesOf(live);
}

/** What receivers read of a Secret; nothing else of it is kept. */
const readKeys: ReadonlySet<string> = new Set(["token", "email", "audience"]);

function valuesOf(live: LiveObject): SecretValues {
  const data = live["data"];
  const entries = isJsonObject(data) ? Object.entries(data) : [];
  return new Map(
    entries.flatMap(([key, value]) =>
      typeof value === "string" && readKeys.has(key)
        ? [[key, new Secret(Buffer.from(value, "base64").toString("latin1"))] as const]
        : [],
    ),
  );
}

/** The bytes of a value. */
export function bytesOfSecret(value: Secret): Buffer {
  return Buffer.from(value.reveal(), "latin1");
}
