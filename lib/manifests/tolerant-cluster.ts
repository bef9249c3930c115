import { messageOf } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { Log } from "../core/ports/log.ts";
import { undeclaredFields, withoutUndeclared } from "./without-undeclared.ts";

/** The API server may name one field at a time. */
const maxAttempts = 20;

/**
 * A cluster that takes built-in objects with fields their kind does not have, as Flux does: it passes them through Go types,
 * where such fields vanish. We know no types, so the API server is asked, and what it calls undeclared is left out and
 * logged and told. Custom resources are not helped, nor are RBAC roles, both as in Flux. See docs/adr/0003.
 */
export function tolerantCluster(
  cluster: Cluster,
  log: Log,
  tell: (manifest: Manifest, fields: readonly string[]) => void,
): Cluster {
  return {
    ...cluster,
    async apply(manifest, options, signal) {
      let current = manifest;
      let first: unknown;
      for (let attempt = 1; ; attempt++) {
        try {
          return await cluster.apply(current, options, signal);
        } catch (error) {
          first ??= error;
          const less = attempt < maxAttempts ? tolerated(current, error) : undefined;
          if (less === undefined) throw isMistyped(error) ? first : error;
          const { kind, metadata } = manifest;
          const { name, namespace } = metadata;
          log.warn("fields that the kind does not have were left out", {
            kind,
            namespace,
            name,
            left: messageOf(error),
          });
          tell(manifest, undeclaredFields(messageOf(error)));
          current = less;
        }
      }
    },
  };
}

/** What Go's types cannot hold either: then Flux sends the object as it is, and reports the API server's answer to that. */
function isMistyped(error: unknown): boolean {
  return (
    error instanceof ApiError && /^failed to (?:convert new object|create typed patch object) /.test(error.message)
  );
}

function tolerated(manifest: Manifest, error: unknown): Manifest | undefined {
  if (!(error instanceof ApiError) || !isTyped(manifest) || !isJsonObject(manifest)) return undefined;
  const less = withoutUndeclared(manifest, error.message);
  // What is left is the same object: nobody takes its kind or its name away.
  return less === undefined
    ? undefined
    : { ...less, apiVersion: manifest.apiVersion, kind: manifest.kind, metadata: manifest.metadata };
}

const builtInGroups =
  /^(|apps|autoscaling|batch|extensions|policy|(admissionregistration|apiextensions|apiregistration|authentication|authorization|certificates|coordination|discovery|events|flowcontrol\.apiserver|networking|node|rbac\.authorization|resource|scheduling|storage)\.k8s\.io)$/;

function isTyped({ apiVersion, kind }: Manifest): boolean {
  if (apiVersion === "rbac.authorization.k8s.io/v1" && (kind === "Role" || kind === "ClusterRole")) return false;
  return builtInGroups.test(parseApiVersion(apiVersion).group);
}
