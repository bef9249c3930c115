import { isIP } from "node:net";
import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, port, requiredText } from "./checks.ts";
import { cidr, dnsSubdomain, portName, serviceName, wildcardSubdomain } from "./name-rules.ts";
import { selectorErrors } from "./selectors.ts";

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const badSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badSuffixes = ["/..", "/."];

export function ingressSpecErrors(spec: JsonObject): Errors {
  const rules = objectsOf(spec, "rules");
  const backend = objectOf(spec, "defaultBackend");
  const className = spec["ingressClassName"];
  return [
    ...(rules.length === 0 && backend === undefined
      ? [invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified")]
      : none),
    ...(backend === undefined ? none : backendErrors(backend, "spec.defaultBackend")),
    ...each(rules, "spec.rules", ruleErrors),
    ...each(objectsOf(spec, "tls"), "spec.tls", tlsErrors),
    ...(typeof className === "string" ? named("spec.ingressClassName", className, dnsSubdomain) : none),
  ];
}

function ruleErrors(rule: JsonObject, path: string): Errors {
  const host = textOf(rule, "host");
  const http = objectOf(rule, "http");
  return [
    ...(isIP(host) === 0 ? none : [invalidValue(`${path}.host`, host, "must be a DNS name, not an IP address")]),
    ...hostErrors(host, `${path}.host`),
    ...(http === undefined ? none : httpErrors(http, `${path}.http`)),
  ];
}

function hostErrors(host: string, path: string): Errors {
  if (host === "") return none;
  return named(path, host, host.includes("*") ? wildcardSubdomain : dnsSubdomain);
}

function httpErrors(http: JsonObject, path: string): Errors {
  const paths = objectsOf(http, "paths");
  return paths.length === 0 ? [required(`${path}.paths`)] : each(paths, `${path}.paths`, pathErrors);
}

function pathErrors(item: JsonObject, path: string): Errors {
  const type = item["pathType"];
  if (typeof type !== "string") return [required(`${path}.pathType`, "pathType must be specified")];
  return [...pathTextErrors(item, type, path), ...backendErrors(objectOf(item, "backend") ?? {}, `${path}.backend`)];
}

function pathTextErrors(item: JsonObject, type: string, path: string): Errors {
  const text = textOf(item, "path");
  const field = `${path}.path`;
  if (!pathTypes.includes(type)) return [notSupported(`${path}.pathType`, type, pathTypes)];
  if (type === "ImplementationSpecific") {
    return text === "" || text.startsWith("/") ? none : [invalidValue(field, text, "must be an absolute path")];
  }
  return [
    ...(text.startsWith("/") ? none : [invalidValue(field, text, "must be an absolute path")]),
    ...badSequences
      .filter((bad) => text.includes(bad))
      .map((bad) => invalidValue(field, text, `must not contain '${bad}'`)),
    ...badSuffixes
      .filter((bad) => text.endsWith(bad))
      .map((bad) => invalidValue(field, text, `cannot end with '${bad}'`)),
  ];
}

function backendErrors(backend: JsonObject, path: string): Errors {
  const service = objectOf(backend, "service");
  const resource = objectOf(backend, "resource");
  if (resource !== undefined) {
    if (service !== undefined) return [invalidValue(path, "", "cannot set both resource and service backends")];
    return ["kind", "name"].flatMap((field) => requiredText(`${path}.resource.${field}`, textOf(resource, field)));
  }
  if (service === undefined) return [invalidValue(path, "", "resource or service backend is required")];
  const name = textOf(service, "name");
  return [
    ...(name === "" ? [required(`${path}.service.name`)] : named(`${path}.service.name`, name, serviceName)),
    ...backendPortErrors(objectOf(service, "port"), path),
  ];
}

function backendPortErrors(target: JsonObject | undefined, path: string): Errors {
  const name = textOf(target, "name");
  const number = numberOf(target, "number") ?? 0;
  if (name !== "" && number !== 0) return [invalidValue(path, "", "cannot set both port name & port number")];
  if (name !== "") return named(`${path}.service.port.name`, name, portName);
  return number === 0
    ? [required(path, "port name or number is required")]
    : port(`${path}.service.port.number`, number);
}

function tlsErrors(tls: JsonObject, path: string): Errors {
  const secret = textOf(tls, "secretName");
  return [
    ...each(textsOf(tls, "hosts"), `${path}.hosts`, (host, at) => hostErrors(host, at)),
    ...(secret === "" ? none : named(`${path}.secretName`, secret, dnsSubdomain)),
  ];
}

export function ingressClassErrors(spec: JsonObject): Errors {
  const controller = textOf(spec, "controller");
  const parameters = objectOf(spec, "parameters");
  return [
    ...(controller === "" ? [required("spec.controller")] : none),
    ...(parameters === undefined
      ? none
      : ["kind", "name"].flatMap((field) => requiredText(`spec.parameters.${field}`, textOf(parameters, field)))),
  ];
}

export function networkPolicySpecErrors(spec: JsonObject): Errors {
  const types = textsOf(spec, "policyTypes");
  return [
    ...selectorErrors(objectOf(spec, "podSelector"), "spec.podSelector"),
    ...each(objectsOf(spec, "ingress"), "spec.ingress", (rule, path) => policyRuleErrors(rule, "from", path)),
    ...each(objectsOf(spec, "egress"), "spec.egress", (rule, path) => policyRuleErrors(rule, "to", path)),
    ...(types.length > 2
      ? [invalidValue("spec.policyTypes", types, "may not specify more than two policyTypes")]
      : each(types, "spec.policyTypes", (type, path) =>
          ["Ingress", "Egress"].includes(type) ? none : [notSupported(path, type, ["Ingress", "Egress"])],
        )),
  ];
}

function policyRuleErrors(rule: JsonObject, peers: "from" | "to", path: string): Errors {
  return [
    ...each(objectsOf(rule, "ports"), `${path}.ports`, policyPortErrors),
    ...each(objectsOf(rule, peers), `${path}.${peers}`, peerErrors),
  ];
}

function policyPortErrors(item: JsonObject, path: string): Errors {
  const protocol = textOf(item, "protocol");
  const target = item["port"];
  const end = numberOf(item, "endPort");
  const protocols = ["TCP", "UDP", "SCTP"];
  return [
    ...(protocol === "" || protocols.includes(protocol)
      ? none
      : [notSupported(`${path}.protocol`, protocol, protocols)]),
    ...(typeof target === "number" ? numberedPortErrors(target, end, path) : none),
    ...(typeof target === "string"
      ? [
          ...(end === undefined
            ? none
            : [invalidValue(`${path}.endPort`, end, "may not be specified when `port` is non-numeric")]),
          ...named(`${path}.port`, target, portName),
        ]
      : none),
    ...((target === undefined || target === null) && end !== undefined
      ? [invalidValue(`${path}.endPort`, end, "may not be specified when `port` is not specified")]
      : none),
  ];
}

function numberedPortErrors(target: number, end: number | undefined, path: string): Errors {
  return [
    ...port(`${path}.port`, target),
    ...(end === undefined
      ? none
      : [
          ...(end < target ? [invalidValue(`${path}.endPort`, end, "must be greater than or equal to `port`")] : none),
          ...port(`${path}.endPort`, end),
        ]),
  ];
}

function peerErrors(peer: JsonObject, path: string): Errors {
  const block = objectOf(peer, "ipBlock");
  const selectors = ["podSelector", "namespaceSelector"].filter((field) => objectOf(peer, field) !== undefined);
  return [
    ...selectors.flatMap((field) => selectorErrors(objectOf(peer, field), `${path}.${field}`)),
    ...(block === undefined ? none : blockErrors(block, `${path}.ipBlock`)),
    ...(selectors.length === 0 && block === undefined ? [required(path, "must specify a peer")] : none),
    ...(selectors.length > 0 && block !== undefined
      ? [forbidden(path, "may not specify both ipBlock and another peer")]
      : none),
  ];
}

function blockErrors(block: JsonObject, path: string): Errors {
  const range = textOf(block, "cidr");
  if (range === "") return [required(`${path}.cidr`)];
  return [
    ...named(`${path}.cidr`, range, cidr),
    ...(itemsOf(block, "except").length === 0
      ? none
      : each(textsOf(block, "except"), `${path}.except`, (except, at) => named(at, except, cidr))),
  ];
}
