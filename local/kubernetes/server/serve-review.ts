import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { negotiate } from "./accept.ts";
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
    status: statusOf(resource.kind, exchange.user),
  };
  sendJson(exchange, 201, JSON.stringify(answer), accepted.type);
  return true;
}

function withoutTimes({ creationTimestamp: _creationTimestamp, ...metadata }: JsonObject): JsonObject {
  return metadata;
}

function statusOf(kind: string, { name, groups, isAdmin }: User): JsonObject {
  switch (kind) {
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
