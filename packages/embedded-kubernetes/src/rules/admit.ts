import { type ApiObject, type Gvk, StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { mapObject, numberOf, objectOf, objectsOf, textOf, withDefaults } from "../core/json-fields.ts";

/** Looks up a stored built-in object by its plural resource, for the admission checks. */
export type Lookup = (group: string, resource: string, namespace: string, name: string) => ApiObject | undefined;

const schedulingGroup = "scheduling.k8s.io";
const systemPriorities: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};
const untilEvictedSeconds = 300;

/** What the same plugins make of a Pod that is updated: DefaultTolerationSeconds alone has a say then. */
export function admitUpdate(object: ApiObject, gvk: Gvk): ApiObject {
  return gvk.group === "" && gvk.kind === "Pod" ? mapObject(object, "spec", withTolerations) : object;
}

/**
 * What the admission plugins that are on by default make of a new Pod: ServiceAccount, Priority and
 * DefaultTolerationSeconds. Limits and quotas are not enforced, and no token volume is mounted, as nothing runs.
 *
 * @param askedName as the request has it: its `generateName` where the name was made up for it
 * @throws {StatusError} 403 for a Pod whose ServiceAccount or PriorityClass does not exist
 */
export function admit(object: ApiObject, gvk: Gvk, askedName: string, lookup: Lookup): ApiObject {
  if (gvk.group !== "" || gvk.kind !== "Pod") return object;
  const spec = objectOf(object, "spec") ?? {};
  const metadata = objectOf(object, "metadata");
  const refuse = (detail: string): StatusError => podForbidden(askedName, detail);
  const account = withAccount(spec, textOf(metadata, "namespace"), lookup, refuse);
  return { ...object, spec: withTolerations(withPriority(account, lookup, refuse)) };
}

function withAccount(
  spec: JsonObject,
  namespace: string,
  lookup: Lookup,
  refuse: (detail: string) => StatusError,
): JsonObject {
  const name = textOf(spec, "serviceAccountName") || "default";
  const account = lookup("", "serviceaccounts", namespace, name);
  if (account === undefined) {
    throw refuse(`error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`);
  }
  const secrets = objectsOf(account, "imagePullSecrets");
  const hasOwn = objectsOf(spec, "imagePullSecrets").length > 0;
  return {
    ...spec,
    serviceAccountName: name,
    serviceAccount: name,
    ...(hasOwn || secrets.length === 0 ? {} : { imagePullSecrets: secrets }),
  };
}

function withPriority(spec: JsonObject, lookup: Lookup, refuse: (detail: string) => StatusError): JsonObject {
  const name = textOf(spec, "priorityClassName");
  const known = systemPriorities[name];
  const found = name === "" || known !== undefined ? undefined : lookup(schedulingGroup, "priorityclasses", "", name);
  if (name !== "" && known === undefined && found === undefined) {
    throw refuse(`no PriorityClass with name ${name} was found`);
  }
  const priority = known ?? numberOf(found, "value") ?? 0;
  const given = numberOf(spec, "priority");
  if (given !== undefined && given !== priority) {
    throw refuse(
      `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const policy = textOf(found, "preemptionPolicy") || "PreemptLowerPriority";
  return withDefaults({ ...spec, priority }, { preemptionPolicy: policy });
}

/** A Pod stays some minutes on a node that is gone, unless it says otherwise. */
function withTolerations(spec: JsonObject): JsonObject {
  const tolerations = objectsOf(spec, "tolerations");
  const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter((key) => !tolerations.some((toleration) => tolerates(toleration, key)))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: untilEvictedSeconds }));
  return added.length === 0 ? spec : { ...spec, tolerations: [...tolerations, ...added] };
}

function tolerates(toleration: JsonObject, key: string): boolean {
  const effect = textOf(toleration, "effect");
  const isForKey = textOf(toleration, "key") === key || textOf(toleration, "key") === "";
  return isForKey && (effect === "NoExecute" || effect === "");
}

function podForbidden(name: string, detail: string): StatusError {
  return new StatusError(403, "Forbidden", `pods "${name}" is forbidden: ${detail}`, { name, kind: "pods" });
}
