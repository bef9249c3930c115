import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import type { Manifest } from "../../../core/manifest.ts";
import { refOf } from "../../../core/manifest.ts";
import { formatApiVersion, type VersionedRef } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { Hook } from "../../../core/ports/helm-engine.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

export const releaseManager = helmReleaseStyle.manager;

/** The object of a hook, in its namespace. */
export interface HookObject {
  readonly ref: VersionedRef;
  readonly manifest: Manifest;
}

/** The object of a hook, in the namespace of the release if it names none; a text if the cluster does not serve its kind. */
export async function hookObject(
  { manifest }: Pick<Hook, "manifest">,
  releaseNamespace: string,
  { run, target }: HelmReleaseContext,
): Promise<HookObject | string> {
  const { namespace: _dropped, ...clusterWide } = manifest.metadata;
  const resource = await target.resource(refOf(manifest), run.signal);
  if (resource === undefined) return unservedText(manifest);
  const { namespace = releaseNamespace } = manifest.metadata;
  const placed = { ...manifest, metadata: resource.namespaced ? { ...clusterWide, namespace } : clusterWide };
  return { ref: refOf(placed), manifest: placed };
}

/** In the words of Helm's client, which quotes the name and the namespace as the manifest has them. */
export function unservedText({ apiVersion, kind, metadata: { name, namespace = "" } }: Manifest): string {
  return (
    `resource mapping not found for name: "${name}" namespace: "${namespace}" from "": ` +
    `no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`
  );
}

const passing = new Set([
  "InternalError",
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
  "Unauthorized",
  "Unreachable",
]);

/** Whether the fault may be gone in a moment: it says nothing of the object. */
export function isPassing({ reason }: ApiError): boolean {
  return passing.has(reason);
}

/**
 * Creates the object, or applies it to one that is there, without force: as Helm creates hooks.
 *
 * @returns why the API server refuses it, in Helm's words; undefined if it does not
 * @throws ApiError where the API server could not judge it
 */
export async function createHookObject(
  { manifest, ref }: HookObject,
  { run, target }: HelmReleaseContext,
): Promise<string | undefined> {
  try {
    const options = { manager: releaseManager, force: false, fieldValidation: "Strict" } as const;
    await target.apply(manifest, options, run.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    const { group, version, kind, namespace, name } = ref;
    const what = `${namespace}/${name} ${formatApiVersion({ group, version })}, Kind=${kind}`;
    const of = group === "" ? what.replace(` ${version},`, ` /${version},`) : what;
    if (error.reason === "Conflict") return `conflict occurred while applying object ${of}: ${error.message}`;
    return `server-side apply failed for object ${of}: ${error.message}`;
  }
}

/**
 * Asks for the deletion of the object.
 *
 * @returns whether it is gone
 */
export async function deleteHookObject({ ref }: HookObject, { run, target }: HelmReleaseContext): Promise<boolean> {
  const live = await target.get(ref, run.signal);
  if (live === undefined) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const options = { propagation: "Background", uid: live.metadata.uid } as const;
  return (await target.delete(ref, options, run.signal)) !== "deleting";
}
