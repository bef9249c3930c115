import { z } from "zod";
import { Condition } from "./condition.ts";
import { LocalReference, StringMap } from "./fields.ts";

const interval = z.string().regex(/^[0-9]+(m|s)/, "must be a duration such as 30s or 5m");

const ObjectReference = z.object({
  apiVersion: z.string().describe("API version of the referent.").exactOptional(),
  kind: z.string().describe("Kind of the referent."),
  name: z.string().describe("Name of the referent."),
});
export type TargetReference = Readonly<z.infer<typeof ObjectReference>>;

const NamespacedReference = z.object({
  apiVersion: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  name: z.string().describe("Name of the referent."),
  namespace: z.string().describe("Namespace of the referent; that of the Canary by default.").exactOptional(),
});

const ServiceMetadata = z.object({ labels: StringMap.exactOptional(), annotations: StringMap.exactOptional() });

const StringMatch = z.object({
  exact: z.string().exactOptional(),
  prefix: z.string().exactOptional(),
  suffix: z.string().exactOptional(),
  regex: z.string().exactOptional(),
});
export type StringMatch = Readonly<z.infer<typeof StringMatch>>;

/** A condition on requests, as Istio writes it. */
const RouteMatch = z.looseObject({
  name: z.string().exactOptional(),
  uri: StringMatch.exactOptional(),
  scheme: StringMatch.exactOptional(),
  method: StringMatch.exactOptional(),
  authority: StringMatch.exactOptional(),
  headers: z.record(z.string(), StringMatch).exactOptional(),
  queryParams: z.record(z.string(), StringMatch).exactOptional(),
  sourceLabels: StringMap.exactOptional(),
  gateways: z.array(z.string()).exactOptional(),
});
export type RouteMatch = Readonly<z.infer<typeof RouteMatch>>;

const GatewayReference = z.object({
  group: z.string().default("gateway.networking.k8s.io"),
  kind: z.string().default("Gateway"),
  namespace: z.string().exactOptional(),
  name: z.string(),
  sectionName: z.string().exactOptional(),
  port: z.int().exactOptional(),
});
export type GatewayReference = Readonly<z.infer<typeof GatewayReference>>;

const HeaderOperations = z.object({
  set: StringMap.exactOptional(),
  add: StringMap.exactOptional(),
  remove: z.array(z.string()).exactOptional(),
});

export const CanaryService = z.object({
  name: z.string().describe("Name of the apex Service; that of the target by default.").exactOptional(),
  port: z.int().describe("Port of the Services."),
  portName: z.string().describe("Name of the port.").exactOptional(),
  targetPort: z.union([z.int(), z.string()]).describe("Port of the containers, by number or name.").exactOptional(),
  appProtocol: z.string().exactOptional(),
  trafficDistribution: z.string().exactOptional(),
  portDiscovery: z.boolean().describe("Whether other ports of the containers are added.").exactOptional(),
  headless: z.boolean().exactOptional(),
  timeout: z.string().exactOptional(),
  backendTimeout: z.string().exactOptional(),
  gateways: z.array(z.string()).exactOptional(),
  gatewayRefs: z.array(GatewayReference).exactOptional(),
  hosts: z.array(z.string()).exactOptional(),
  delegation: z.boolean().exactOptional(),
  trafficPolicy: z.looseObject({}).exactOptional(),
  match: z.array(RouteMatch).exactOptional(),
  rewrite: z
    .object({
      uri: z.string().exactOptional(),
      authority: z.string().exactOptional(),
      type: z.string().exactOptional(),
    })
    .exactOptional(),
  retries: z.looseObject({}).exactOptional(),
  headers: z
    .object({ request: HeaderOperations.exactOptional(), response: HeaderOperations.exactOptional() })
    .exactOptional(),
  mirror: z.array(z.looseObject({})).exactOptional(),
  corsPolicy: z.looseObject({}).exactOptional(),
  meshName: z.string().exactOptional(),
  backends: z.array(z.string()).exactOptional(),
  apex: ServiceMetadata.exactOptional(),
  primary: ServiceMetadata.exactOptional(),
  canary: ServiceMetadata.exactOptional(),
  unmanagedMetadata: z
    .object({ labels: z.array(z.string()).exactOptional(), annotations: z.array(z.string()).exactOptional() })
    .exactOptional(),
});
export type CanaryService = Readonly<z.infer<typeof CanaryService>>;

const CanaryMetric = z.object({
  name: z.string(),
  interval: interval.exactOptional(),
  threshold: z.number().exactOptional(),
  thresholdRange: z.object({ min: z.number().exactOptional(), max: z.number().exactOptional() }).exactOptional(),
  query: z.string().exactOptional(),
  templateRef: NamespacedReference.exactOptional(),
  templateVariables: StringMap.exactOptional(),
});
export type CanaryMetric = Readonly<z.infer<typeof CanaryMetric>>;

/** When a webhook is called; a webhook without a type is `rollout`. */
export const hookTypes = [
  "",
  "confirm-rollout",
  "pre-rollout",
  "rollout",
  "confirm-traffic-increase",
  "confirm-promotion",
  "post-rollout",
  "event",
  "rollback",
] as const;

const CanaryWebhook = z.object({
  name: z.string(),
  url: z.string(),
  type: z.enum(hookTypes).exactOptional(),
  timeout: interval.exactOptional(),
  retries: z.int().exactOptional(),
  disableTLS: z.boolean().exactOptional(),
  muteAlert: z.boolean().exactOptional(),
  metadata: StringMap.exactOptional(),
});
export type CanaryWebhook = Readonly<z.infer<typeof CanaryWebhook>>;

export const alertSeverities = ["info", "warn", "error"] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

const CanaryAlert = z.object({
  name: z.string(),
  severity: z.enum(alertSeverities).exactOptional(),
  providerRef: NamespacedReference,
});
export type CanaryAlert = Readonly<z.infer<typeof CanaryAlert>>;

const SessionAffinity = z.object({
  cookieName: z.string().exactOptional(),
  domain: z.string().exactOptional(),
  httpOnly: z.boolean().exactOptional(),
  maxAge: z.int().exactOptional(),
  partitioned: z.boolean().exactOptional(),
  path: z.string().exactOptional(),
  sameSite: z.enum(["Strict", "Lax", "None"]).exactOptional(),
  secure: z.boolean().exactOptional(),
  primaryCookieName: z.string().exactOptional(),
});
export type SessionAffinity = Readonly<z.infer<typeof SessionAffinity>>;

export const CanaryAnalysis = z.object({
  interval: interval.describe("Period of the steps; less than 10s counts as 10s."),
  threshold: z.int().describe("Failed checks that roll back.").exactOptional(),
  iterations: z.int().exactOptional(),
  maxWeight: z.int().exactOptional(),
  stepWeight: z.int().exactOptional(),
  stepWeights: z.array(z.int()).exactOptional(),
  stepWeightPromotion: z.int().exactOptional(),
  mirror: z.boolean().exactOptional(),
  mirrorWeight: z.int().exactOptional(),
  primaryReadyThreshold: z.int().exactOptional(),
  canaryReadyThreshold: z.int().exactOptional(),
  match: z.array(RouteMatch).exactOptional(),
  sessionAffinity: SessionAffinity.exactOptional(),
  metrics: z.array(CanaryMetric).exactOptional(),
  webhooks: z.array(CanaryWebhook).exactOptional(),
  alerts: z.array(CanaryAlert).exactOptional(),
});
export type CanaryAnalysis = Readonly<z.infer<typeof CanaryAnalysis>>;

/** `spec` of a Canary (reference canary 2). The CRD is generated from it. */
export const CanarySpec = z.object({
  provider: z.string().describe("Who routes the traffic; that of the installation by default.").exactOptional(),
  metricsServer: z.string().describe("Address of Prometheus for built-in metrics and queries.").exactOptional(),
  targetRef: ObjectReference.describe("Workload that is released step by step."),
  autoscalerRef: z
    .object({
      ...ObjectReference.shape,
      primaryScalerQueries: StringMap.exactOptional(),
      primaryScalerReplicas: z
        .object({ minReplicas: z.int().exactOptional(), maxReplicas: z.int().exactOptional() })
        .exactOptional(),
    })
    .exactOptional(),
  ingressRef: ObjectReference.exactOptional(),
  routeRef: ObjectReference.exactOptional(),
  upstreamRef: NamespacedReference.exactOptional(),
  service: CanaryService,
  analysis: CanaryAnalysis.exactOptional(),
  canaryAnalysis: CanaryAnalysis.describe("Former name of analysis.").exactOptional(),
  progressDeadlineSeconds: z.int().describe("Time to become available; 600 by default.").exactOptional(),
  skipAnalysis: z.boolean().describe("Whether a change is promoted without checks.").exactOptional(),
  revertOnDeletion: z
    .boolean()
    .describe("Whether the target takes over again when the Canary is deleted.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether no step is taken until further notice.").exactOptional(),
});
export type CanarySpec = Readonly<z.infer<typeof CanarySpec>>;

export const canaryPhases = [
  "Initializing",
  "Initialized",
  "Waiting",
  "Progressing",
  "WaitingPromotion",
  "Promoting",
  "Finalising",
  "Succeeded",
  "Failed",
  "Terminating",
  "Terminated",
] as const;
export type CanaryPhase = (typeof canaryPhases)[number];

const PromotedCondition = Condition.extend({ lastUpdateTime: z.string().exactOptional() });

/** `status` of a Canary (reference canary 3). */
export const CanaryStatus = z.object({
  phase: z.enum(canaryPhases).exactOptional(),
  canaryWeight: z.int().exactOptional(),
  failedChecks: z.int().exactOptional(),
  iterations: z.int().exactOptional(),
  lastAppliedSpec: z.string().exactOptional(),
  lastPromotedSpec: z.string().exactOptional(),
  lastTransitionTime: z.string().exactOptional(),
  trackedConfigs: StringMap.exactOptional(),
  sessionAffinityCookie: z.string().exactOptional(),
  previousSessionAffinityCookie: z.string().exactOptional(),
  primarySessionAffinityCookie: z.string().exactOptional(),
  conditions: z.array(PromotedCondition).exactOptional(),
});
export type CanaryStatus = Readonly<z.infer<typeof CanaryStatus>>;

/** `spec` of a MetricTemplate (reference canary 11.3). */
export const MetricTemplateSpec = z.object({
  provider: z.object({
    type: z.string().describe("Which kind of server answers the query.").exactOptional(),
    address: z.string().exactOptional(),
    secretRef: LocalReference.exactOptional(),
    region: z.string().exactOptional(),
    headers: z.record(z.string(), z.array(z.string())).exactOptional(),
    insecureSkipVerify: z.boolean().exactOptional(),
  }),
  query: z.string().describe("Template of the query, with the functions of Flagger."),
});
export type MetricTemplateSpec = Readonly<z.infer<typeof MetricTemplateSpec>>;

/** `spec` of an AlertProvider (reference canary 13). */
export const AlertProviderSpec = z.object({
  type: z.enum(["slack", "msteams", "discord", "rocket", "gchat"]),
  channel: z.string().exactOptional(),
  username: z.string().exactOptional(),
  address: z.string().exactOptional(),
  proxy: z.string().exactOptional(),
  secretRef: LocalReference.exactOptional(),
});
export type AlertProviderSpec = Readonly<z.infer<typeof AlertProviderSpec>>;
