import type { JsonObject } from "../../core/json.ts";
import { isList, objectOf, withDefaults } from "../../core/json-fields.ts";

const cpuTarget = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const scaleDown = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

/** autoscaling/v2: a CPU target where no metric is named, and both directions once one behaviour is given. */
export function autoscalerDefaults(spec: JsonObject): JsonObject {
  const { metrics } = spec;
  const isWithoutMetrics = !isList(metrics) || metrics.length === 0;
  const behavior = objectOf(spec, "behavior");
  return {
    ...withDefaults(spec, { minReplicas: 1 }),
    ...(isWithoutMetrics ? { metrics: [cpuTarget] } : {}),
    ...(behavior === undefined ? {} : { behavior: behaviorDefaults(behavior) }),
  };
}

function behaviorDefaults(behavior: JsonObject): JsonObject {
  return {
    ...behavior,
    scaleUp: withDefaults(objectOf(behavior, "scaleUp") ?? {}, scaleUp),
    scaleDown: withDefaults(objectOf(behavior, "scaleDown") ?? {}, scaleDown),
  };
}
