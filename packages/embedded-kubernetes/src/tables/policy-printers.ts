import type { ApiObject } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { plainText } from "../core/plain-text.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

export const autoscalerPrinter: Printer = {
  columns: [
    nameColumn,
    ...["Reference", "Targets", "MinPods", "MaxPods", "Replicas"].map((name) => column(name)),
    ageColumn,
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const target = objectOf(spec, "scaleTargetRef");
    const minimum = numberOf(spec, "minReplicas");
    return [
      metadataText(object, "name"),
      `${textOf(target, "kind")}/${textOf(target, "name")}`,
      targetsOf(object),
      minimum === undefined ? "<unset>" : String(minimum),
      numberOf(spec, "maxReplicas") ?? 0,
      numberOf(objectOf(object, "status"), "currentReplicas") ?? 0,
      ageOf(object, now),
    ];
  },
};

/** At most two metrics, `CURRENT/TARGET` each; a v1 object has one for the CPU. */
function targetsOf(object: ApiObject): string {
  const spec = objectOf(object, "spec");
  const current = objectsOf(objectOf(object, "status"), "currentMetrics");
  const cpu = numberOf(spec, "targetCPUUtilizationPercentage");
  if (cpu !== undefined) {
    const now = numberOf(objectOf(object, "status"), "currentCPUUtilizationPercentage");
    return `cpu: ${now === undefined ? "<unknown>" : `${now}%`}/${cpu}%`;
  }
  const texts = objectsOf(spec, "metrics").map((metric, index) => targetText(metric, current[index]));
  if (texts.length === 0) return "<none>";
  const more = texts.length > 2 ? ` + ${texts.length - 2} more...` : "";
  return `${texts.slice(0, 2).join(", ")}${more}`;
}

const metricParts: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

function targetText(metric: JsonObject, current: JsonObject | undefined): string {
  const type = textOf(metric, "type");
  const part = metricParts[type] ?? "";
  const target = objectOf(objectOf(metric, part), "target");
  const live = objectOf(objectOf(current, part), "current");
  const wanted = valueText(target);
  const now = live === undefined || valueText(live) === "" ? "<unknown>" : valueText(live);
  const average = textOf(target, "averageValue") !== "" && (type === "Object" || type === "External") ? " (avg)" : "";
  const name = type === "Resource" || type === "ContainerResource" ? `${textOf(objectOf(metric, part), "name")}: ` : "";
  return `${name}${now}/${wanted}${average}`;
}

function valueText(value: JsonObject | undefined): string {
  const utilization = numberOf(value, "averageUtilization");
  if (utilization !== undefined) return `${utilization}%`;
  return textOf(value, "averageValue") || textOf(value, "value");
}

export const disruptionBudgetPrinter: Printer = {
  columns: [
    nameColumn,
    column("Min Available"),
    column("Max Unavailable"),
    column("Allowed Disruptions", "integer"),
    ageColumn,
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const shown = (value: Json | undefined): string =>
      typeof value === "string" || typeof value === "number" ? String(value) : "N/A";
    return [
      metadataText(object, "name"),
      shown(spec?.["minAvailable"]),
      shown(spec?.["maxUnavailable"]),
      numberOf(objectOf(object, "status"), "disruptionsAllowed") ?? 0,
      ageOf(object, now),
    ];
  },
};

export const bindingPrinter: Printer = {
  columns: [
    nameColumn,
    column("Role"),
    ageColumn,
    column("Users", "string", 1),
    column("Groups", "string", 1),
    column("ServiceAccounts", "string", 1),
  ],
  cells: (object, now) => {
    const role = objectOf(object, "roleRef");
    const subjects = objectsOf(object, "subjects");
    const named = (kind: string): string =>
      subjects
        .filter((subject) => subject["kind"] === kind)
        .map(
          (subject) => (kind === "ServiceAccount" ? `${textOf(subject, "namespace")}/` : "") + textOf(subject, "name"),
        )
        .join(", ");
    return [
      metadataText(object, "name"),
      `${textOf(role, "kind")}/${textOf(role, "name")}`,
      ageOf(object, now),
      ...["User", "Group", "ServiceAccount"].map(named),
    ];
  },
};

/** Roles show when they were made, as a time. */
export const rolePrinter: Printer = {
  columns: [nameColumn, column("Created At", "date")],
  cells: (object) => [metadataText(object, "name"), metadataText(object, "creationTimestamp")],
};

export const limitRangePrinter: Printer = {
  columns: [nameColumn, column("Created At", "date")],
  cells: (object) => [metadataText(object, "name"), metadataText(object, "creationTimestamp")],
};

/** Used and hard amounts, those of limits apart. */
export const quotaPrinter: Printer = {
  columns: [nameColumn, column("Request"), column("Limit"), ageColumn],
  cells: (object, now) => {
    const status = objectOf(object, "status");
    const hard = Object.entries(objectOf(status, "hard") ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const used = objectOf(status, "used");
    const shown = (isLimit: boolean): string =>
      hard
        .filter(([name]) => name.startsWith("limits.") === isLimit)
        .map(([name, amount]) => `${name}: ${plainText(used?.[name] ?? "0")}/${plainText(amount)}`)
        .join(", ");
    return [metadataText(object, "name"), shown(false), shown(true), ageOf(object, now)];
  },
};
