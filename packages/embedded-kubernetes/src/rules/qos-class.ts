import { canonicalJson, type JsonObject } from "../core/json.ts";
import { objectOf, objectsOf } from "../core/json-fields.ts";

/** BestEffort without any amounts, Guaranteed where every container's limits are its requests, else Burstable. */
export function qosClass(spec: JsonObject | undefined): string {
  const containers = [...objectsOf(spec, "initContainers"), ...objectsOf(spec, "containers")];
  const resources = containers.map((container) => objectOf(container, "resources") ?? {});
  const amounts = resources.flatMap((resource) => [objectOf(resource, "limits"), objectOf(resource, "requests")]);
  if (amounts.every((amount) => amount === undefined || Object.keys(amount).length === 0)) return "BestEffort";
  const isGuaranteed = resources.every((resource) => {
    const limits = objectOf(resource, "limits");
    const isBounded = limits?.["cpu"] !== undefined && limits["memory"] !== undefined;
    return isBounded && canonicalJson(limits) === canonicalJson(resource["requests"]);
  });
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
