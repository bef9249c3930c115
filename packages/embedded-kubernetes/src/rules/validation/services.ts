import { duplicate, forbidden, invalidValue, required } from "../../core/field-errors.ts";
import { type GoStruct, goStruct } from "../../core/go-value.ts";
import type { JsonObject } from "../../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none, oneOf, optionalOneOf, port, portNumberOrName } from "./checks.ts";
import { labelErrors } from "./metadata.ts";
import { cidr, dnsLabel, dnsSubdomain, ipAddress, qualifiedName } from "./name-rules.ts";

const kubeletPort = 10_250;
const maxAffinitySeconds = 86_400;
const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/** `ValidateService` without its metadata. */
export function serviceSpecErrors(spec: JsonObject): Errors {
  const type = textOf(spec, "type");
  const ports = objectsOf(spec, "ports");
  const isHeadless = textOf(spec, "clusterIP") === "None" || textsOf(spec, "clusterIPs")[0] === "None";
  const names = new Set<string>();
  return [
    ...(ports.length === 0 && !isHeadless && type !== "ExternalName" ? [required("spec.ports")] : none),
    ...typeErrors(spec, type, ports, isHeadless),
    ...each(ports, "spec.ports", (item, path) => portErrors(item, path, ports.length > 1, names)),
    ...labelErrors(objectOf(spec, "selector"), "spec.selector"),
    ...oneOf("spec.sessionAffinity", textOf(spec, "sessionAffinity"), ["ClientIP", "None"]),
    ...affinityErrors(spec),
    ...addressErrors(spec, type),
    ...each(textsOf(spec, "externalIPs"), "spec.externalIPs", (ip, path) => named(path, ip, ipAddress)),
    ...oneOf("spec.type", type, types),
    ...duplicatePorts(ports),
    ...(type === "ClusterIP"
      ? each(ports, "spec.ports", (item, path) =>
          (numberOf(item, "nodePort") ?? 0) === 0
            ? none
            : [forbidden(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'")],
        )
      : none),
    ...duplicateNodePorts(ports, type),
    ...sourceRangeErrors(spec, type),
    ...(typeof spec["allocateLoadBalancerNodePorts"] === "boolean" && type !== "LoadBalancer"
      ? [forbidden("spec.allocateLoadBalancerNodePorts", "may only be used when `type` is 'LoadBalancer'")]
      : none),
    ...policyErrors(spec, type),
  ];
}

function typeErrors(spec: JsonObject, type: string, ports: readonly JsonObject[], isHeadless: boolean): Errors {
  switch (type) {
    case "LoadBalancer":
      return [
        ...each(ports, "spec.ports", (item, path) =>
          item["port"] === kubeletPort
            ? [invalidValue(path, kubeletPort, "may not expose port 10250 externally since it is used by kubelet")]
            : none,
        ),
        ...notHeadless(isHeadless, type),
      ];
    case "NodePort":
      return notHeadless(isHeadless, type);
    case "ExternalName":
      return externalNameErrors(spec);
    default:
      return none;
  }
}

function notHeadless(isHeadless: boolean, type: string): Errors {
  return isHeadless
    ? [invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)]
    : none;
}

function externalNameErrors(spec: JsonObject): Errors {
  const name = textOf(spec, "externalName").replace(/\.$/, "");
  return [
    ...(itemsOf(spec, "clusterIPs").length > 0
      ? [forbidden("spec.clusterIPs", "may not be set for ExternalName services")]
      : none),
    ...(itemsOf(spec, "ipFamilies").length > 0
      ? [forbidden("spec.ipFamilies", "may not be set for ExternalName services")]
      : none),
    ...(name === "" ? [required("spec.externalName")] : named("spec.externalName", name, dnsSubdomain)),
  ];
}

function portErrors(item: JsonObject, path: string, needsName: boolean, names: Set<string>): Errors {
  const name = textOf(item, "name");
  const isTaken = name !== "" && names.has(name);
  names.add(name);
  const appProtocol = textOf(item, "appProtocol");
  return [
    ...(name === "" ? (needsName ? [required(`${path}.name`)] : none) : named(`${path}.name`, name, dnsLabel)),
    ...(isTaken ? [duplicate(`${path}.name`, name)] : none),
    ...port(`${path}.port`, numberOf(item, "port") ?? 0),
    ...oneOf(`${path}.protocol`, textOf(item, "protocol"), ["SCTP", "TCP", "UDP"]),
    ...portNumberOrName(`${path}.targetPort`, item["targetPort"]),
    ...(appProtocol === "" ? none : named(`${path}.appProtocol`, appProtocol, qualifiedName)),
  ];
}

function affinityErrors(spec: JsonObject): Errors {
  const config = objectOf(spec, "sessionAffinityConfig");
  if (config === undefined) return none;
  const seconds = numberOf(objectOf(config, "clientIP"), "timeoutSeconds") ?? 0;
  return seconds > 0 && seconds <= maxAffinitySeconds
    ? none
    : [
        invalidValue(
          "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
          seconds,
          `must be greater than 0 and less than ${maxAffinitySeconds}`,
        ),
      ];
}

function addressErrors(spec: JsonObject, type: string): Errors {
  if (type === "ExternalName") return none;
  const addresses = textsOf(spec, "clusterIPs");
  return [
    ...(textOf(spec, "clusterIP") === "" && addresses.length > 0
      ? [invalidValue("spec.clusterIPs", [...addresses], "must be empty when `clusterIP` is not specified")]
      : none),
    ...each(addresses, "spec.clusterIPs", (ip, path, index) =>
      ip === "None" && index === 0 ? none : named(path, ip, ipAddress),
    ),
  ];
}

/** A port may appear once with each protocol. */
function duplicatePorts(ports: readonly JsonObject[]): Errors {
  const seen = new Set<string>();
  return each(ports, "spec.ports", (item, path) => {
    const protocol = textOf(item, "protocol");
    const key = `${protocol}/${numberOf(item, "port") ?? 0}`;
    const isTaken = seen.has(key);
    seen.add(key);
    return isTaken ? [duplicate(path, printedPort(protocol, numberOf(item, "port") ?? 0))] : none;
  });
}

/** The server prints the port as its own type, with nothing but protocol and port set. */
function printedPort(protocol: string, number: number): GoStruct {
  return goStruct({ Name: "", Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 });
}

function duplicateNodePorts(ports: readonly JsonObject[], type: string): Errors {
  if (type !== "NodePort" && type !== "LoadBalancer") return none;
  const seen = new Set<string>();
  return each(ports, "spec.ports", (item, path) => {
    const nodePort = numberOf(item, "nodePort") ?? 0;
    const key = `${textOf(item, "protocol")}/${nodePort}`;
    const isTaken = nodePort > 0 && seen.has(key);
    seen.add(key);
    return isTaken ? [duplicate(`${path}.nodePort`, nodePort)] : none;
  });
}

function sourceRangeErrors(spec: JsonObject, type: string): Errors {
  const ranges = textsOf(spec, "loadBalancerSourceRanges");
  if (ranges.length > 0 && type !== "LoadBalancer") {
    return [forbidden("spec.LoadBalancerSourceRanges", "may only be used when `type` is 'LoadBalancer'")];
  }
  return each(ranges, "spec.loadBalancerSourceRanges", (range, path) => named(path, range.trim(), cidr));
}

function policyErrors(spec: JsonObject, type: string): Errors {
  const isExposed = type === "NodePort" || type === "LoadBalancer" || itemsOf(spec, "externalIPs").length > 0;
  const external = textOf(spec, "externalTrafficPolicy");
  const checkPort = numberOf(spec, "healthCheckNodePort") ?? 0;
  return [
    ...(isExposed
      ? optionalOneOf(spec, "externalTrafficPolicy", "spec", ["Cluster", "Local"])
      : external === ""
        ? none
        : [invalidValue("spec.externalTrafficPolicy", external, "may only be set for externally-accessible services")]),
    ...(checkPort > 0 && (type !== "LoadBalancer" || external !== "Local")
      ? [
          invalidValue(
            "spec.healthCheckNodePort",
            checkPort,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]
      : none),
    ...optionalOneOf(spec, "internalTrafficPolicy", "spec", ["Cluster", "Local"]),
  ];
}

/** Addresses that were allotted stay, unless the Service becomes or was an ExternalName. */
export function serviceUpdateErrors(spec: JsonObject, before: JsonObject): Errors {
  const isAllotted = textOf(spec, "type") !== "ExternalName" && textOf(before, "type") !== "ExternalName";
  const [former] = textsOf(before, "clusterIPs");
  const [now] = textsOf(spec, "clusterIPs");
  if (!isAllotted || former === undefined || former === now) return none;
  return now === undefined
    ? [invalidValue("spec.clusterIPs[0]", spec["clusterIPs"], "primary clusterIP can not be unset")]
    : [invalidValue("spec.clusterIPs[0]", spec["clusterIPs"], "may not change once set")];
}
