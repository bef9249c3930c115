/** A path of the API, read: nothing is looked up yet. */
export interface RequestPath {
  readonly group: string;
  readonly version: string;
  /** `undefined` for all namespaces and for cluster-scoped resources. */
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What follows the subresource: the path of a proxy. */
  readonly rest: readonly string[];
  readonly isDeprecatedWatch: boolean;
}

/** Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`; `undefined` for any other path, or one without a resource. */
export function parseRequestPath(parts: readonly string[]): RequestPath | undefined {
  const [root, ...rest] = parts;
  if (root === "api") return resourcePath("", rest);
  if (root !== "apis") return undefined;
  const [group = "", ...others] = rest;
  return group === "" ? undefined : resourcePath(group, others);
}

function resourcePath(group: string, parts: readonly string[]): RequestPath | undefined {
  const [version, ...afterVersion] = parts;
  if (version === undefined || version === "") return undefined;
  const isDeprecatedWatch = afterVersion[0] === "watch" && afterVersion.length > 1;
  const path = isDeprecatedWatch ? afterVersion.slice(1) : afterVersion;
  const base = { group, version, isDeprecatedWatch };
  const [first, second, third, ...others] = path;
  if (first === undefined || first === "") return undefined;
  // `/namespaces/x/status` is a subresource of the Namespace, `/namespaces/x/pods` is a resource in it.
  const inNamespace = first === "namespaces" && second !== undefined && third !== undefined;
  if (inNamespace && !(group === "" && (third === "status" || third === "finalize") && others.length === 0)) {
    const [name, subresource, ...rest] = others;
    return { ...base, namespace: second, plural: third, name, subresource, rest };
  }
  return { ...base, namespace: undefined, plural: first, name: second, subresource: third, rest: others };
}
