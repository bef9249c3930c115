import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, nonNegative, port, portNumberOrName } from "./checks.ts";
import { type NameRule, regexText } from "./name-rules.ts";

type Check = (handler: JsonObject, path: string) => Errors;

const headerName = "[-A-Za-z0-9]+";

const httpHeaderName: NameRule = (text) =>
  /^[-A-Za-z0-9]+$/.test(text)
    ? []
    : [regexText("a valid HTTP header must consist of alphanumeric characters or '-'", headerName, "X-Header-Name")];

const handlers: readonly (readonly [string, Check])[] = [
  ["exec", (exec, path) => (itemsOf(exec, "command").length === 0 ? [required(`${path}.command`)] : none)],
  ["httpGet", httpGetErrors],
  ["tcpSocket", (socket, path) => portNumberOrName(`${path}.port`, socket["port"])],
  ["grpc", (grpc, path) => port(`${path}.port`, numberOf(grpc, "port") ?? 0)],
  ["sleep", () => none],
];

function httpGetErrors(httpGet: JsonObject, path: string): Errors {
  const scheme = textOf(httpGet, "scheme");
  return [
    ...(textOf(httpGet, "path") === "" ? [required(`${path}.path`)] : none),
    ...portNumberOrName(`${path}.port`, httpGet["port"]),
    ...(["HTTP", "HTTPS"].includes(scheme) ? none : [notSupported(`${path}.scheme`, scheme, ["HTTP", "HTTPS"])]),
    ...each(objectsOf(httpGet, "httpHeaders"), `${path}.httpHeaders`, (header, at) =>
      named(at, textOf(header, "name"), httpHeaderName),
    ),
  ];
}

/** Exactly one way to probe, and that one valid. */
function handlerErrors(holder: JsonObject, path: string): Errors {
  const present = handlers.flatMap(([field, check]) => {
    const handler = objectOf(holder, field);
    return handler === undefined ? [] : [{ field, check, handler }];
  });
  if (present.length === 0) return [required(path, "must specify a handler type")];
  return present.flatMap(({ field, check, handler }, index) =>
    index === 0
      ? check(handler, `${path}.${field}`)
      : [forbidden(`${path}.${field}`, "may not specify more than 1 handler type")],
  );
}

const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

export function probeErrors(container: JsonObject, path: string): Errors {
  return ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((field) => {
    const probe = objectOf(container, field);
    if (probe === undefined) return none;
    const at = `${path}.${field}`;
    const threshold = numberOf(probe, "successThreshold") ?? 1;
    const grace = numberOf(probe, "terminationGracePeriodSeconds");
    return [
      ...handlerErrors(probe, at),
      ...counts.flatMap((count) => nonNegative(probe, count, at)),
      ...(grace !== undefined && grace <= 0
        ? [invalidValue(`${at}.terminationGracePeriodSeconds`, grace, "must be greater than 0")]
        : none),
      ...(field !== "readinessProbe" && threshold !== 1
        ? [invalidValue(`${at}.successThreshold`, threshold, "must be 1")]
        : none),
    ];
  });
}

export function lifecycleErrors(container: JsonObject, path: string): Errors {
  const lifecycle = objectOf(container, "lifecycle");
  return ["postStart", "preStop"].flatMap((field) => {
    const hook = objectOf(lifecycle, field);
    return hook === undefined ? none : handlerErrors(hook, `${path}.lifecycle.${field}`);
  });
}
