import { type ApiObject, type FieldError, StatusError } from "../core/api-object.ts";
import { invalidValue, notSupported } from "../core/field-errors.ts";
import { formatJson, isJsonObject, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import type { Resource } from "../resource/resource.ts";
import { generationOf } from "../rules/generation.ts";
import { invalid } from "../rules/invalid.ts";
import { deleteAnswersObject, gracePeriodSeconds } from "../rules/verb-rules.ts";
import { type Cluster, metadataOf, parseKept, timestamp } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import { badRequest, forbidden, notFound } from "./errors.ts";
import { kindFacts } from "./prepare-object.ts";
import { definitionsKey } from "./resources.ts";
import { settleAfterWrite, terminatingDefinition } from "./settle-definition.ts";
import { deletedStatus } from "./status.ts";
import { unsupportedDryRun } from "./write-options.ts";

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

const policies = ["Foreground", "Background", "Orphan"] as const;
const protectedNamespaces = new Set(["default", "kube-system", "kube-public"]);

/** From the query, and from the body, which wins. @throws {StatusError} 400 or 422 */
export function deleteOptions(query: URLSearchParams, body: Json | undefined): DeleteOptions {
  const given = isJsonObject(body) ? body : {};
  const { kind = "DeleteOptions", apiVersion = "v1" } = given;
  if (kind !== "DeleteOptions") {
    throw badRequest(
      `no kind "${plainText(kind)}" is registered for version "${plainText(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const policy = textOf(given["propagationPolicy"]) ?? query.get("propagationPolicy") ?? undefined;
  const propagationPolicy = policies.find((known) => known === policy);
  const orphan =
    given["orphanDependents"] ?? (query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined);
  const dryRun = Array.isArray(given["dryRun"]) ? given["dryRun"].map(String) : query.getAll("dryRun");
  const errors: readonly FieldError[] = [
    ...(policy !== undefined && typeof orphan === "boolean"
      ? [invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")]
      : []),
    ...(policy !== undefined && propagationPolicy === undefined
      ? [notSupported("propagationPolicy", policy, [...policies, "nil"])]
      : []),
    ...(dryRun.some((value) => value !== "All" && value !== "") ? [unsupportedDryRun(dryRun)] : []),
  ];
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  const seconds = given["gracePeriodSeconds"] ?? numberIn(query, "gracePeriodSeconds");
  const preconditions = isJsonObject(given["preconditions"]) ? given["preconditions"] : {};
  return {
    dryRun: dryRun.includes("All"),
    gracePeriodSeconds: typeof seconds === "number" ? seconds : undefined,
    propagationPolicy: propagationPolicy ?? (orphan === true ? "Orphan" : undefined),
    uid: textOf(preconditions["uid"]),
    resourceVersion: textOf(preconditions["resourceVersion"]),
  };
}

/**
 * Deletes, or begins to: with finalizers or a grace period the object stays, marked. Answers what a DELETE answers.
 *
 * @throws {StatusError} 403, 404 or 409
 */
export function deleteObject(
  cluster: Cluster,
  resource: Resource,
  namespace: string,
  name: string,
  options: DeleteOptions,
): ApiObject {
  const key = { resource: resource.key, namespace, name };
  const stored = cluster.store.get(key);
  if (stored === undefined) throw notFound(resource, name);
  const kept = parseKept(resource, stored);
  checkPreconditions(resource, name, kept, options);
  const isNamespace = resource.key === "/namespaces";
  if (isNamespace && protectedNamespaces.has(name))
    throw forbidden(resource, name, "this namespace may not be deleted");

  if (resource.key === definitionsKey) return deleteDefinition(cluster, resource, name, kept, options);

  const asked = (object: ApiObject): ApiObject => convertObject(object, resource.storage, resource);
  const marked = markedDeleted(cluster, resource, kept, options);
  const { finalizers, deletionGracePeriodSeconds } = metadataOf(marked);
  const waits = isNamespace
    ? hasContent(marked)
    : deletionGracePeriodSeconds !== 0 || (Array.isArray(finalizers) && finalizers.length > 0);
  if (waits) {
    const isSame = formatJson(marked) === formatJson(kept);
    return asked(isSame || options.dryRun ? marked : parseKept(resource, cluster.store.write(key, marked)));
  }
  // Watchers get a Pod with its deletion marks, as after a last update that is not sent; other objects as they were.
  const last = deleteAnswersObject(resource.storage) && resource.key === "/pods" ? marked : kept;
  if (!options.dryRun) {
    cluster.store.remove(key, last);
    settleAfterWrite(cluster, resource, name, (custom) => deleteAll(cluster, custom));
  }
  return deleteAnswersObject(resource.storage) ? asked(last) : deletedStatus(resource, name, stored.uid);
}

/** A definition goes in two steps: it is marked, then its objects go, then itself. */
function deleteDefinition(
  cluster: Cluster,
  resource: Resource,
  name: string,
  kept: ApiObject,
  options: DeleteOptions,
): ApiObject {
  const marked = terminatingDefinition(kept, timestamp(cluster.now()));
  if (options.dryRun || marked === kept) return marked;
  const stored = cluster.store.write({ resource: resource.key, namespace: "", name }, marked);
  settleAfterWrite(cluster, resource, name, (custom) => deleteAll(cluster, custom));
  return parseKept(resource, stored);
}

export function deleteAll(cluster: Cluster, resource: Resource): void {
  for (const { namespace, name } of cluster.store.list({ resource: resource.key, metadataOnly: true })) {
    deleteObject(cluster, resource, namespace, name, plainDelete);
  }
}

const plainDelete: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  uid: undefined,
  resourceVersion: undefined,
};

function checkPreconditions({ kind, group }: Resource, name: string, kept: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = metadataOf(kept);
  const qualified = group === "" ? kind : `${kind}.${group}`;
  const fail = (why: string): StatusError =>
    new StatusError(409, "Conflict", `Operation cannot be fulfilled on ${qualified} "${name}": ${why}`, {
      name,
      ...(group === "" ? {} : { group }),
      kind,
    });
  if (options.uid !== undefined && options.uid !== uid) {
    throw fail(
      `the UID in the precondition (${options.uid}) does not match the UID in record (${plainText(uid)}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw fail(
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${plainText(resourceVersion)}). The object might have been modified`,
    );
  }
}

/** The object with what a deletion writes to it: finalizers of the policy, times, and a generation more. */
function markedDeleted(cluster: Cluster, resource: Resource, kept: ApiObject, options: DeleteOptions): ApiObject {
  const before = metadataOf(kept);
  const finalizers = finalizersAfter(before["finalizers"], options.propagationPolicy);
  const { finalizers: _finalizers, ...rest } = before;
  const withFinalizers = { ...rest, ...(finalizers.length === 0 ? {} : { finalizers }) };
  if (resource.key === "/namespaces") {
    const metadata = { ...withFinalizers, deletionTimestamp: before["deletionTimestamp"] ?? timestamp(cluster.now()) };
    const status = isJsonObject(kept["status"]) ? kept["status"] : {};
    return { ...kept, metadata, status: { ...status, phase: "Terminating" } };
  }
  const seconds = gracePeriodSeconds(kept, resource.storage, options.gracePeriodSeconds);
  const former = before["deletionGracePeriodSeconds"];
  const grace = typeof former === "number" ? Math.min(former, seconds) : seconds;
  const isShorter = typeof former === "number" && grace < former;
  const deletionTimestamp =
    before["deletionTimestamp"] === undefined || isShorter
      ? timestamp(new Date(cluster.now().getTime() + grace * 1000))
      : before["deletionTimestamp"];
  const marked = { ...kept, metadata: { ...withFinalizers, deletionTimestamp, deletionGracePeriodSeconds: grace } };
  const generation = generationOf(marked, kept, resource.storage, kindFacts(resource));
  return generation === undefined ? marked : { ...marked, metadata: { ...marked.metadata, generation } };
}

function finalizersAfter(value: Json | undefined, policy: DeleteOptions["propagationPolicy"]): readonly string[] {
  const present = Array.isArray(value) ? value.map(String) : [];
  const own =
    policy === undefined ? present : present.filter((one) => one !== "foregroundDeletion" && one !== "orphan");
  if (policy === "Foreground") return [...own, "foregroundDeletion"];
  return policy === "Orphan" ? [...own, "orphan"] : own;
}

function hasContent(namespace: ApiObject): boolean {
  const { spec } = namespace;
  const finalizers = isJsonObject(spec) ? spec["finalizers"] : undefined;
  const own = metadataOf(namespace)["finalizers"];
  return [finalizers, own].some((list) => Array.isArray(list) && list.length > 0);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
