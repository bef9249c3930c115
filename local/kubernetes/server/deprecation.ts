import type { Resource } from "./resource.ts";

/** Built-in kinds that are served and no longer advised, with what the server says of them. */
const deprecatedKinds: Readonly<Record<string, string>> = {
  "/v1/Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "/v1/ComponentStatus": "v1 ComponentStatus is deprecated in v1.19+",
};

/** What every request for this version of a kind is warned of. */
export function deprecation({ custom, group, version, kind }: Resource): readonly string[] {
  const warning = custom === undefined ? deprecatedKinds[`${group}/${version}/${kind}`] : custom.deprecationWarning;
  return warning === undefined ? [] : [warning];
}
