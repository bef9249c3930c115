import { type ApiObject, type FieldError, type Gvk, StatusError } from "../core/api-object.ts";
import { invalidValue } from "../core/field-errors.ts";
import { formatJson, type Json, type JsonObject } from "../core/json.ts";
import { itemsOf, numberOf, objectOf, objectsOf, textOf, textsOf, withDefaults, without } from "../core/json-fields.ts";
import { invalid } from "./invalid.ts";

/** Hands out cluster-wide scarce values; a dry run gives them back. */
export interface Allocator {
  /** An unused address of the service range, or `wanted` if it is free; `undefined` if it is taken or out of range. */
  clusterIp(wanted?: string): string | undefined;
  /** An unused port of 30000 to 32767, or `wanted` if it is free. */
  nodePort(wanted?: number): number | undefined;
}

const addressFields = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];

/** The first and the last port of the default node port range. */
const nodePorts = { first: 30_000, last: 32_767 };

/** What an update does not say it keeps, so call this before validation: `clusterIP`, `clusterIPs`, node ports. */
export function keepAllotted(object: ApiObject, old: ApiObject, gvk: Gvk): ApiObject {
  if (gvk.group !== "" || gvk.kind !== "Service") return object;
  const spec = objectOf(object, "spec") ?? {};
  const before = objectOf(old, "spec") ?? {};
  const type = textOf(spec, "type");
  if (type === "ExternalName") return { ...object, spec: externalNameSpec(spec, before) };
  if (textOf(before, "type") === "ExternalName") return object;
  const kept = {
    ...(textOf(spec, "clusterIP") === "" && itemsOf(spec, "clusterIPs").length === 0
      ? pick(before, ["clusterIP", "clusterIPs"])
      : {}),
  };
  const synced = syncAddresses({ ...spec, ...kept }, before);
  const families = withDefaults(synced, pick(before, ["ipFamilies", "ipFamilyPolicy"]));
  return {
    ...object,
    spec: ofType(
      needsNodePorts(families) ? keepNodePorts(families, before) : withoutNodePorts(families, before),
      before,
    ),
  };
}

/** What the former type needed and the present does not goes, unless it was changed too, which is then refused. */
function ofType(spec: JsonObject, before: JsonObject): JsonObject {
  const isSame = (field: string): boolean => spec[field] === before[field];
  const wasBalanced = textOf(before, "type") === "LoadBalancer" && textOf(spec, "type") !== "LoadBalancer";
  const needed = needsHealthCheckPort(spec);
  const dropped = [
    ...(needsHealthCheckPort(before) && !needed && isSame("healthCheckNodePort") ? ["healthCheckNodePort"] : []),
    ...(wasBalanced ? ["allocateLoadBalancerNodePorts", "loadBalancerClass"].filter(isSame) : []),
    ...(isExposed(before) && !isExposed(spec) && isSame("externalTrafficPolicy") ? ["externalTrafficPolicy"] : []),
  ];
  const kept = dropped.length === 0 ? spec : without(spec, ...dropped);
  return needed && needsHealthCheckPort(before) ? withDefaults(kept, pick(before, ["healthCheckNodePort"])) : kept;
}

/** Whether something outside the cluster may reach it. */
function isExposed(spec: JsonObject): boolean {
  const type = textOf(spec, "type");
  return (
    type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && itemsOf(spec, "externalIPs").length > 0)
  );
}

/** A change to ExternalName drops the addresses and ports that the user did not set anew. */
function externalNameSpec(spec: JsonObject, before: JsonObject): JsonObject {
  if (textOf(before, "type") === "ExternalName") return spec;
  const dropped = addressFields.filter((field) => formatJson(spec[field]) === formatJson(before[field]));
  return withoutNodePorts(without(spec, ...dropped, "internalTrafficPolicy"), before);
}

/** `clusterIP` alone changed by an update is the first of `clusterIPs`, and the other way round. */
function syncAddresses(spec: JsonObject, before: JsonObject): JsonObject {
  const address = textOf(spec, "clusterIP");
  const [first = "", ...others] = textsOf(spec, "clusterIPs");
  if (address === first) return spec;
  const isFirstChanged = first !== textsOf(before, "clusterIPs")[0];
  return isFirstChanged && first !== "" && address === textOf(before, "clusterIP")
    ? { ...spec, clusterIP: first }
    : { ...spec, clusterIPs: [address, ...others] };
}

function keepNodePorts(spec: JsonObject, before: JsonObject): JsonObject {
  const former = objectsOf(before, "ports");
  const ports = objectsOf(spec, "ports").map((port) => {
    if ((numberOf(port, "nodePort") ?? 0) > 0) return port;
    const same = former.find((other) => other["port"] === port["port"] && other["protocol"] === port["protocol"]);
    return same?.["nodePort"] === undefined ? port : { ...port, nodePort: same["nodePort"] };
  });
  return { ...spec, ports };
}

/** A type that has no node ports loses those it had before; one the user sets anew is left for validation. */
function withoutNodePorts(spec: JsonObject, before: JsonObject): JsonObject {
  if (!Array.isArray(spec["ports"]) || !needsNodePorts(before)) return spec;
  const former = new Set(objectsOf(before, "ports").map((port) => port["nodePort"]));
  const ports = objectsOf(spec, "ports").map((port) =>
    former.has(port["nodePort"]) ? without(port, "nodePort") : port,
  );
  return { ...spec, ports };
}

/**
 * Allots addresses and node ports to a valid Service. Its fields `clusterIP`, `clusterIPs`, `ipFamilies`,
 * `ipFamilyPolicy` and `ports[].nodePort` are complete afterwards.
 *
 * @throws {StatusError} 422 if a wanted address or port is taken or out of range
 */
export function allocate(object: ApiObject, old: ApiObject | undefined, gvk: Gvk, allocator: Allocator): ApiObject {
  if (gvk.group !== "" || gvk.kind !== "Service") return object;
  const spec = objectOf(object, "spec") ?? {};
  if (textOf(spec, "type") === "ExternalName") return object;
  const before = objectOf(old, "spec");
  const name = textOf(objectOf(object, "metadata"), "name");
  const addressed = withAddress(spec, before, (error) => invalid(gvk, name, [error]), allocator);
  const ported = withNodePorts(addressed, before, (error) => invalid(gvk, name, [error]), allocator);
  return { ...object, spec: withHealthCheckPort(ported, before, (error) => invalid(gvk, name, [error]), allocator) };
}

/** Load balancers that keep to their node ask each node for its health. */
function withHealthCheckPort(
  spec: JsonObject,
  before: JsonObject | undefined,
  refuse: Refuse,
  allocator: Allocator,
): JsonObject {
  if (!needsHealthCheckPort(spec)) return spec;
  const wanted = numberOf(spec, "healthCheckNodePort") ?? 0;
  if (wanted > 0 && wanted === before?.["healthCheckNodePort"]) return spec;
  const allotted = allocator.nodePort(wanted > 0 ? wanted : undefined);
  if (allotted === undefined) {
    const text = `failed to allocate requested HealthCheck NodePort ${wanted}: provided port is already allocated`;
    throw refuse(invalidValue("spec.healthCheckNodePort", wanted, text));
  }
  return { ...spec, healthCheckNodePort: allotted };
}

function needsHealthCheckPort(spec: JsonObject): boolean {
  return textOf(spec, "type") === "LoadBalancer" && textOf(spec, "externalTrafficPolicy") === "Local";
}

type Refuse = (error: FieldError) => StatusError;

function withAddress(
  spec: JsonObject,
  before: JsonObject | undefined,
  refuse: Refuse,
  allocator: Allocator,
): JsonObject {
  const wanted = textOf(spec, "clusterIP") || (textsOf(spec, "clusterIPs")[0] ?? "");
  const isKept = wanted !== "" && wanted === textOf(before, "clusterIP");
  const address = wanted === "None" || isKept ? wanted : allocator.clusterIp(wanted === "" ? undefined : wanted);
  if (address === undefined) {
    const detail =
      "failed to allocate IP " + `${wanted}: the provided IP is not in the valid range or is already allocated`;
    throw refuse(invalidValue("spec.clusterIPs", [wanted], detail));
  }
  const others = textsOf(spec, "clusterIPs").slice(1);
  // A headless Service without a selector may have endpoints of any family.
  const isOpen = address === "None" && Object.keys(objectOf(spec, "selector") ?? {}).length === 0;
  return withDefaults(
    { ...spec, clusterIP: address, clusterIPs: [address, ...others] },
    isOpen && textOf(spec, "ipFamilyPolicy") === ""
      ? { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" }
      : { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  );
}

function withNodePorts(
  spec: JsonObject,
  before: JsonObject | undefined,
  refuse: Refuse,
  allocator: Allocator,
): JsonObject {
  if (!needsNodePorts(spec)) return spec;
  const kept = new Set(
    before !== undefined && needsNodePorts(before) ? objectsOf(before, "ports").map((port) => port["nodePort"]) : [],
  );
  const ports: readonly Json[] = objectsOf(spec, "ports").map((port, index) => {
    const wanted = numberOf(port, "nodePort") ?? 0;
    if (wanted > 0 && kept.has(wanted)) return port;
    if (wanted > 0 && (wanted < nodePorts.first || wanted > nodePorts.last)) {
      const range = `provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`;
      throw refuse(invalidValue(`spec.ports[${index}].nodePort`, wanted, range));
    }
    const allotted = allocator.nodePort(wanted > 0 ? wanted : undefined);
    if (allotted === undefined) {
      throw refuse(invalidValue(`spec.ports[${index}].nodePort`, wanted, "provided port is already allocated"));
    }
    return { ...port, nodePort: allotted };
  });
  return { ...spec, ports };
}

function needsNodePorts(spec: JsonObject): boolean {
  const type = textOf(spec, "type");
  return type === "NodePort" || (type === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false);
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (object[field] === undefined ? [] : [[field, object[field]]])));
}
