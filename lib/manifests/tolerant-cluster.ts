import { messageOf } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import { undeclaredFields, withoutUndeclared } from "./undeclared-fields.ts";

/** The API server may name only one field at a time. */
const maxAttempts = 20;

/**
 * A cluster that accepts built-in objects with fields that their kind does not have, as Flux does: Flux decodes them into Go
 * types, which drop such fields. We have no types, so we apply the object, leave out the fields that the API server calls
 * undeclared, log and report them, and apply again. As in Flux this does not hold for custom resources and RBAC roles. See
 * docs/maintainers/adr/0003.
 */
export function tolerantCluster(
  cluster: TargetCluster,
  log: Log,
  tell: (manifest: Manifest, fields: readonly string[]) => void,
): TargetCluster {
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

/** Whether a field has a type that Go's types cannot hold either: then Flux sends the object unchanged and reports the API server's answer. */
function isMistyped(error: unknown): boolean {
  return (
    error instanceof ApiError && /^failed to (?:convert new object|create typed patch object) /.test(error.message)
  );
}

function tolerated(manifest: Manifest, error: unknown): Manifest | undefined {
  if (!(error instanceof ApiError) || !isTyped(manifest) || !isJsonObject(manifest)) return undefined;
  const less = withoutUndeclared(manifest, error.message);
  // Kind, version and metadata stay, so the rest is still the same object.
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
