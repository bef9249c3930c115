import { type ApiObject, StatusError } from "../core/api-object.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { qualifiedName, type Resource } from "../resource/resource.ts";
import { isAllowed, roleOf, rulesIn, textsIn } from "./authorize.ts";
import { type Cluster, metadataOf } from "./cluster.ts";
import { forbidden } from "./errors.ts";
import type { User } from "./users.ts";

const rbac = "rbac.authorization.k8s.io";

/**
 * Keeps a user from granting rights that he does not have: by a role unless he may `escalate`, by a binding unless he may `bind`
 * its role. A change that grants nothing new is not checked.
 *
 * @throws {StatusError} 403, and 404 for a binding whose role is not there
 */
export function checkGrants(
  cluster: Cluster,
  resource: Resource,
  after: ApiObject,
  before: ApiObject | undefined,
  user: User | undefined,
): void {
  if (user === undefined || user.isAdmin || resource.group !== rbac) return;
  const { name: given, namespace: within } = metadataOf(after);
  const [name, namespace] = [plainText(given ?? ""), typeof within === "string" ? within : undefined];
  const granted = { cluster, resource, name, namespace, user };
  if (resource.kind === "Role" || resource.kind === "ClusterRole") {
    if (JSON.stringify(before?.["rules"] ?? []) === JSON.stringify(after["rules"] ?? [])) return;
    const asked = { verb: "escalate", group: rbac, resource: resource.plural, namespace, name };
    if (!isAllowed(user, asked, cluster)) checkHeld(granted, rulesIn(after));
  } else if (resource.kind === "RoleBinding" || resource.kind === "ClusterRoleBinding") {
    const same = (field: string) => JSON.stringify(before?.[field]) === JSON.stringify(after[field]);
    if (before !== undefined && same("roleRef") && same("subjects")) return;
    checkBinding(granted, isJsonObject(after["roleRef"]) ? after["roleRef"] : {});
  }
}

interface Granted {
  readonly cluster: Cluster;
  readonly resource: Resource;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly user: User;
}

function checkBinding(granted: Granted, roleRef: JsonObject): void {
  const { cluster, namespace, resource, user } = granted;
  const role = plainText(roleRef["name"] ?? "");
  const plural = roleRef["kind"] === "Role" ? "roles" : "clusterroles";
  if (isAllowed(user, { verb: "bind", group: rbac, resource: plural, namespace, name: role }, cluster)) return;
  const found = roleOf(cluster, roleRef, namespace ?? "");
  if (found === undefined) {
    const details = { name: role, group: rbac, kind: resource.plural };
    throw new StatusError(404, "NotFound", `${qualifiedName(resource)} "${role}" not found`, details);
  }
  checkHeld(granted, rulesIn(found));
}

function checkHeld({ cluster, resource, name, namespace, user }: Granted, rules: readonly JsonObject[]): void {
  const missing = rules.filter((rule) => !isHeld(rule, namespace, user, cluster));
  if (missing.length === 0) return;
  const groups = `[${user.groups.map((group) => JSON.stringify(group)).join(" ")}]`;
  const shown = missing.map(compactRule).toSorted().join("\n");
  throw forbidden(
    resource,
    name,
    `user ${JSON.stringify(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${shown}`,
  );
}

/** Whether each right of the rule, taken for itself, is one of the user's. */
function isHeld(rule: JsonObject, namespace: string | undefined, user: User, cluster: Cluster): boolean {
  if (textsIn(rule["nonResourceURLs"]).length > 0) return false;
  const names = textsIn(rule["resourceNames"]);
  return textsIn(rule["verbs"]).every((verb) =>
    textsIn(rule["apiGroups"]).every((group) =>
      textsIn(rule["resources"]).every((plural) =>
        (names.length === 0 ? [undefined] : names).every((name) =>
          isAllowed(user, { verb, group, resource: plural, namespace, name }, cluster),
        ),
      ),
    ),
  );
}

/** As kube-apiserver shows a rule: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
function compactRule(rule: JsonObject): string {
  const parts = [
    ["APIGroups", rule["apiGroups"]],
    ["Resources", rule["resources"]],
    ["ResourceNames", rule["resourceNames"]],
    ["NonResourceURLs", rule["nonResourceURLs"]],
    ["Verbs", rule["verbs"]],
  ] as const;
  const shown = parts.flatMap(([field, list]) => {
    const texts = textsIn(list);
    return texts.length === 0 ? [] : [`${field}:[${texts.map((text) => JSON.stringify(text)).join(" ")}]`];
  });
  return `{${shown.join(", ")}}`;
}
