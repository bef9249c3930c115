import { isAccountName } from "../../api/names.ts";
import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";

// Whose rights an owner of objects applies with (reference 6.1).

/** The name of the service account that the spec, or else the installation, names; undefined for Sluice's own rights. */
export function accountName(
  { serviceAccountName = "" }: { readonly serviceAccountName?: string },
  byDefault: string,
): string | undefined {
  const name = serviceAccountName === "" ? byDefault : serviceAccountName;
  return name === "" ? undefined : name;
}

/**
 * The user that Kubernetes knows the service account of an owner of objects as: always one of its own namespace. Reads the raw
 * object, since the deletion of an invalid one needs it too. An impossible account name gives a user without rights.
 */
export function accountUser(live: LiveObject, byDefault: string): string | undefined {
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  const given = spec["serviceAccountName"];
  const name = accountName(typeof given === "string" ? { serviceAccountName: given } : {}, byDefault);
  if (name === undefined) return undefined;
  return `system:serviceaccount:${live.metadata.namespace ?? ""}:${isAccountName(name) ? name : "-"}`;
}

/** Whether the account of an owner exists. It is always looked up at home, as in Flux. */
export async function accountExists(
  namespace: string,
  name: string,
  home: HomeCluster,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isAccountName(name)) return false;
  return (await home.get({ group: "", version: "v1", kind: "ServiceAccount", namespace, name }, signal)) !== undefined;
}
