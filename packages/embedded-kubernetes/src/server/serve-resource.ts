import { type ApiObject, messageOf, StatusError } from "../core/api-object.ts";
import { formatJson, isJsonObject, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { decodeProtobuf } from "../protobuf/decode-protobuf.ts";
import type { Resource } from "../resource/resource.ts";
import { type StoredObject, storedObject } from "../store/stored-object.ts";
import { type Acceptable, negotiate } from "./accept.ts";
import { applyObject } from "./apply-object.ts";
import { type Cluster, metadataOf } from "./cluster.ts";
import { createObject, type Written } from "./create-object.ts";
import { decodeObject, type FieldValidation, unrecognized } from "./decode-object.ts";
import { deleteObject, deleteOptions } from "./delete-object.ts";
import { badRequest, internal, methodNotAllowed, notAcceptable, notFound, unsupportedMediaType } from "./errors.ts";
import { type Exchange, readBody, readBytes, sendJson, warn } from "./exchange.ts";
import { listOptions } from "./list-options.ts";
import { type ParsedBody, parseJsonBody, parseYamlBody } from "./parse-body.ts";
import { type PatchType, patchObject } from "./patch-object.ts";
import { badRevision, readPage, tooLarge } from "./read-list.ts";
import { listText, objectText, partialListText, partialText } from "./render.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { serveWatch } from "./serve-watch.ts";
import { tableOf, tableText } from "./table-answer.ts";
import { replaceObject, type Target } from "./update-object.ts";
import { writeOptions } from "./write-options.ts";

const writeTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const patchTypes: Readonly<Record<string, PatchType | "apply">> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** Serves a whole collection: list, watch, create, deletecollection. */
export async function serveCollection(request: ResourceRequest): Promise<void> {
  const { exchange, cluster, resource, path } = request;
  switch (exchange.method) {
    case "GET":
      return serveList(request);
    case "POST":
      return serveCreate(request);
    case "DELETE": {
      const options = listOptions(exchange.query, resource, false);
      const accepted = negotiate(exchange.request.headers.accept);
      const deletion = deleteOptions(exchange.query, await optionalBody(exchange));
      const { items, revision } = readPage(cluster, resource, path.namespace, options, false);
      for (const { namespace, name } of items) deleteObject(cluster, resource, namespace, name, deletion);
      return sendJson(exchange, 200, listText(items, resource, { resourceVersion: String(revision) }), accepted.type);
    }
    case "PATCH":
      patchTypeOf(exchange, resource);
      throw badRequest("name must be provided");
    case "PUT":
      throw badRequest("name must be provided");
    default:
      throw methodNotAllowed();
  }
}

/** Serves one object or its status. */
export async function serveObject(request: ResourceRequest, name: string): Promise<void> {
  const { exchange, cluster, resource, path } = request;
  const namespace = path.namespace ?? "";
  const target: Target = { resource, namespace, name, subresource: path.subresource };
  switch (exchange.method) {
    case "GET":
      return path.isDeprecatedWatch ? serveList(request) : serveGet(request, target);
    case "PUT": {
      const options = writeOptions(exchange.query, { userAgent: userAgentOf(exchange), user: exchange.user }, "update");
      const accepted = negotiate(exchange.request.headers.accept);
      const object = await objectToWrite(request, options.fieldValidation);
      return answerWritten(request, accepted, replaceObject(cluster, target, object, options));
    }
    case "PATCH":
      return servePatch(request, target);
    case "POST":
      return serveCreate(request);
    case "DELETE": {
      const accepted = negotiate(exchange.request.headers.accept);
      const options = deleteOptions(exchange.query, await optionalBody(exchange));
      const answer = deleteObject(cluster, resource, namespace, name, options);
      return sendJson(exchange, 200, formatJson(answer), accepted.type);
    }
    default:
      throw methodNotAllowed();
  }
}

function serveGet({ exchange, cluster, resource }: ResourceRequest, { namespace, name }: Target): void {
  const accepted = negotiate(exchange.request.headers.accept);
  const resourceVersion = exchange.query.get("resourceVersion") ?? "";
  if (resourceVersion !== "" && !/^\d+$/.test(resourceVersion)) throw internal(badRevision(resourceVersion));
  if (Number(resourceVersion) > cluster.store.revision()) {
    throw tooLarge(Number(resourceVersion), cluster.store.revision());
  }
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined) throw notFound(resource, name);
  sendObject(exchange, accepted, 200, stored, resource, cluster);
}

function sendObject(
  exchange: Exchange,
  { type, as }: Acceptable,
  status: number,
  stored: StoredObject,
  resource: Resource,
  cluster: Cluster,
): void {
  const text = (): string => {
    switch (as) {
      case undefined:
        return objectText(stored, resource);
      case "PartialObjectMetadata":
        return partialText(stored);
      case "PartialObjectMetadataList":
        throw notAcceptable(
          `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(resource, resource.kind)})`,
        );
      case "Table":
        return tableText(tableOf(exchange.query, resource, cluster), [stored], {
          resourceVersion: String(stored.revision),
        });
    }
  };
  sendJson(exchange, status, text(), type);
}

/** Go's name of the internal type, which some errors show. */
function goTypeOf({ group, custom }: Resource, kind: string): string {
  if (custom !== undefined) return "*unstructured.Unstructured";
  return `*${group === "" ? "core" : group.split(".")[0]}.${kind}`;
}

function serveList(request: ResourceRequest): void {
  const { exchange, cluster, resource, path } = request;
  const accepted = negotiate(exchange.request.headers.accept);
  if (path.isDeprecatedWatch && path.name !== undefined)
    exchange.query.set("fieldSelector", `metadata.name=${path.name}`);
  const options = listOptions(exchange.query, resource, path.isDeprecatedWatch);
  if (options.watch) return serveWatch(request, options, accepted);
  if (accepted.as === "PartialObjectMetadata") {
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (${goTypeOf(resource, resource.listKind)})`,
    );
  }
  const table = accepted.as === "Table" ? tableOf(exchange.query, resource, cluster) : undefined;
  const page = readPage(cluster, resource, path.namespace, options, accepted.as === "PartialObjectMetadataList");
  const metadata: JsonObject = {
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  const text =
    table !== undefined
      ? tableText(table, page.items, metadata)
      : accepted.as === undefined
        ? listText(page.items, resource, metadata)
        : partialListText(page.items, metadata);
  sendJson(exchange, 200, text, accepted.type);
}

async function serveCreate(request: ResourceRequest): Promise<void> {
  const { exchange, cluster, resource, path } = request;
  const options = writeOptions(exchange.query, { userAgent: userAgentOf(exchange), user: exchange.user }, "create");
  const accepted = negotiate(exchange.request.headers.accept);
  const object = await objectToWrite(request, options.fieldValidation);
  const written = createObject(cluster, resource, path.namespace ?? "", object, options);
  answerWritten(request, accepted, written);
}

async function servePatch(request: ResourceRequest, target: Target): Promise<void> {
  const { exchange, cluster, resource } = request;
  const type = patchTypeOf(exchange, resource);
  const options = writeOptions(
    exchange.query,
    { userAgent: userAgentOf(exchange), user: exchange.user },
    type === "apply" ? "apply" : "patch",
  );
  const accepted = negotiate(exchange.request.headers.accept);
  const text = await readBody(exchange);
  if (type === "apply") {
    const body = parsed(
      () => parseYamlBody(text),
      (problem) => badRequest(`error decoding YAML: ${problem}`),
    );
    return answerWritten(
      request,
      accepted,
      applyObject(cluster, target, body, options, (warnings) => warn(exchange, warnings)),
    );
  }
  const { value } = parsed(
    () => parseJsonBody(text),
    // The patch is looked at when the object is there.
    (problem) =>
      cluster.store.get({ resource: resource.key, namespace: target.namespace, name: target.name }) === undefined
        ? notFound(resource, target.name)
        : badRequest(type === "strategic" ? problem : `error decoding patch: ${problem}`),
  );
  answerWritten(request, accepted, patchObject(cluster, target, type, value, options));
}

/** @throws {StatusError} 415 */
export function patchTypeOf(exchange: Exchange, resource: Resource): PatchType | "apply" {
  const contentType = mediaTypeOf(exchange);
  const type = Object.hasOwn(patchTypes, contentType) ? patchTypes[contentType] : undefined;
  if (type === undefined && resource.custom === undefined) {
    throw new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  }
  if (type === undefined || (type === "strategic" && resource.custom !== undefined)) {
    throw unsupportedMediaType(Object.keys(patchTypes).filter((known) => patchTypes[known] !== "strategic"));
  }
  return type;
}

function answerWritten(
  { exchange, cluster, resource }: ResourceRequest,
  accepted: Acceptable,
  { object, created, warnings }: Written,
): void {
  warn(exchange, warnings);
  const status = created ? 201 : 200;
  if (accepted.as === undefined) {
    return sendJson(exchange, status, formatJson(object), accepted.type);
  }
  sendObject(exchange, accepted, status, asStored(object, resource), resource, cluster);
}

/** A written object as if it had been read, for answers that convert. */
function asStored(object: ApiObject, resource: Resource): StoredObject {
  const { name = "", namespace = "", resourceVersion = "0" } = metadataOf(object);
  const key = { resource: resource.key, namespace: plainText(namespace), name: plainText(name) };
  return storedObject(key, object, Number(resourceVersion));
}

/** The object that was sent; what is odd about it goes along with the answer. */
async function objectToWrite(
  { exchange, cluster, resource }: ResourceRequest,
  fieldValidation: FieldValidation,
): Promise<JsonObject> {
  const body = await writeBody(exchange, resource);
  const { object, warnings } = decodeObject(body, resource, cluster.resources, fieldValidation);
  warn(exchange, warnings);
  return object;
}

export async function writeBody(exchange: Exchange, resource: Pick<Resource, "kind">): Promise<ParsedBody> {
  const type = mediaTypeOf(exchange);
  if (type === "application/vnd.kubernetes.protobuf") {
    const value = decodeProtobuf(await readBytes(exchange));
    return { value, json: formatJson(value), repeated: [] };
  }
  const isYaml = type === "application/yaml";
  if (!isYaml && type !== "" && type !== "application/json") throw unsupportedMediaType(writeTypes);
  const text = await readBody(exchange);
  return parsed(
    () => (isYaml ? parseYamlBody(text) : parseJsonBody(text)),
    (problem) => unrecognized(resource, `couldn't get version/kind; json parse error: ${problem}`, text),
  );
}

export function parsed(parse: () => ParsedBody, refuse: (problem: string) => Error): ParsedBody {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(messageOf(error));
  }
}

async function optionalBody(exchange: Exchange): Promise<JsonObject | undefined> {
  const text = await readBody(exchange);
  if (text === "") return undefined;
  const { value } = parsed(
    () => (mediaTypeOf(exchange) === "application/yaml" ? parseYamlBody(text) : parseJsonBody(text)),
    (problem) => badRequest(`couldn't get version/kind; json parse error: ${problem}`),
  );
  return isJsonObject(value) ? value : undefined;
}

function mediaTypeOf({ request }: Exchange): string {
  return (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function userAgentOf({ request }: Exchange): string {
  return request.headers["user-agent"] ?? "unknown";
}
