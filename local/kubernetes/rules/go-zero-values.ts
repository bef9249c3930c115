/**
 * Which zero values Go's encoder leaves out. OpenAPI tells the fields that are always written (a zero default) but not
 * whether an optional scalar is a pointer, which keeps `false`, `0` or `""`, or a plain value, which does not.
 */
const plainBooleans = new Set([
  "chapAuthDiscovery",
  "chapAuthSession",
  "deprecated",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "globalDefault",
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "insecureSkipTLSVerify",
  "nullable",
  "paused",
  "preserveUnknownFields",
  "publishNotReadyAddresses",
  "readOnly",
  "sslEnabled",
  "stdin",
  "stdinOnce",
  "tty",
  "uniqueItems",
  "unschedulable",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
]);

const plainIntegers = new Set([
  "active",
  "availableReplicas",
  "code",
  "count",
  "currentReplicas",
  "deprecatedCount",
  "failed",
  "failureThreshold",
  "fullyLabeledReplicas",
  "generation",
  "healthCheckNodePort",
  "hostPort",
  "initialDelaySeconds",
  "minReadySeconds",
  "nodePort",
  "number",
  "numberAvailable",
  "numberUnavailable",
  "observedGeneration",
  "periodSeconds",
  "readyReplicas",
  "signal",
  "sizeBytes",
  "succeeded",
  "successThreshold",
  "timeoutSeconds",
  "unavailableReplicas",
  "updatedNumberScheduled",
  "updatedReplicas",
]);

const pointerStrings = new Set([
  "appProtocol",
  "ingressClassName",
  "loadBalancerClass",
  "runtimeClassName",
  "storageClassName",
  "volumeAttributesClassName",
]);

/** Lists that are written as null when they are not set, although no schema calls them required. */
const nullLists: Readonly<Record<string, readonly string[]>> = {
  Role: ["rules"],
  ClusterRole: ["rules"],
  EndpointSlice: ["ports"],
};

/** Times that are no pointers in Go, so a zero time is written as null. */
export const nullTimes: readonly string[] = [
  "lastHeartbeatTime",
  "lastProbeTime",
  "lastTransitionTime",
  "lastUpdateTime",
  "firstTimestamp",
  "lastTimestamp",
  "eventTime",
  "deprecatedFirstTimestamp",
  "deprecatedLastTimestamp",
];

/** Whether a zero scalar is left out when it is optional; `parent` is the name of the field that holds its object. */
export function omitsZero(field: string, value: boolean | number | string, parent: string): boolean {
  if (value === false) return plainBooleans.has(field);
  if (value === 0) return plainIntegers.has(field) || (field === "replicas" && parent === "status");
  if (value === "") return !pointerStrings.has(field);
  return false;
}

export function nullFields(kind: string): readonly string[] {
  return nullLists[kind] ?? [];
}
