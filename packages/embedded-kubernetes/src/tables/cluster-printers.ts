import type { ApiObject } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { ageOf, ageSince } from "./age.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

export const configMapPrinter: Printer = {
  columns: [nameColumn, column("Data"), ageColumn],
  cells: (object, now) => [
    metadataText(object, "name"),
    sizeOf(object, "data") + sizeOf(object, "binaryData"),
    ageOf(object, now),
  ],
};

export const secretPrinter: Printer = {
  columns: [nameColumn, column("Type"), column("Data"), ageColumn],
  cells: (object, now) => [
    metadataText(object, "name"),
    textOf(object, "type"),
    sizeOf(object, "data"),
    ageOf(object, now),
  ],
};

export const namespacePrinter: Printer = {
  columns: [nameColumn, column("Status"), ageColumn],
  cells: (object, now) => [
    metadataText(object, "name"),
    textOf(objectOf(object, "status"), "phase"),
    ageOf(object, now),
  ],
};

export const serviceAccountPrinter: Printer = {
  columns: [nameColumn, ageColumn],
  cells: (object, now) => [metadataText(object, "name"), ageOf(object, now)],
};

export const nodePrinter: Printer = {
  columns: [
    nameColumn,
    column("Status"),
    column("Roles"),
    ageColumn,
    column("Version"),
    ...["Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"].map((name) =>
      column(name, "string", 1),
    ),
  ],
  cells: (object, now) => {
    const status = objectOf(object, "status");
    const info = objectOf(status, "nodeInfo");
    const ready = objectsOf(status, "conditions").find((one) => one["type"] === "Ready");
    const state = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
    const prefix = "node-role.kubernetes.io/";
    const labels = Object.keys(objectOf(objectOf(object, "metadata"), "labels") ?? {});
    const roles = labels.filter((label) => label.startsWith(prefix)).map((label) => label.slice(prefix.length));
    const isCordoned = objectOf(object, "spec")?.["unschedulable"] === true;
    return [
      metadataText(object, "name"),
      isCordoned ? `${state},SchedulingDisabled` : state,
      roles.length === 0 ? "<none>" : roles.toSorted().join(","),
      ageOf(object, now),
      textOf(info, "kubeletVersion"),
      ...["InternalIP", "ExternalIP"].map((type) => addressOf(status, type)),
      ...["osImage", "kernelVersion", "containerRuntimeVersion"].map((field) => textOf(info, field) || "<unknown>"),
    ];
  },
};

export const definitionPrinter: Printer = {
  columns: [nameColumn, column("Created At", "date")],
  cells: (object) => [metadataText(object, "name"), metadataText(object, "creationTimestamp")],
};

/** Events of either group: the fields differ in name alone. */
export const eventPrinter: Printer = {
  columns: [
    column("Last Seen"),
    column("Type"),
    column("Reason"),
    column("Object"),
    column("Subobject", "string", 1),
    column("Source", "string", 1),
    column("Message"),
    column("First Seen", "string", 1),
    column("Count", "string", 1),
    column("Name", "string", 1),
  ],
  cells: eventCells,
};

function eventCells(event: ApiObject, now: Date): readonly Json[] {
  const object = objectOf(event, "involvedObject") ?? objectOf(event, "regarding");
  const source = objectOf(event, "source") ?? objectOf(event, "deprecatedSource");
  const series = objectOf(event, "series");
  const first =
    textOf(event, "firstTimestamp") || textOf(event, "deprecatedFirstTimestamp") || textOf(event, "eventTime");
  const last =
    textOf(series, "lastObservedTime") ||
    textOf(event, "lastTimestamp") ||
    textOf(event, "deprecatedLastTimestamp") ||
    first;
  const component =
    textOf(source, "component") || textOf(event, "reportingComponent") || textOf(event, "reportingController");
  const host = textOf(source, "host") || textOf(event, "reportingInstance");
  const count = numberOf(series, "count") ?? numberOf(event, "count") ?? numberOf(event, "deprecatedCount") ?? 1;
  return [
    ageSince(last, now),
    textOf(event, "type"),
    textOf(event, "reason"),
    `${textOf(object, "kind").toLowerCase()}/${textOf(object, "name")}`,
    textOf(object, "fieldPath"),
    host === "" || component === "" ? component : `${component}, ${host}`,
    (textOf(event, "message") || textOf(event, "note")).trim(),
    ageSince(first, now),
    count,
    metadataText(event, "name"),
  ];
}

export const priorityClassPrinter: Printer = {
  columns: [
    nameColumn,
    column("Value", "integer"),
    column("Global-Default", "boolean"),
    ageColumn,
    column("PreemptionPolicy"),
  ],
  cells: (object, now) => [
    metadataText(object, "name"),
    numberOf(object, "value") ?? 0,
    object["globalDefault"] === true,
    ageOf(object, now),
    textOf(object, "preemptionPolicy"),
  ],
};

export const leasePrinter: Printer = {
  columns: [nameColumn, column("Holder"), ageColumn],
  cells: (object, now) => [
    metadataText(object, "name"),
    textOf(objectOf(object, "spec"), "holderIdentity"),
    ageOf(object, now),
  ],
};

/** Webhook configurations: how many webhooks each has. */
export const webhooksPrinter: Printer = {
  columns: [nameColumn, column("Webhooks", "integer"), ageColumn],
  cells: (object, now) => [metadataText(object, "name"), itemsOf(object, "webhooks").length, ageOf(object, now)],
};

export const revisionPrinter: Printer = {
  columns: [nameColumn, column("Controller"), column("Revision"), ageColumn],
  cells: (object, now) => {
    const owner = objectsOf(objectOf(object, "metadata"), "ownerReferences").find((one) => one["controller"] === true);
    const group = textOf(owner, "apiVersion").includes("/")
      ? `.${textOf(owner, "apiVersion").split("/")[0] ?? ""}`
      : "";
    const controller =
      owner === undefined ? "<none>" : `${textOf(owner, "kind").toLowerCase()}${group}/${textOf(owner, "name")}`;
    return [metadataText(object, "name"), controller, numberOf(object, "revision") ?? 0, ageOf(object, now)];
  },
};

export const runtimeClassPrinter: Printer = {
  columns: [nameColumn, column("Handler"), ageColumn],
  cells: (object, now) => [metadataText(object, "name"), textOf(object, "handler"), ageOf(object, now)],
};

function addressOf(status: JsonObject | undefined, type: string): string {
  const address = objectsOf(status, "addresses").find((one) => one["type"] === type);
  return textOf(address, "address") || "<none>";
}

function sizeOf(object: ApiObject, field: string): number {
  return Object.keys(objectOf(object, field) ?? {}).length;
}
