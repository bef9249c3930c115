import type { JsonObject } from "../../../lib/core/json.ts";
import type { ApiObject, Gvk } from "../api-object.ts";
import { quote } from "./go-value.ts";
import { objectOf, objectsOf, textOf, textsOf } from "./json-fields.ts";

/** Where a kind keeps its Pod template. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  "/Pod": [],
  "/PodTemplate": ["template"],
  "/ReplicationController": ["spec", "template"],
  "apps/Deployment": ["spec", "template"],
  "apps/DaemonSet": ["spec", "template"],
  "apps/ReplicaSet": ["spec", "template"],
  "apps/StatefulSet": ["spec", "template"],
  "batch/Job": ["spec", "template"],
  "batch/CronJob": ["spec", "jobTemplate", "spec", "template"],
};

/** The texts of the Warning headers (without `299 - `) that a create or a changing update of this object answers with. */
export function warningsFor(object: ApiObject, gvk: Gvk, _old: ApiObject | undefined): readonly string[] {
  const finalizers = finalizerWarnings(object);
  const path = templatePaths[`${gvk.group}/${gvk.kind}`];
  if (path === undefined) return finalizers;
  const template = path.reduce<JsonObject | undefined>((value, field) => objectOf(value, field), object);
  const spec = objectOf(template, "spec");
  return [...finalizers, ...(spec === undefined ? [] : podWarnings(spec, [...path, "spec"].join(".")))];
}

function finalizerWarnings(object: ApiObject): readonly string[] {
  const metadata = objectOf(object, "metadata");
  return textsOf(metadata, "finalizers")
    .filter((finalizer) => !finalizer.includes("/") && !standardFinalizers.has(finalizer))
    .map(
      (finalizer) =>
        `metadata.finalizers: ${quote(finalizer)}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}

const standardFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

function podWarnings(spec: JsonObject, path: string): readonly string[] {
  return [
    ...objectsOf(spec, "topologySpreadConstraints").flatMap((constraint, index) =>
      objectOf(constraint, "labelSelector") === undefined
        ? [`${path}.topologySpreadConstraints[${index}].labelSelector: a null labelSelector results in matching no pod`]
        : [],
    ),
    ...["initContainers", "containers"].flatMap((field) =>
      objectsOf(spec, field).flatMap((container, index) => containerWarnings(container, `${path}.${field}[${index}]`)),
    ),
    ...portWarnings(spec, path),
  ];
}

function containerWarnings(container: JsonObject, path: string): readonly string[] {
  return [...envWarnings(container, path), ...fractionWarnings(container, path)];
}

/** Items that server-side apply would merge into one. */
function envWarnings(container: JsonObject, path: string): readonly string[] {
  const env = objectsOf(container, "env");
  return env.flatMap((item, index) => {
    const isHiding = env.slice(0, index).some((other) => textOf(other, "name") === textOf(item, "name"));
    return isHiding
      ? [
          `${path}.env[${index}]: hides previous definition of ${quote(textOf(item, "name"))}, which may be dropped when using apply`,
        ]
      : [];
  });
}

function fractionWarnings(container: JsonObject, path: string): readonly string[] {
  const resources = objectOf(container, "resources");
  return ["limits", "requests"].flatMap((field) => {
    const memory = textOf(objectOf(resources, field), "memory");
    return memory.endsWith("m")
      ? [`${path}.resources.${field}[memory]: fractional byte value ${quote(memory)} is invalid, must be an integer`]
      : [];
  });
}

function portWarnings(spec: JsonObject, path: string): readonly string[] {
  const seen: { readonly key: string; readonly path: string }[] = [];
  return objectsOf(spec, "containers").flatMap((container, index) =>
    objectsOf(container, "ports").flatMap((port, portIndex) => {
      const at = `${path}.containers[${index}].ports[${portIndex}]`;
      const key = JSON.stringify([port["containerPort"], port["protocol"], port["hostIP"], port["hostPort"]]);
      const former = seen.find((other) => other.key === key);
      seen.push({ key, path: at });
      return former === undefined ? [] : [`${at}: duplicate port definition with ${former.path}`];
    }),
  );
}
