import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import type { Resource } from "../resource/resource.ts";
import { badRequest } from "./errors.ts";

/** One condition on a field's text; an absent field is the empty text. */
interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

export interface FieldSelector {
  readonly matches: (object: ApiObject) => boolean;
  /** Set where one object alone can match. */
  readonly name: string | undefined;
  /** Name and namespace alone are asked for, so the bodies need not be read. */
  readonly isMetadataOnly: boolean;
}

/** Fields that can be selected besides `metadata.name` and `metadata.namespace`, by `GROUP/PLURAL`. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  "/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  "/secrets": ["type"],
  "/namespaces": ["status.phase"],
  "/nodes": ["spec.unschedulable"],
  "/replicationcontrollers": ["status.replicas"],
  "apps/replicasets": ["status.replicas"],
  "batch/jobs": ["status.successful"],
  "certificates.k8s.io/certificatesigningrequests": ["spec.signerName"],
  "/events": [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
  ],
};

/** What a selectable name means where it is no path of the object. */
const pathOf: Readonly<Record<string, string>> = { source: "source.component" };
const defaultTexts: Readonly<Record<string, string>> = {
  "spec.unschedulable": "false",
  "spec.hostNetwork": "false",
  "status.replicas": "0",
};

/** @throws {StatusError} 400 for what does not parse or cannot be selected */
export function parseFieldSelector(text: string, resource: Resource): FieldSelector | undefined {
  const terms = splitTerms(text).map((part) => parseTerm(part, text));
  if (terms.length === 0) return undefined;
  for (const { field } of terms) checkField(field, resource);
  const named = terms.find(({ field, isEqual }) => field === "metadata.name" && isEqual);
  return {
    matches: (object) => terms.every(({ field, isEqual, value }) => (textAt(object, field) === value) === isEqual),
    name: named?.value,
    isMetadataOnly: terms.every(({ field }) => field.startsWith("metadata.")),
  };
}

/** Parts between commas; a backslash protects a comma. */
function splitTerms(text: string): readonly string[] {
  const parts = text.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return parts.filter((part) => part !== "");
}

function parseTerm(part: string, text: string): Term {
  const match = /^(?<field>(?:\\.|[^=!\\])*)(?<operator>==|!=|=)(?<value>.*)$/s.exec(part)?.groups;
  if (match === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
  const value = (match["value"] ?? "").replace(/\\([\\,=])/g, "$1");
  return { field: match["field"] ?? "", isEqual: match["operator"] !== "!=", value };
}

function checkField(field: string, resource: Resource): void {
  if (field === "metadata.name" || (field === "metadata.namespace" && resource.namespaced)) return;
  if (resource.custom !== undefined) {
    if (resource.custom.selectableFields.includes(field)) return;
    throw badRequest(`field label not supported: ${field}`);
  }
  const known = selectable[resource.key];
  if (known?.includes(field) === true || field === "metadata.namespace") return;
  throw badRequest(
    known === undefined
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : resource.kind === "Job"
        ? `field label "${field}" not supported for Job`
        : `field label not supported: ${field}`,
  );
}

function textAt(object: ApiObject, field: string): string {
  let value: Json | undefined = object;
  for (const step of (pathOf[field] ?? field).split(".")) {
    value = isJsonObject(value) ? value[step] : undefined;
  }
  if (value === undefined || value === null) return defaultTexts[field] ?? "";
  return plainText(value);
}
