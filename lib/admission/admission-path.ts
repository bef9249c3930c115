import { createHmac, timingSafeEqual } from "node:crypto";
import type { Secret } from "../core/secret.ts";
import { ClusterId } from "../core/work-key.ts";

/** The longest path, in characters: no cluster's path is longer. */
export const maxPathChars = 1_000;

const layout = /^\/admission\/([0-9a-f]{64})\/([A-Za-z0-9_-]+)$/;

/**
 * Where the API server of a cluster reaches the admission webhook: `/admission/<token>/<cluster>`. The token is derived from the secret
 * and the cluster's id, so that it cannot be guessed, and one cluster cannot speak for another.
 */
export function admissionPath(secret: Secret, cluster: string): string {
  return `/admission/${tokenOf(secret, cluster)}/${Buffer.from(cluster).toString("base64url")}`;
}

/** The cluster whose path this is; undefined for every other path. Takes equally long whatever is wrong with the token. */
export function clusterOfPath(secret: Secret, path: string): string | undefined {
  const [, token = "", encoded = ""] = path.length > maxPathChars ? [] : (layout.exec(path) ?? []);
  if (token === "") return undefined;
  const cluster = Buffer.from(encoded, "base64url").toString();
  const isOurs = timingSafeEqual(Buffer.from(token), Buffer.from(tokenOf(secret, cluster)));
  return isOurs && ClusterId.safeParse(cluster).success ? cluster : undefined;
}

function tokenOf(secret: Secret, cluster: string): string {
  return createHmac("sha256", secret.reveal()).update(`admission/${cluster}`).digest("hex");
}
