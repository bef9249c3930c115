import { duplicate, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, oneOf, optionalOneOf, port, requiredName, requiredText } from "./checks.ts";
import { dnsSubdomain, qualifiedName, serviceName } from "./name-rules.ts";
import { selectorErrors } from "./selectors.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const reviewVersions = ["v1", "v1beta1"];

/** Validating and mutating webhook configurations, without their metadata. */
export function webhooksErrors(object: JsonObject): Errors {
  const names = new Set<string>();
  return each(objectsOf(object, "webhooks"), "webhooks", (webhook, path) => {
    const name = textOf(webhook, "name");
    const isTaken = name !== "" && names.has(name);
    names.add(name);
    return [
      ...webhookErrors(webhook, name, path),
      ...reviewVersionErrors(textsOf(webhook, "admissionReviewVersions"), `${path}.admissionReviewVersions`),
      ...(isTaken ? [duplicate(`${path}.name`, name)] : none),
    ];
  });
}

function webhookErrors(webhook: JsonObject, name: string, path: string): Errors {
  const timeout = numberOf(webhook, "timeoutSeconds") ?? 10;
  const sideEffects = textOf(webhook, "sideEffects");
  return [
    ...fullyQualified(name, `${path}.name`),
    ...each(objectsOf(webhook, "rules"), `${path}.rules`, ruleErrors),
    ...optionalOneOf(webhook, "failurePolicy", path, ["Fail", "Ignore"]),
    ...optionalOneOf(webhook, "matchPolicy", path, ["Equivalent", "Exact"]),
    ...(sideEffects === ""
      ? [required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun")]
      : oneOf(`${path}.sideEffects`, sideEffects, ["None", "NoneOnDryRun"])),
    ...(timeout < 1 || timeout > 30
      ? [invalidValue(`${path}.timeoutSeconds`, timeout, "the timeout value must be between 1 and 30 seconds")]
      : none),
    ...selectorErrors(objectOf(webhook, "namespaceSelector"), `${path}.namespaceSelector`),
    ...selectorErrors(objectOf(webhook, "objectSelector"), `${path}.objectSelector`),
    ...optionalOneOf(webhook, "reinvocationPolicy", path, ["IfNeeded", "Never"]),
    ...clientErrors(objectOf(webhook, "clientConfig"), `${path}.clientConfig`),
    ...conditionErrors(objectsOf(webhook, "matchConditions"), `${path}.matchConditions`),
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

function ruleErrors(rule: JsonObject, path: string): Errors {
  return [
    ...wildcardList(rule, "operations", path, "operations"),
    ...each(textsOf(rule, "operations"), `${path}.operations`, (operation, at) =>
      operations.includes(operation) ? none : [notSupported(at, operation, operations)],
    ),
    ...wildcardList(rule, "apiGroups", path, "API groups"),
    ...wildcardList(rule, "apiVersions", path, "API versions"),
    ...each(textsOf(rule, "apiVersions"), `${path}.apiVersions`, (version, at) => requiredText(at, version)),
    ...resourceErrors(textsOf(rule, "resources"), `${path}.resources`),
    ...optionalOneOf(rule, "scope", path, ["*", "Cluster", "Namespaced"]),
  ];
}

/** A list that must be there, in which `*` stands alone. */
function wildcardList(rule: JsonObject, field: string, path: string, what: string): Errors {
  const items = textsOf(rule, field);
  if (items.length === 0) return [required(`${path}.${field}`)];
  return items.length > 1 && items.includes("*")
    ? [invalidValue(`${path}.${field}`, [...items], `if '*' is present, must not specify other ${what}`)]
    : none;
}

function resourceErrors(resources: readonly string[], path: string): Errors {
  const isPlain = (resource: string): boolean => !resource.includes("/") && resource !== "*" && resource !== "";
  return [
    ...(resources.length === 0 ? [required(path)] : none),
    ...each(resources, path, (resource, at, index) =>
      resource === "" ? [required(at)] : coveredErrors(resource, resources.slice(0, index), at),
    ),
    ...(resources.length > 1 && resources.includes("*/*")
      ? [invalidValue(path, [...resources], "if '*/*' is present, must not specify other resources")]
      : none),
    ...(resources.includes("*") && resources.some(isPlain)
      ? [invalidValue(path, [...resources], "if '*' is present, must not specify other resources without subresources")]
      : none),
  ];
}

/** A subresource that an earlier wildcard takes in already. */
function coveredErrors(resource: string, earlier: readonly string[], path: string): Errors {
  const [name = "", subresource] = resource.split(/\/(.*)/s);
  if (subresource === undefined) return none;
  return [`${name}/*`, `*/${subresource}`]
    .filter((wildcard) => earlier.includes(wildcard))
    .map((wildcard) => invalidValue(path, resource, `if '${wildcard}' is present, must not specify ${resource}`));
}

function clientErrors(client: JsonObject | undefined, path: string): Errors {
  const url = client?.["url"];
  const service = objectOf(client, "service");
  if ((url === undefined) === (service === undefined))
    return [required(path, "exactly one of url or service is required")];
  return service === undefined
    ? urlErrors(textOf(client, "url"), `${path}.url`)
    : serviceErrors(service, `${path}.service`);
}

function urlErrors(text: string, path: string): Errors {
  const form = "; desired format: https://host[/path]";
  const [, scheme = "", authority = ""] = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?/i.exec(text) ?? [];
  const [host = "", user] = authority.split("@").toReversed();
  const fragment = /#(.*)$/s.exec(text)?.[1] ?? "";
  const query = /\?([^#]*)/.exec(text)?.[1] ?? "";
  return [
    ...(scheme === "https" ? none : [invalidValue(path, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === "" ? [invalidValue(path, host, `host must be specified${form}`)] : none),
    ...(user === undefined ? none : [invalidValue(path, user, "user information is not permitted in the URL")]),
    ...(fragment === "" ? none : [invalidValue(path, fragment, "fragments are not permitted in the URL")]),
    ...(query === "" ? none : [invalidValue(path, query, "query parameters are not permitted in the URL")]),
  ];
}

function serviceErrors(service: JsonObject, path: string): Errors {
  const number = numberOf(service, "port") ?? 443;
  const problems = port(`${path}.port`, number).map(({ message }) => message.replace(/^Invalid value: \S+: /, ""));
  return [
    // A real server takes the one for the other here, so that it is the missing name that it calls a namespace.
    ...requiredText(`${path}.name`, textOf(service, "namespace")),
    ...requiredText(`${path}.namespace`, textOf(service, "name")),
    ...(problems.length === 0
      ? none
      : [invalidValue(`${path}.port`, number, `port is not valid: ${problems.join(", ")}`)]),
    ...pathErrors(textOf(service, "path"), `${path}.path`),
  ];
}

/** Each segment of a service's path is a DNS name. */
function pathErrors(text: string, path: string): Errors {
  if (text === "" || text === "/") return none;
  if (text === "//") return [invalidValue(path, text, "segment[0] may not be empty")];
  const segments = text.slice(1).replace(/\/$/, "").split("/");
  return [
    ...(text.startsWith("/") ? none : [invalidValue(path, text, "must start with a '/'")]),
    ...segments.flatMap((segment, index) =>
      segment === ""
        ? [invalidValue(path, text, `segment[${index}] may not be empty`)]
        : dnsSubdomain(segment).map((problem) => invalidValue(path, text, `segment[${index}]: ${problem}`)),
    ),
  ];
}

function conditionErrors(conditions: readonly JsonObject[], path: string): Errors {
  const names = new Set<string>();
  return each(conditions, path, (condition, at) => {
    const name = textOf(condition, "name");
    const isTaken = name !== "" && names.has(name);
    names.add(name);
    return [
      ...requiredText(`${at}.expression`, textOf(condition, "expression").trim()),
      ...requiredName(`${at}.name`, name, qualifiedName),
      ...(isTaken ? [duplicate(`${at}.name`, name)] : none),
    ];
  });
}

function reviewVersionErrors(versions: readonly string[], path: string): Errors {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(", ")}`)];
  return [
    ...each(versions, path, (version, at, index) =>
      versions.indexOf(version) < index
        ? [invalidValue(at, version, "duplicate version")]
        : named(at, version, serviceName),
    ),
    ...(versions.some((version) => reviewVersions.includes(version))
      ? none
      : [invalidValue(path, [...versions], `must include at least one of ${reviewVersions.join(", ")}`)]),
  ];
}
