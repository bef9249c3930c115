import type { JsonObject } from "../../../lib/core/json.ts";
import { serverVersion } from "../schema/builtin-schema.ts";
import type { Cluster } from "../server/cluster.ts";
import { type Exchange, send, sendJson, sendPlain } from "../server/exchange.ts";
import { apiVersionOf, type Resource } from "../server/resource.ts";

/** Documents that a real server has and no client of ours reads. */
const otherDocuments = [".well-known/openid-configuration", "api", "apis", "openid/v1/jwks", "version"];

/**
 * OpenAPI v3 as kubectl needs it: which kinds can be patched with `fieldValidation`. Types are not described; kubectl
 * then sends what it has and the server judges. Answers whether the path was one of OpenAPI.
 */
export async function serveOpenApi(exchange: Exchange, cluster: Cluster, parts: readonly string[]): Promise<boolean> {
  const [root, version, ...path] = parts;
  if (root !== "openapi") return false;
  if (version !== "v3") {
    sendPlain(exchange, 404, "404 page not found\n");
    return true;
  }
  if (path.length === 0) {
    send(exchange, 200, "text/plain; charset=utf-8", JSON.stringify(indexDocument(cluster)));
    return true;
  }
  const document = groupDocument(cluster, path);
  if (document === undefined) sendPlain(exchange, 404, "404 page not found\n");
  else sendJson(exchange, 200, JSON.stringify(document));
  return true;
}

function indexDocument({ resources }: Cluster): JsonObject {
  const groups = resources
    .groups()
    .flatMap(({ name, versions, isBuiltin }) => [
      ...(isBuiltin ? [`apis/${name}`] : []),
      ...versions.map((version) => `apis/${name}/${version}`),
    ]);
  const names = [...otherDocuments, "api/v1", ...groups].toSorted();
  // Clients keep a document for as long as its hash stays: definitions change it.
  const hash = `${serverVersion}-${resources.generation()}`;
  return {
    paths: Object.fromEntries(names.map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` }])),
  };
}

function groupDocument({ resources }: Cluster, [root, ...rest]: readonly string[]): JsonObject | undefined {
  const [group = "", version = ""] = root === "api" ? ["", rest[0] ?? ""] : rest;
  const found = resources.of(group, version);
  if ((root !== "api" && root !== "apis") || (found.length === 0 && version !== "")) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: serverVersion },
    paths: Object.fromEntries(found.filter(({ verbs }) => verbs.includes("patch")).map(pathEntry)),
    components: { schemas: {} },
  };
}

function pathEntry(resource: Resource): [string, JsonObject] {
  const { group, version, kind, plural, namespaced } = resource;
  const root = group === "" ? "/api" : "/apis";
  const place = namespaced ? `namespaces/{namespace}/${plural}` : plural;
  const parameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
    name,
    in: "query",
    schema: { type: name === "force" ? "boolean" : "string", uniqueItems: true },
  }));
  const patch = {
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group, version, kind },
    parameters,
    responses: { "200": { description: "OK" } },
  };
  return [`${root}/${apiVersionOf(resource)}/${place}/{name}`, { patch }];
}
