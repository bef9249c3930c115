/**
 * Names one object of a cluster without its version: two versions of a kind are one object.
 * `group` is empty for the core group, `namespace` is empty for cluster-scoped objects.
 */
export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An {@link ObjectRef} with the version to read or write it in. */
export interface VersionedRef extends ObjectRef {
  readonly version: string;
}

/** The name Flux gives an object in messages and events: `Kind/namespace/name`, or `Kind/name` where there is no namespace. */
export function subject({ kind, namespace, name }: Pick<ObjectRef, "kind" | "namespace" | "name">): string {
  return namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** Splits `apps/v1` into group and version; `v1` belongs to the core group, whose name is empty. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash === -1
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function formatApiVersion({ group, version }: { group: string; version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** A key to sort and compare refs by: two refs have the same key if and only if they are equal. */
export function refKey({ group, kind, namespace, name }: ObjectRef): string {
  return `${group}/${kind}/${namespace}/${name}`;
}

/**
 * Why no object can have this name, in the words of Flux's client (client-go, rest/request.go): the API server would answer
 * an empty one with the list of all Secrets.
 */
export function nameFault(name: string): string | undefined {
  if (name === "") return "resource name may not be empty";
  const faults = [
    ...(name === "." || name === ".." ? [`may not be '${name}'`] : []),
    ...["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`),
  ];
  return faults.length === 0 ? undefined : `invalid resource name ${JSON.stringify(name)}: [${faults.join(" ")}]`;
}
