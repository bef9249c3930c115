import { StatusError } from "../core/api-object.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { parseStored } from "../store/stored-object.ts";
import type { Cluster } from "./cluster.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestPath } from "./request-path.ts";
import type { User } from "./users.ts";

const openPaths = new Set(["healthz", "readyz", "livez", "version"]);
/** What the ClusterRole `system:discovery` lets every authenticated user read. */
const discoveryPaths = new Set(["api", "apis", "openapi"]);

/** What a request asks to do, as the rules of roles name it. */
export interface AccessRequest {
  readonly verb: string;
  readonly group: string;
  /** Plural, with `/<subresource>` where one is asked for. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/**
 * Lets a request through if the roles of its user allow it.
 *
 * @param parts of the path, decoded
 * @param path what they mean; undefined if they are no path of the API
 * @throws {StatusError} 403, in kube-apiserver's words
 */
export function authorize(
  { method, user, query, path: whole }: Exchange,
  parts: readonly string[],
  path: RequestPath | undefined,
  cluster: Cluster,
): void {
  if (user.isAdmin || openPaths.has(parts[0] ?? "")) return;
  const isKnown = user.groups.includes("system:authenticated");
  if (path === undefined && isKnown && method === "GET" && discoveryPaths.has(parts[0] ?? "")) return;
  if (path === undefined) {
    const asked = `cannot ${method.toLowerCase()} path "${whole}"`;
    throw new StatusError(403, "Forbidden", `forbidden: User "${user.name}" ${asked}`, {});
  }
  const { group, plural, subresource, namespace, name } = path;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const verb = verbOf(method, name, query);
  if (isAllowed(user, { verb, group, resource, namespace, name }, cluster)) return;
  const object = name === undefined ? "" : ` "${name}"`;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const qualified = group === "" ? plural : `${plural}.${group}`;
  const message = `${qualified}${object} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
  throw new StatusError(403, "Forbidden", message, {
    ...(name === undefined ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind: plural,
  });
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
      if (name !== undefined) return "get";
      return query.get("watch") === null ? "list" : "watch";
  }
}

const rbac = "rbac.authorization.k8s.io";

/** Whether a role that is bound to the user allows the request: for the whole cluster, or in its namespace. */
export function isAllowed(user: User, asked: AccessRequest, cluster: Cluster): boolean {
  const bindings = [
    ...bindingsOf(cluster, "ClusterRoleBinding", ""),
    ...(asked.namespace === undefined ? [] : bindingsOf(cluster, "RoleBinding", asked.namespace)),
  ];
  return bindings
    .filter(({ subjects, namespace }) => subjects.some((subject) => isSubject(subject, user, namespace)))
    .some(({ roleRef, namespace }) => rulesOf(cluster, roleRef, namespace).some((rule) => allows(rule, asked)));
}

interface Binding {
  readonly namespace: string;
  readonly subjects: readonly JsonObject[];
  readonly roleRef: JsonObject;
}

function bindingsOf(
  { store }: Cluster,
  kind: "ClusterRoleBinding" | "RoleBinding",
  namespace: string,
): readonly Binding[] {
  const found = store.list({ resource: `${rbac}/${kind.toLowerCase()}s`, ...(namespace === "" ? {} : { namespace }) });
  return found.map((stored) => {
    const { subjects, roleRef } = parseStored(stored, `${rbac}/v1`, kind);
    return { namespace, subjects: objectsIn(subjects), roleRef: isJsonObject(roleRef) ? roleRef : {} };
  });
}

/** A service account without a namespace is one of the binding's. */
function isSubject({ kind, name, namespace }: JsonObject, user: User, ofBinding: string): boolean {
  if (typeof name !== "string") return false;
  if (kind === "User") return name === user.name;
  if (kind === "Group") return user.groups.includes(name);
  const within = typeof namespace === "string" ? namespace : ofBinding;
  return kind === "ServiceAccount" && user.name === `system:serviceaccount:${within}:${name}`;
}

function rulesOf(cluster: Cluster, roleRef: JsonObject, namespace: string): readonly JsonObject[] {
  return rulesIn(roleOf(cluster, roleRef, namespace) ?? {});
}

/** The role that a binding of this namespace names, if it is there. */
export function roleOf({ store }: Cluster, { kind, name }: JsonObject, namespace: string): JsonObject | undefined {
  if ((kind !== "Role" && kind !== "ClusterRole") || typeof name !== "string") return undefined;
  const key = { resource: `${rbac}/${kind.toLowerCase()}s`, namespace: kind === "Role" ? namespace : "", name };
  const stored = store.get(key);
  return stored && parseStored(stored, `${rbac}/v1`, kind);
}

export function rulesIn({ rules }: JsonObject): readonly JsonObject[] {
  return objectsIn(rules);
}

function allows({ verbs, apiGroups, resources, resourceNames }: JsonObject, asked: AccessRequest): boolean {
  const [, subresource] = asked.resource.split("/");
  const names = textsIn(resourceNames);
  return (
    hasOne(verbs, [asked.verb, "*"]) &&
    hasOne(apiGroups, [asked.group, "*"]) &&
    hasOne(resources, [asked.resource, "*", ...(subresource === undefined ? [] : [`*/${subresource}`])]) &&
    (names.length === 0 || (asked.name !== undefined && names.includes(asked.name)))
  );
}

function hasOne(list: unknown, wanted: readonly string[]): boolean {
  return textsIn(list).some((text) => wanted.includes(text));
}

export function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
