import type { JsonObject } from "../../core/json.ts";
import { mapItems, mapObject, objectOf, textOf, withDefaults } from "../../core/json-fields.ts";
import { podSpecDefaults } from "./pod-defaults.ts";

const maxInt32 = 2_147_483_647;

export function templateDefaults(spec: JsonObject): JsonObject {
  return mapObject(spec, "template", (template) =>
    mapObject(template, "spec", (podSpec) => podSpecDefaults(podSpec, false)),
  );
}

export function deploymentDefaults(spec: JsonObject): JsonObject {
  const defaulted = withDefaults(templateDefaults(spec), {
    replicas: 1,
    strategy: {},
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  return mapObject(defaulted, "strategy", (strategy) =>
    rollingUpdate(strategy, { maxUnavailable: "25%", maxSurge: "25%" }),
  );
}

export function daemonSetDefaults(spec: JsonObject): JsonObject {
  const defaulted = withDefaults(templateDefaults(spec), { updateStrategy: {}, revisionHistoryLimit: 10 });
  return mapObject(defaulted, "updateStrategy", (strategy) =>
    rollingUpdate(strategy, { maxUnavailable: 1, maxSurge: 0 }),
  );
}

/** A strategy without a type rolls; one that rolls has its numbers. */
function rollingUpdate(strategy: JsonObject, numbers: JsonObject): JsonObject {
  const typed = textOf(strategy, "type") === "" ? { ...strategy, type: "RollingUpdate" } : strategy;
  if (typed["type"] !== "RollingUpdate") return typed;
  return { ...typed, rollingUpdate: withDefaults(objectOf(typed, "rollingUpdate") ?? {}, numbers) };
}

export function statefulSetDefaults(spec: JsonObject): JsonObject {
  const defaulted = withDefaults(templateDefaults(spec), {
    podManagementPolicy: "OrderedReady",
    updateStrategy: {},
    persistentVolumeClaimRetentionPolicy: {},
    replicas: 1,
    revisionHistoryLimit: 10,
  });
  const withStrategy = mapObject(defaulted, "updateStrategy", statefulSetStrategy);
  const withRetention = mapObject(withStrategy, "persistentVolumeClaimRetentionPolicy", (policy) =>
    withDefaults(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
  );
  return mapItems(withRetention, "volumeClaimTemplates", claimTemplateDefaults);
}

/** Unlike a Deployment, a StatefulSet that names the type and no numbers keeps none. */
function statefulSetStrategy(strategy: JsonObject): JsonObject {
  const typed =
    textOf(strategy, "type") === ""
      ? { ...strategy, type: "RollingUpdate", rollingUpdate: objectOf(strategy, "rollingUpdate") ?? {} }
      : strategy;
  return typed["type"] === "RollingUpdate"
    ? mapObject(typed, "rollingUpdate", (rolling) => withDefaults(rolling, { partition: 0 }))
    : typed;
}

function claimTemplateDefaults(claim: JsonObject): JsonObject {
  const typed = withDefaults(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim", status: {} });
  return claimDefaults(typed);
}

export function claimDefaults(claim: JsonObject): JsonObject {
  const withSpec = mapObject(claim, "spec", (spec) => withDefaults(spec, { volumeMode: "Filesystem" }));
  return mapObject(withSpec, "status", (status) => withDefaults(status, { phase: "Pending" }));
}

export function replicaSetDefaults(spec: JsonObject): JsonObject {
  return withDefaults(templateDefaults(spec), { replicas: 1 });
}

export function jobDefaults(spec: JsonObject): JsonObject {
  const isUncounted = isMissing(spec, "completions") && isMissing(spec, "parallelism");
  return withDefaults(templateDefaults(spec), {
    ...(isUncounted ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: isMissing(spec, "backoffLimitPerIndex") ? 6 : maxInt32,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: isMissing(spec, "podFailurePolicy") ? "TerminatingOrFailed" : "Failed",
    manualSelector: false,
  });
}

export function cronJobDefaults(spec: JsonObject): JsonObject {
  const withTemplate = mapObject(spec, "jobTemplate", (template) => mapObject(template, "spec", templateDefaults));
  return withDefaults(withTemplate, {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
}

function isMissing(object: JsonObject, field: string): boolean {
  return object[field] === undefined || object[field] === null;
}

/** Where a DaemonSet shows how often its template changed; who sends none begins anew, until the server sets it right. */
export const templateGeneration = "deprecated.daemonset.template.generation";

export function withTemplateGeneration(set: JsonObject): JsonObject {
  const metadata = objectOf(set, "metadata") ?? {};
  const annotations = withDefaults(objectOf(metadata, "annotations") ?? {}, { [templateGeneration]: "0" });
  return { ...set, metadata: { ...metadata, annotations } };
}
