import type { JsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { serverVersion } from "../schema/builtin-schema.ts";
import type { Cluster } from "../server/cluster.ts";
import { type Exchange, send, sendJson, sendPlain } from "../server/exchange.ts";
import { openApiSchemas } from "./openapi-schemas.ts";

const protobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * OpenAPI v2 in protobuf, with a version and a title and nothing else: kubectl asks for it where v3 does not say how
 * to patch a kind, and goes on without.
 */
const emptyVersion2 = "\n\u00032.0\u0012\u000f\n\nKubernetes\u0012\u0001-B\u0000";

/** Documents that a real server has and no client of ours reads. */
const otherDocuments = [".well-known/openid-configuration", "api", "apis", "openid/v1/jwks", "version"];

/**
 * OpenAPI v3 as kubectl needs it: which kinds can be patched with `fieldValidation`, and the types without prose.
 * Answers whether the path was one of OpenAPI.
 */
export async function serveOpenApi(exchange: Exchange, cluster: Cluster, parts: readonly string[]): Promise<boolean> {
  const [root, version, ...path] = parts;
  if (root !== "openapi") return false;
  if (version === "v2" && path.length === 0) {
    if (exchange.request.headers.accept?.includes("protobuf") === true) {
      send(exchange, 200, protobufType, emptyVersion2);
    } else {
      const info = { title: "Kubernetes", version: serverVersion };
      sendJson(exchange, 200, JSON.stringify({ swagger: "2.0", info, paths: {}, definitions: {} }));
    }
    return true;
  }
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
  else sendJson(exchange, 200, JSON.stringify(document), "json", exchange.query.has("hash") ? keepForAYear() : {});
  return true;
}

/** What a hash names never changes: kubectl keeps it on disk. */
function keepForAYear(): Record<string, string> {
  const expires = new Date(Date.now() + 365 * 86_400_000).toUTCString();
  return { "cache-control": "public, immutable", expires, vary: "Accept" };
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
    components: { schemas: openApiSchemas(found) },
  };
}

function patchTypes({ custom }: Resource): readonly string[] {
  const all = ["json-patch+json", "merge-patch+json", "apply-patch+yaml"].map((type) => `application/${type}`);
  return custom === undefined ? [...all, "application/strategic-merge-patch+json"] : all;
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
    requestBody: {
      content: Object.fromEntries(patchTypes(resource).map((type) => [type, { schema: { type: "object" } }])),
    },
    responses: { "200": { description: "OK" } },
  };
  return [`${root}/${apiVersionOf(resource)}/${place}/{name}`, { patch }];
}
