import type { ApiObject } from "../core/api-object.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../core/json-fields.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

export const podPrinter: Printer = {
  columns: [
    nameColumn,
    column("Ready"),
    column("Status"),
    column("Restarts"),
    ageColumn,
    column("IP", "string", 1),
    column("Node", "string", 1),
    column("Nominated Node", "string", 1),
    column("Readiness Gates", "string", 1),
  ],
  cells: podCells,
};

function podCells(pod: ApiObject, now: Date): readonly Json[] {
  const spec = objectOf(pod, "spec");
  const status = objectOf(pod, "status");
  const containers = objectsOf(status, "containerStatuses");
  const ready = containers.filter((container) => container["ready"] === true).length;
  const restarts = containers.reduce((sum, container) => sum + (numberOf(container, "restartCount") ?? 0), 0);
  return [
    metadataText(pod, "name"),
    `${ready}/${objectsOf(spec, "containers").length}`,
    reasonOf(pod, status, containers),
    String(restarts),
    ageOf(pod, now),
    textOf(status, "podIP") || "<none>",
    textOf(spec, "nodeName") || "<none>",
    textOf(status, "nominatedNodeName") || "<none>",
    gatesOf(spec, status),
  ];
}

/** The phase, unless a container has more to say, or the Pod is on its way out. */
function reasonOf(pod: ApiObject, status: JsonObject | undefined, containers: readonly JsonObject[]): string {
  if (textOf(objectOf(pod, "metadata"), "deletionTimestamp") !== "") return "Terminating";
  const phase = textOf(status, "reason") || textOf(status, "phase");
  const states = containers.map((container) => objectOf(container, "state"));
  const waiting = states.map((state) => textOf(objectOf(state, "waiting"), "reason")).find((reason) => reason !== "");
  const terminated = states.map((state) => objectOf(state, "terminated")).find((state) => state !== undefined);
  if (waiting !== undefined) return waiting;
  if (terminated === undefined) return phase;
  return textOf(terminated, "reason") || `ExitCode:${numberOf(terminated, "exitCode") ?? 0}`;
}

function gatesOf(spec: JsonObject | undefined, status: JsonObject | undefined): string {
  const gates = objectsOf(spec, "readinessGates").map((gate) => textOf(gate, "conditionType"));
  if (gates.length === 0) return "<none>";
  const met = objectsOf(status, "conditions").filter(
    (one) => one["status"] === "True" && gates.includes(textOf(one, "type")),
  );
  return `${met.length}/${gates.length}`;
}
