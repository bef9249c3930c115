import type { JsonObject } from "../../core/json.ts";
import { mapItems, mapObject, objectOf, textOf, withDefaults } from "../../core/json-fields.ts";

const rbacGroup = "rbac.authorization.k8s.io";

export function bindingDefaults(binding: JsonObject): JsonObject {
  const withRole = mapObject(binding, "roleRef", (ref) =>
    textOf(ref, "apiGroup") === "" ? { ...ref, apiGroup: rbacGroup } : ref,
  );
  return mapItems(withRole, "subjects", (subject) =>
    ["User", "Group"].includes(textOf(subject, "kind")) && textOf(subject, "apiGroup") === ""
      ? { ...subject, apiGroup: rbacGroup }
      : subject,
  );
}

/** Default limits come from the maximum, default requests from default limits, then from the minimum. */
export function limitRangeDefaults(spec: JsonObject): JsonObject {
  return mapItems(spec, "limits", (item) => {
    if (textOf(item, "type") !== "Container") return item;
    const limits = { ...objectOf(item, "max"), ...objectOf(item, "default") };
    const requests = { ...objectOf(item, "min"), ...limits, ...objectOf(item, "defaultRequest") };
    return {
      ...item,
      ...(Object.keys(limits).length > 0 ? { default: limits } : {}),
      ...(Object.keys(requests).length > 0 ? { defaultRequest: requests } : {}),
    };
  });
}

export function webhookDefaults(webhook: JsonObject, isMutating: boolean): JsonObject {
  const withService = mapObject(webhook, "clientConfig", (config) =>
    mapObject(config, "service", (service) => withDefaults(service, { port: 443 })),
  );
  return withDefaults(mapItems(withService, "rules", ruleDefaults), {
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    ...(isMutating ? { reinvocationPolicy: "Never" } : {}),
  });
}

export function admissionPolicyDefaults(spec: JsonObject): JsonObject {
  return withDefaults(mapObject(spec, "matchConstraints", matchDefaults), { failurePolicy: "Fail" });
}

export function matchDefaults(match: JsonObject): JsonObject {
  const withRules = ["resourceRules", "excludeResourceRules"].reduce(
    (result, field) => mapItems(result, field, ruleDefaults),
    match,
  );
  return withDefaults(withRules, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
}

function ruleDefaults(rule: JsonObject): JsonObject {
  return withDefaults(rule, { scope: "*" });
}

export function crdDefaults(spec: JsonObject): JsonObject {
  const withNames = mapObject(spec, "names", (names) => {
    const kind = textOf(names, "kind");
    return kind === "" ? names : withDefaults(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  });
  const withConversion = withDefaults(withNames, { conversion: { strategy: "None" } });
  return mapObject(withConversion, "conversion", (conversion) =>
    mapObject(conversion, "webhook", (webhook) =>
      mapObject(webhook, "clientConfig", (config) =>
        mapObject(config, "service", (service) => withDefaults(service, { port: 443 })),
      ),
    ),
  );
}

export const csiDriverDefaults = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: "ReadWriteOnceWithFSType",
  volumeLifecycleModes: ["Persistent"],
  requiresRepublish: false,
  seLinuxMount: false,
} as const;
