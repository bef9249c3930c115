import { formatJson, isJsonObject, type JsonObject } from "../core/json.ts";
import { negotiate } from "./accept.ts";
import { type AccessRequest, isAllowed } from "./authorize.ts";
import type { Cluster } from "./cluster.ts";
import { decodeObject } from "./decode-object.ts";
import { methodNotAllowed } from "./errors.ts";
import { sendJson } from "./exchange.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { writeBody } from "./serve-resource.ts";
import type { User } from "./users.ts";

/** Kinds that are asked and answered, never stored. */
const reviews = new Set([
  "SelfSubjectAccessReview",
  "SelfSubjectReview",
  "SelfSubjectRulesReview",
  "SubjectAccessReview",
  "LocalSubjectAccessReview",
]);

/** Whether the request was a review, and is answered. */
export async function serveReview({ exchange, cluster, resource, path }: ResourceRequest): Promise<boolean> {
  if (resource.custom !== undefined || !reviews.has(resource.kind) || path.subresource !== undefined) return false;
  if (exchange.method !== "POST") throw methodNotAllowed();
  const accepted = negotiate(exchange.request.headers.accept);
  const body = await writeBody(exchange, resource);
  const { object } = decodeObject(body, resource, cluster.resources, "Ignore");
  const { kind, apiVersion, metadata, spec } = object;
  const answer = {
    kind: kind ?? null,
    apiVersion: apiVersion ?? null,
    metadata: isJsonObject(metadata) ? withoutTimes(metadata) : {},
    ...(spec === undefined ? {} : { spec }),
    status: statusOf(resource.kind, spec, exchange.user, cluster),
  };
  sendJson(exchange, 201, formatJson(answer), accepted.type);
  return true;
}

function withoutTimes({ creationTimestamp: _creationTimestamp, ...metadata }: JsonObject): JsonObject {
  return metadata;
}

function statusOf(kind: string, spec: unknown, user: User, cluster: Cluster): JsonObject {
  const { name, groups, isAdmin } = user;
  switch (kind) {
    case "SelfSubjectAccessReview":
      return { allowed: isAdmin || isAllowed(user, askedIn(spec), cluster) };
    case "SelfSubjectReview":
      return { userInfo: { username: name, groups } };
    case "SelfSubjectRulesReview":
      return {
        resourceRules: isAdmin ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] : [],
        nonResourceRules: isAdmin ? [{ verbs: ["*"], nonResourceURLs: ["*"] }] : [],
        incomplete: false,
      };
    default:
      return { allowed: isAdmin };
  }
}

/** A request for what no role has, where the review names no resource. */
function askedIn(spec: unknown): AccessRequest {
  const attributes = isJsonObject(spec) && isJsonObject(spec["resourceAttributes"]) ? spec["resourceAttributes"] : {};
  const text = (field: string): string => (typeof attributes[field] === "string" ? attributes[field] : "");
  const [subresource, namespace, name] = [text("subresource"), text("namespace"), text("name")];
  return {
    verb: text("verb"),
    group: text("group"),
    resource: subresource === "" ? text("resource") : `${text("resource")}/${subresource}`,
    namespace: namespace === "" ? undefined : namespace,
    name: name === "" ? undefined : name,
  };
}
