import { X509Certificate } from "node:crypto";
import { digestOf } from "../core/digest.ts";
import type { Endpoint } from "../core/ports/cluster.ts";
import type { ClusterConfig } from "./cluster-config.ts";

/**
 * The certificates of a PEM text, each once. Other blocks are left out: a client that trusts these certificates alone trusts no one whom
 * {@link endpointOf} does not count.
 *
 * @throws OpenSSL's error if one of them cannot be read
 */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const certificates = blocks.map((block) => new X509Certificate(block));
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

/** Identifies the server of a connection by its address and authorities, and by nothing that the server says about itself. */
export function endpointOf({ server, tls }: Pick<ClusterConfig, "server" | "tls">): Endpoint {
  return {
    authority: tls.insecure ? undefined : digestOf(JSON.stringify(verifiedBy({ server, tls }))),
    address: addressOf(server),
  };
}

/** Stands for the uid of a cluster that may not be read: the same for every kubeconfig that leads to this address and trusts these authorities. */
export function fallbackUid({ server, tls: { ca } }: Pick<ClusterConfig, "server" | "tls">): string {
  const { origin, pathname } = server;
  return `unread:${digestOf(JSON.stringify([fingerprints(ca), origin, pathname])).slice("sha256:".length)}`;
}

function verifiedBy({ server, tls: { ca, serverName } }: Pick<ClusterConfig, "server" | "tls">): readonly unknown[] {
  if (server.protocol !== "https:") return ["address", addressOf(server)];
  if (ca !== undefined) return ["certificates", fingerprints(ca)];
  return ["public", (serverName ?? server.hostname).toLowerCase()];
}

function addressOf({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/$/, "")}`;
}

function fingerprints(ca: string | undefined): readonly string[] {
  return ca === undefined
    ? []
    : certificatesIn(ca)
        .map(({ fingerprint256 }) => fingerprint256)
        .toSorted();
}
