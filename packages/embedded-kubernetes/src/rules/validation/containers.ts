import { duplicate, forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, oneOf, port, requiredName, requiredText } from "./checks.ts";
import { configMapKey, dnsLabel, environmentName, portName } from "./name-rules.ts";
import { lifecycleErrors, probeErrors } from "./probes.ts";
import { resourceErrors } from "./resources.ts";
import { mountErrors } from "./volumes.ts";

const protocols = ["SCTP", "TCP", "UDP"];
const maxUserId = 2_147_483_647;
const fieldPaths = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** Containers, init containers too: each by itself, then its name against those before it. */
export function containersErrors(
  containers: readonly JsonObject[],
  path: string,
  volumes: ReadonlySet<string>,
  taken: Set<string>,
  isInit = false,
): Errors {
  return each(containers, path, (container, at) => {
    const name = textOf(container, "name");
    const isTaken = taken.has(name);
    taken.add(name);
    return [
      ...containerErrors(container, at, volumes),
      ...(isTaken && name !== "" ? [duplicate(`${at}.name`, name)] : none),
      ...(isInit && textOf(container, "restartPolicy") !== "Always"
        ? initOnlyErrors(container, at)
        : [...lifecycleErrors(container, at), ...probeErrors(container, at)]),
    ];
  });
}

function initOnlyErrors(container: JsonObject, path: string): Errors {
  return ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"].flatMap((field) =>
    objectOf(container, field) === undefined
      ? none
      : [forbidden(`${path}.${field}`, "may not be set for init containers without restartPolicy=Always")],
  );
}

function containerErrors(container: JsonObject, path: string, volumes: ReadonlySet<string>): Errors {
  return [
    ...requiredName(`${path}.name`, textOf(container, "name"), dnsLabel),
    ...(textOf(container, "image") === "" ? [required(`${path}.image`)] : none),
    ...oneOf(`${path}.terminationMessagePolicy`, textOf(container, "terminationMessagePolicy"), [
      "File",
      "FallbackToLogsOnError",
    ]),
    ...portErrors(objectsOf(container, "ports"), `${path}.ports`),
    ...each(objectsOf(container, "env"), `${path}.env`, envErrors),
    ...each(objectsOf(container, "envFrom"), `${path}.envFrom`, envFromErrors),
    ...mountErrors(container, volumes, path),
    ...oneOf(`${path}.imagePullPolicy`, textOf(container, "imagePullPolicy"), ["Always", "IfNotPresent", "Never"]),
    ...resourceErrors(objectOf(container, "resources"), `${path}.resources`),
    ...securityErrors(objectOf(container, "securityContext"), `${path}.securityContext`),
  ];
}

/** Of a Pod alone: templates were taken with it before this was looked at, and still are. */
export function imageSpaceErrors(containers: readonly JsonObject[], path: string): Errors {
  return each(containers, path, (container, at) => {
    const image = textOf(container, "image");
    const isClean = image === image.trim();
    return isClean ? none : [invalidValue(`${at}.image`, image, "must not have leading or trailing whitespace")];
  });
}

function portErrors(ports: readonly JsonObject[], path: string): Errors {
  const names = new Set<string>();
  return each(ports, path, (item, at) => {
    const name = textOf(item, "name");
    const containerPort = numberOf(item, "containerPort") ?? 0;
    const hostPort = numberOf(item, "hostPort") ?? 0;
    const nameErrors = name === "" ? none : named(`${at}.name`, name, portName);
    const isTaken = nameErrors.length === 0 && name !== "" && names.has(name);
    names.add(name);
    return [
      ...nameErrors,
      ...(isTaken ? [duplicate(`${at}.name`, name)] : none),
      ...(containerPort === 0 ? [required(`${at}.containerPort`)] : port(`${at}.containerPort`, containerPort)),
      ...(hostPort === 0 ? none : port(`${at}.hostPort`, hostPort)),
      ...oneOf(`${at}.protocol`, textOf(item, "protocol"), protocols),
    ];
  });
}

function envErrors(env: JsonObject, path: string): Errors {
  const source = objectOf(env, "valueFrom");
  return [
    ...requiredName(`${path}.name`, textOf(env, "name"), environmentName),
    ...(source === undefined ? none : valueFromErrors(env, source, `${path}.valueFrom`)),
  ];
}

function valueFromErrors(env: JsonObject, source: JsonObject, path: string): Errors {
  const present = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"].filter(
    (field) => objectOf(source, field) !== undefined,
  );
  const count =
    present.length === 0
      ? [
          invalidValue(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
          ),
        ]
      : textOf(env, "value") !== ""
        ? [invalidValue(path, "", "may not be specified when `value` is not empty")]
        : present.length > 1
          ? [invalidValue(path, "", "may not have more than one field specified at a time")]
          : none;
  return [
    ...fieldRefErrors(objectOf(source, "fieldRef"), `${path}.fieldRef`),
    ...resourceRefErrors(objectOf(source, "resourceFieldRef"), `${path}.resourceFieldRef`),
    ...keyRefErrors(objectOf(source, "configMapKeyRef"), `${path}.configMapKeyRef`),
    ...keyRefErrors(objectOf(source, "secretKeyRef"), `${path}.secretKeyRef`),
    ...count,
  ];
}

function fieldRefErrors(ref: JsonObject | undefined, path: string): Errors {
  if (ref === undefined) return none;
  const fieldPath = textOf(ref, "fieldPath");
  if (textOf(ref, "apiVersion") === "") return [required(`${path}.apiVersion`)];
  if (fieldPath === "") return [required(`${path}.fieldPath`)];
  if (/^metadata\.(labels|annotations)\['[^']+'\]$/.test(fieldPath)) return none;
  return fieldPaths.includes(fieldPath) ? none : [notSupported(`${path}.fieldPath`, fieldPath, fieldPaths)];
}

function resourceRefErrors(ref: JsonObject | undefined, path: string): Errors {
  return ref === undefined ? none : requiredText(`${path}.resource`, textOf(ref, "resource"));
}

function keyRefErrors(ref: JsonObject | undefined, path: string): Errors {
  if (ref === undefined) return none;
  return [
    ...requiredText(`${path}.name`, textOf(ref, "name")),
    ...requiredName(`${path}.key`, textOf(ref, "key"), configMapKey),
  ];
}

function envFromErrors(source: JsonObject, path: string): Errors {
  const prefix = textOf(source, "prefix");
  const present = ["configMapRef", "secretRef"].flatMap((field) => {
    const ref = objectOf(source, field);
    return ref === undefined ? [] : [{ ref, path: `${path}.${field}` }];
  });
  return [
    ...(prefix === "" ? none : named(`${path}.prefix`, prefix, environmentName)),
    ...present.flatMap(({ ref, path: at }) => requiredText(`${at}.name`, textOf(ref, "name"))),
    ...(present.length === 0 ? [invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`")] : none),
    ...(present.length > 1 ? [invalidValue(path, "", "may not have more than one field specified at a time")] : none),
  ];
}

function securityErrors(context: JsonObject | undefined, path: string): Errors {
  return ["runAsUser", "runAsGroup"].flatMap((field) => userIdErrors(context, field, path));
}

export function userIdErrors(context: JsonObject | undefined, field: string, path: string): Errors {
  const id = numberOf(context, field);
  return id === undefined || (id >= 0 && id <= maxUserId)
    ? none
    : [invalidValue(`${path}.${field}`, id, `must be between 0 and ${maxUserId}, inclusive`)];
}
