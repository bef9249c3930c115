import { invalidValue } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, oneOf, requiredText } from "./checks.ts";
import { qualifiedName } from "./name-rules.ts";
import { immutable } from "./workloads.ts";

/** Leases and the other small kinds of a cluster. */
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
