import type { JsonObject } from "../../../../lib/core/json.ts";
import { duplicate, invalidValue, required } from "../field-errors.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../json-fields.ts";
import { type Errors, each, named, none, oneOf, optionalOneOf, requiredText } from "./checks.ts";
import { dnsSubdomain, qualifiedName } from "./name-rules.ts";
import { selectorErrors } from "./selectors.ts";
import { immutable } from "./workloads.ts";

/** Webhook configurations, leases and the other small kinds of a cluster. */
export function webhooksErrors(object: JsonObject): Errors {
  const names = new Set<string>();
  return each(objectsOf(object, "webhooks"), "webhooks", (webhook, path) => {
    const name = textOf(webhook, "name");
    const isTaken = names.has(name);
    names.add(name);
    return [...(isTaken ? [duplicate(`${path}.name`, name)] : none), ...webhookErrors(webhook, name, path)];
  });
}

function webhookErrors(webhook: JsonObject, name: string, path: string): Errors {
  const timeout = numberOf(webhook, "timeoutSeconds") ?? 10;
  const versions = textsOf(webhook, "admissionReviewVersions");
  const client = objectOf(webhook, "clientConfig");
  const hasUrl = client?.["url"] !== undefined;
  const hasService = objectOf(client, "service") !== undefined;
  return [
    ...fullyQualified(name, `${path}.name`),
    ...(versions.length === 0
      ? [required(`${path}.admissionReviewVersions`, "must specify one of v1, v1beta1")]
      : none),
    ...optionalOneOf(webhook, "failurePolicy", path, ["Fail", "Ignore"]),
    ...optionalOneOf(webhook, "matchPolicy", path, ["Equivalent", "Exact"]),
    ...(textOf(webhook, "sideEffects") === ""
      ? [required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun")]
      : oneOf(`${path}.sideEffects`, textOf(webhook, "sideEffects"), ["None", "NoneOnDryRun"])),
    ...(timeout < 1 || timeout > 30
      ? [invalidValue(`${path}.timeoutSeconds`, timeout, `the timeout value must be between 1 and 30 seconds`)]
      : none),
    ...selectorErrors(objectOf(webhook, "namespaceSelector"), `${path}.namespaceSelector`),
    ...selectorErrors(objectOf(webhook, "objectSelector"), `${path}.objectSelector`),
    ...(hasUrl === hasService ? [required(`${path}.clientConfig`, "exactly one of url or service is required")] : none),
  ];
}

function fullyQualified(name: string, path: string): Errors {
  if (name === "") return [required(path)];
  const problems = named(path, name, dnsSubdomain);
  if (problems.length > 0) return problems;
  return name.split(".").length < 3
    ? [invalidValue(path, name, "should be a domain with at least three segments separated by dots")]
    : none;
}

export function leaseErrors(object: JsonObject): Errors {
  const spec = objectOf(object, "spec");
  const seconds = numberOf(spec, "leaseDurationSeconds");
  const transitions = numberOf(spec, "leaseTransitions");
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
      : none),
    ...(transitions !== undefined && transitions < 0
      ? [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
      : none),
  ];
}

export function runtimeClassErrors(object: JsonObject): Errors {
  return requiredText("handler", textOf(object, "handler"));
}

export function csiDriverUpdateErrors(object: JsonObject, old: JsonObject): Errors {
  const [spec, before] = [objectOf(object, "spec"), objectOf(old, "spec")];
  return ["attachRequired", "fsGroupPolicy"].flatMap((field) =>
    immutable(`spec.${field}`, spec?.[field], before?.[field]),
  );
}

export function nodeErrors(object: JsonObject): Errors {
  return each(objectsOf(objectOf(object, "spec"), "taints"), "spec.taints", (taint, path) => [
    ...named(`${path}.key`, textOf(taint, "key"), qualifiedName),
    ...oneOf(`${path}.effect`, textOf(taint, "effect"), ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  ]);
}

/** An Event speaks of an object in its own namespace. */
export function eventErrors(object: JsonObject): Errors {
  const involved = objectOf(object, "involvedObject") ?? objectOf(object, "regarding");
  const namespace = textOf(objectOf(object, "metadata"), "namespace");
  const about = textOf(involved, "namespace");
  const isCluster = about === "" && (namespace === "default" || namespace === "kube-system");
  return about === namespace || isCluster
    ? none
    : [invalidValue("involvedObject.namespace", about, "does not match event.namespace")];
}

export function endpointSliceErrors(object: JsonObject): Errors {
  return oneOf("addressType", textOf(object, "addressType"), ["FQDN", "IPv4", "IPv6"]);
}

export function namespaceStatusErrors(object: JsonObject, old: JsonObject): Errors {
  const isDeleting = textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
  const phase = textOf(objectOf(object, "status"), "phase");
  const before = textOf(objectOf(old, "status"), "phase");
  if (isDeleting && phase !== "Terminating" && phase !== before) {
    return [invalidValue("status.Phase", phase, "must be 'Terminating' if `deletionTimestamp` is not empty")];
  }
  return !isDeleting && phase !== "Active" && phase !== before
    ? [invalidValue("status.Phase", phase, "must be 'Active' if `deletionTimestamp` is empty")]
    : none;
}
