import type { JsonObject } from "../core/json.ts";
import { serverVersion } from "../schema/builtin-schema.ts";
import { negotiate, wantsAggregated } from "../server/accept.ts";
import type { Cluster } from "../server/cluster.ts";
import { methodNotAllowed, noSuchResource } from "../server/errors.ts";
import { type Exchange, send, sendJson, sendPlain } from "../server/exchange.ts";
import type { GroupVersions } from "../server/resources.ts";
import { aggregatedDocument, groupDocument, resourceListDocument } from "./discovery-documents.ts";

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const core: GroupVersions = { name: "", versions: ["v1"], isBuiltin: true };

/** Whether the path was one of discovery, health or version, and is answered. */
export function serveDiscovery(exchange: Exchange, cluster: Cluster, parts: readonly string[]): boolean {
  const [root = "", first, second, ...others] = parts;
  switch (root) {
    case "":
    case "index.html":
      if (first !== undefined) return false;
      send(exchange, 200, "application/json", JSON.stringify({ paths: indexOf(cluster) }, undefined, 2));
      return true;
    case "healthz":
    case "readyz":
    case "livez":
      sendPlain(exchange, 200, "ok");
      return true;
    case "version":
      answer(exchange, versionDocument());
      return true;
    case "api":
      if (first === undefined) serveGroups(exchange, cluster, true);
      else if (second === undefined) serveResources(exchange, cluster, core, first);
      return first === undefined || second === undefined;
    case "apis":
      return serveApis(exchange, cluster, first, second, others.length > 0);
    default:
      return false;
  }
}

/** The paths that `GET /` lists, in alphabetical order. */
function indexOf({ resources }: Cluster): readonly string[] {
  const groups = resources.groups().flatMap(({ name, versions }) => [name, ...versions.map((one) => `${name}/${one}`)]);
  return [
    ...["/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/openapi/v3/"],
    ...["/readyz", "/version", ...groups.map((path) => `/apis/${path}`)],
  ].toSorted();
}

function serveApis(
  exchange: Exchange,
  cluster: Cluster,
  name: string | undefined,
  version: string | undefined,
  isDeeper: boolean,
): boolean {
  if (name === undefined) {
    serveGroups(exchange, cluster, false);
    return true;
  }
  const group = cluster.resources.group(name);
  if (group === undefined || (!group.isBuiltin && version !== undefined && !group.versions.includes(version))) {
    sendPlain(exchange, 404, "404 page not found\n");
    return true;
  }
  if (version === undefined) send200(exchange, { kind: "APIGroup", apiVersion: "v1", ...groupDocument(group) });
  else if (!isDeeper) serveResources(exchange, cluster, group, version);
  return version === undefined || !isDeeper;
}

function serveGroups(exchange: Exchange, { resources }: Cluster, isCore: boolean): void {
  const groups = isCore ? [core] : resources.groups();
  const { accept } = exchange.request.headers;
  if (wantsAggregated(accept)) {
    if (isCore) onlyReads(exchange);
    const json = `${JSON.stringify(aggregatedDocument(resources, groups))}\n`;
    return send(exchange, 200, aggregatedType, json, { vary: "Accept" });
  }
  const list: JsonObject = isCore
    ? {
        kind: "APIVersions",
        versions: ["v1"],
        serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: exchange.request.headers.host ?? "" }],
      }
    : { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupDocument) };
  if (isCore) answer(exchange, list);
  else send200(exchange, list);
}

function serveResources(exchange: Exchange, { resources }: Cluster, group: GroupVersions, version: string): void {
  if (!group.versions.includes(version)) throw noSuchResource();
  const groupVersion = group.name === "" ? version : `${group.name}/${version}`;
  const document = resourceListDocument(resources.of(group.name, version), groupVersion);
  if (group.isBuiltin) answer(exchange, document);
  else send200(exchange, document);
}

function answer(exchange: Exchange, document: JsonObject): void {
  onlyReads(exchange);
  send200(exchange, document);
}

/** Whatever the method is: a real server looks at it for its own groups and versions alone. */
function send200(exchange: Exchange, document: JsonObject): void {
  const { type } = negotiate(exchange.request.headers.accept);
  sendJson(exchange, 200, JSON.stringify(document), type);
}

function onlyReads({ method }: Exchange): void {
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
}

function versionDocument(): JsonObject {
  const [, major = "1", minor = "0"] = /^v(\d+)\.(\d+)/.exec(serverVersion) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: serverVersion,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "node",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
