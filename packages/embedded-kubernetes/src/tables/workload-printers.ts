import type { ApiObject } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { ageOf, ageSince, durationText } from "./age.ts";
import { selectorText } from "./selector-text.ts";
import { ageColumn, type Column, column, metadataText, nameColumn, type Printer } from "./table.ts";

const containers = column("Containers", "string", 1);
const images = column("Images", "string", 1);
const selector = column("Selector", "string", 1);

export const deploymentPrinter = workloadPrinter(
  [column("Ready"), column("Up-to-date"), column("Available")],
  (object) => [
    `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`,
    count(object, "status", "updatedReplicas"),
    count(object, "status", "availableReplicas"),
  ],
);

export const replicaSetPrinter = workloadPrinter(
  [column("Desired", "integer"), column("Current", "integer"), column("Ready", "integer")],
  (object) => [
    count(object, "spec", "replicas"),
    count(object, "status", "replicas"),
    count(object, "status", "readyReplicas"),
  ],
);

export const statefulSetPrinter: Printer = {
  columns: [nameColumn, column("Ready"), ageColumn, containers, images],
  cells: (object, now) => [
    metadataText(object, "name"),
    `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`,
    ageOf(object, now),
    ...templateCells(object),
  ],
};

const daemonCounts = [
  ["Desired", "desiredNumberScheduled"],
  ["Current", "currentNumberScheduled"],
  ["Ready", "numberReady"],
  ["Up-to-date", "updatedNumberScheduled"],
  ["Available", "numberAvailable"],
] as const;

export const daemonSetPrinter = workloadPrinter(
  [...daemonCounts.map(([name]) => column(name, "integer")), column("Node Selector")],
  (object) => [
    ...daemonCounts.map(([, field]) => count(object, "status", field)),
    selectorText(objectOf(objectOf(objectOf(objectOf(object, "spec"), "template"), "spec"), "nodeSelector")),
  ],
);

export const jobPrinter = workloadPrinter(
  [column("Status"), column("Completions"), column("Duration")],
  (object, now) => [
    jobStatus(object),
    `${count(object, "status", "succeeded")}/${numberOf(objectOf(object, "spec"), "completions") ?? 1}`,
    jobDuration(objectOf(object, "status"), now),
  ],
);

export const cronJobPrinter: Printer = {
  columns: [
    nameColumn,
    column("Schedule"),
    column("Timezone"),
    column("Suspend", "boolean"),
    column("Active", "integer"),
    column("Last Schedule"),
    ageColumn,
    containers,
    images,
    selector,
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const status = objectOf(object, "status");
    const last = textOf(status, "lastScheduleTime");
    const job = objectOf(objectOf(spec, "jobTemplate"), "spec");
    return [
      metadataText(object, "name"),
      textOf(spec, "schedule"),
      textOf(spec, "timeZone") || "<none>",
      spec?.["suspend"] === true ? "True" : "False",
      itemsOf(status, "active").length,
      last === "" ? "<none>" : ageSince(last, now),
      ageOf(object, now),
      ...containerCells(objectOf(objectOf(job, "template"), "spec")),
      selectorText(objectOf(job, "selector")),
    ];
  },
};

/** A workload's name, what its kind has to say, and its age; wide, its template's containers and its selector too. */
function workloadPrinter(columns: readonly Column[], cellsOf: Printer["cells"]): Printer {
  return {
    columns: [nameColumn, ...columns, ageColumn, containers, images, selector],
    cells: (object, now) => [
      metadataText(object, "name"),
      ...cellsOf(object, now),
      ageOf(object, now),
      ...templateCells(object),
      selectorText(objectOf(objectOf(object, "spec"), "selector")),
    ],
  };
}

function jobStatus(job: ApiObject): string {
  const conditions = objectsOf(objectOf(job, "status"), "conditions").filter((one) => one["status"] === "True");
  const has = (type: string): boolean => conditions.some((one) => one["type"] === type);
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (textOf(objectOf(job, "metadata"), "deletionTimestamp") !== "") return "Terminating";
  if (has("Suspended")) return "Suspended";
  return has("FailureTarget") ? "FailureTarget" : "Running";
}

function jobDuration(status: JsonObject | undefined, now: Date): string {
  const start = Date.parse(textOf(status, "startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(textOf(status, "completionTime"));
  return durationText(((Number.isNaN(end) ? now.getTime() : end) - start) / 1000);
}

function templateCells(object: ApiObject): readonly Json[] {
  return containerCells(objectOf(objectOf(objectOf(object, "spec"), "template"), "spec"));
}

function containerCells(podSpec: JsonObject | undefined): readonly Json[] {
  const list = objectsOf(podSpec, "containers");
  return [
    list.map((container) => textOf(container, "name")).join(","),
    list.map((container) => textOf(container, "image")).join(","),
  ];
}

function count(object: ApiObject, part: "spec" | "status", field: string): number {
  return numberOf(objectOf(object, part), field) ?? 0;
}
