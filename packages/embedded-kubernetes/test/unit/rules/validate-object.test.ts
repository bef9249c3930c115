import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { errorsOf, kinds } from "./errors-of.ts";
import { deploymentOf, metadata, podOf, selector } from "./sample-workloads.ts";

const creations: readonly {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  readonly object: JsonObject;
  readonly errors: readonly string[];
}[] = [
  { name: "a valid Pod", kind: "pod", object: podOf({}), errors: [] },
  {
    name: "two handlers of a probe",
    kind: "pod",
    object: podOf({ livenessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } }),
    errors: ["spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
  },
  {
    name: "a liveness probe that wants two successes",
    kind: "pod",
    object: podOf({ livenessProbe: { tcpSocket: { port: "http" }, successThreshold: 2 } }),
    errors: ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
  },
  {
    name: "requests above limits",
    kind: "pod",
    object: podOf({ resources: { requests: { cpu: "2" }, limits: { cpu: "1500m" } } }),
    errors: [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1500m',
    ],
  },
  {
    name: "a mount path used twice",
    kind: "pod",
    object: podOf(
      {
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "v", mountPath: "/v" },
        ],
      },
      { volumes: [{ name: "v" }] },
    ),
    errors: ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/v": must be unique'],
  },
  {
    name: "an environment variable from nowhere",
    kind: "pod",
    object: podOf({ env: [{ name: "A", valueFrom: {} }] }),
    errors: [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
  },
  {
    name: "an unknown resource and a negative amount",
    kind: "pod",
    object: podOf({ resources: { requests: { gold: "1", memory: "-1" } } }),
    errors: [
      'spec.containers[0].resources.requests[gold]: Invalid value: "gold": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[gold]: Invalid value: "gold": must be a standard resource for containers',
      'spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    name: "a toleration without key that compares",
    kind: "pod",
    object: podOf({}, { tolerations: [{ operator: "Equal", value: "x" }] }),
    errors: [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  },
  {
    name: "a rollout that may neither add nor remove",
    kind: "deployment",
    object: deploymentOf({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } }),
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  },
  {
    name: "more than 100 % unavailable",
    kind: "deployment",
    object: deploymentOf({ strategy: { rollingUpdate: { maxUnavailable: "101%" } } }),
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  },
  {
    name: "a deadline before the Pods can be ready",
    kind: "deployment",
    object: deploymentOf({ minReadySeconds: 600 }),
    errors: ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
  },
  {
    name: "an empty selector",
    kind: "deployment",
    object: deploymentOf({ selector: {} }),
    errors: ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  },
  {
    name: "a claim's volume may be mounted in a StatefulSet",
    kind: "statefulSet",
    object: {
      metadata,
      spec: {
        selector,
        serviceName: "a",
        template: {
          metadata: { labels: { app: "a" } },
          spec: { containers: [{ name: "app", image: "x:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }] },
        },
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      },
    },
    errors: [],
  },
  {
    name: "the same port twice",
    kind: "service",
    object: {
      metadata,
      spec: {
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 80 },
        ],
      },
    },
    errors: [
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  },
  {
    name: "an invalid external name",
    kind: "service",
    object: { metadata, spec: { type: "ExternalName" } },
    errors: ["spec.externalName: Required value"],
  },
  {
    name: "a data key that is not a file name",
    kind: "configMap",
    object: { metadata, data: { "..": "x" } },
    errors: ["data[..]: Invalid value: \"..\": must not be '..'"],
  },
  {
    name: "a key in data and binaryData",
    kind: "configMap",
    object: { metadata, data: { k: "x" }, binaryData: { k: "eA==" } },
    errors: ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
  },
  {
    name: "a docker configuration that is missing",
    kind: "secret",
    object: { metadata, type: "kubernetes.io/dockerconfigjson" },
    errors: ["data[.dockerconfigjson]: Required value"],
  },
  {
    name: "a claim without modes and size",
    kind: "claim",
    object: { metadata, spec: {} },
    errors: [
      "spec.accessModes: Required value: at least 1 access mode is required",
      "spec.resources[storage]: Required value",
    ],
  },
  {
    name: "a minute that does not exist",
    kind: "cronJob",
    object: {
      metadata,
      spec: {
        schedule: "61 * * * *",
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "app", image: "x:1" }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
  },
  {
    name: "a path without a type, whose other faults are not reported",
    kind: "ingress",
    object: {
      metadata,
      spec: { rules: [{ host: "h.test", http: { paths: [{ path: "/", backend: { service: { name: "s" } } }] } }] },
    },
    errors: ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
  },
  {
    name: "a relative path",
    kind: "ingress",
    object: {
      metadata,
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: "x", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    errors: ['spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path'],
  },
  {
    name: "a peer without a selector",
    kind: "networkPolicy",
    object: { metadata, spec: { podSelector: {}, ingress: [{ from: [{}] }] } },
    errors: ["spec.ingress[0].from[0]: Required value: must specify a peer"],
  },
  {
    name: "a metric without its source",
    kind: "autoscaler",
    object: {
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
        maxReplicas: 2,
        metrics: [{ type: "Pods" }],
      },
    },
    errors: ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
  },
  {
    name: "more than 100 % available",
    kind: "budget",
    object: { metadata, spec: { minAvailable: "200%", selector } },
    errors: ['spec.minAvailable: Invalid value: "200%": must not be greater than 100%'],
  },
  {
    name: "a rule that allows nothing",
    kind: "role",
    object: { metadata, rules: [{ apiGroups: [""], resources: ["pods"] }] },
    errors: ["rules[0].verbs: Required value: verbs must contain at least one value"],
  },
  {
    name: "a service account without a namespace, which gets the binding's own",
    kind: "binding",
    object: { metadata, roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s" }] },
    errors: [],
  },
];

describe("creating an object", () => {
  test.each(creations)("$name", ({ kind, object, errors }) => {
    expect(errorsOf(kinds[kind], object)).toEqual(errors);
  });
});
