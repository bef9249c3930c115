import type { JsonObject } from "../../core/json.ts";
import { itemsOf, mapItems, objectOf, textOf, withDefaults, without } from "../../core/json-fields.ts";

const clientIpTimeoutSeconds = 10_800;

export function serviceDefaults(spec: JsonObject): JsonObject {
  const typed = withDefaults(spec, { sessionAffinity: "None", type: "ClusterIP" });
  const type = textOf(typed, "type");
  const isExposed = type === "NodePort" || type === "LoadBalancer";
  const isReachable = isExposed || (type === "ClusterIP" && itemsOf(spec, "externalIPs").length > 0);
  const withPolicies = withDefaults(mapItems(affinityDefaults(typed), "ports", portDefaults), {
    ...(isReachable ? { externalTrafficPolicy: "Cluster" } : {}),
    ...(isExposed || type === "ClusterIP" ? { internalTrafficPolicy: "Cluster" } : {}),
    ...(type === "LoadBalancer" ? { allocateLoadBalancerNodePorts: true } : {}),
  });
  return withPolicies;
}

function affinityDefaults(spec: JsonObject): JsonObject {
  if (textOf(spec, "sessionAffinity") !== "ClientIP") return without(spec, "sessionAffinityConfig");
  const config = objectOf(spec, "sessionAffinityConfig") ?? {};
  const clientIP = withDefaults(objectOf(config, "clientIP") ?? {}, { timeoutSeconds: clientIpTimeoutSeconds });
  return { ...spec, sessionAffinityConfig: { ...config, clientIP } };
}

function portDefaults(port: JsonObject): JsonObject {
  const target = port["targetPort"];
  const isUnset = target === undefined || target === null || target === 0 || target === "";
  const protocol = textOf(port, "protocol") || "TCP";
  return { ...port, protocol, ...(isUnset ? { targetPort: port["port"] ?? 0 } : {}) };
}

/** Addresses of Endpoints have ports with a protocol. */
export function endpointsDefaults(object: JsonObject): JsonObject {
  return mapItems(object, "subsets", (subset) =>
    mapItems(subset, "ports", (port) => withDefaults(port, { protocol: "TCP" })),
  );
}

export function networkPolicyDefaults(spec: JsonObject): JsonObject {
  const rules = ["ingress", "egress"].reduce(
    (result, field) => mapItems(result, field, (rule) => mapItems(rule, "ports", policyPort)),
    spec,
  );
  const hasEgress = Array.isArray(spec["egress"]) && spec["egress"].length > 0;
  return withDefaults(rules, { policyTypes: hasEgress ? ["Ingress", "Egress"] : ["Ingress"] });
}

function policyPort(port: JsonObject): JsonObject {
  return withDefaults(port, { protocol: "TCP" });
}
