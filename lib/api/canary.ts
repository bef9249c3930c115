import { z } from "zod";
import { CanaryAnalysis } from "./canary-analysis.ts";
import { canaryProviders } from "./canary-providers.ts";
import { CanaryService } from "./canary-service.ts";
import { Condition } from "./condition.ts";
import { StringMap } from "./fields.ts";

export {
  type AlertSeverity,
  type CanaryAlert,
  type CanaryMetric,
  type CanaryWebhook,
  type GateType,
  type SessionAffinity,
} from "./canary-analysis.ts";
export type { GatewayReference, RouteMatch, StringMatch } from "./canary-routing.ts";
export { CanaryAnalysis, CanaryService };

const referenceTo = <const Kind extends string>(...kinds: readonly [Kind, ...Kind[]]) =>
  z.object({
    apiVersion: z.string().describe("API version of the referent."),
    kind: z.enum(kinds).describe("Kind of the referent."),
    name: z.string().describe("Name of the referent."),
  });

const TargetReference = referenceTo("DaemonSet", "Deployment", "Service");
export type TargetReference = Readonly<z.infer<typeof TargetReference>>;

const replicas = (what: string) => z.int().min(1).describe(what).exactOptional();

/** `spec` of a Canary (reference canary 2). The CRD is generated from it. */
export const CanarySpec = z.object({
  provider: z
    .enum(canaryProviders)
    .describe("Who routes the traffic; that of the installation by default.")
    .exactOptional(),
  metricsServer: z.string().describe("Address of Prometheus; that of the installation by default.").exactOptional(),
  targetRef: TargetReference.describe("Workload that is released step by step."),
  autoscalerRef: referenceTo("HorizontalPodAutoscaler", "ScaledObject")
    .extend({
      primaryScalerQueries: StringMap.describe("Queries of the primary's ScaledObject, by trigger.").exactOptional(),
      primaryScalerReplicas: z
        .object({ minReplicas: replicas("Least number of pods."), maxReplicas: replicas("Greatest number of pods.") })
        .describe("Limits of the primary's scaler, where they differ from the target's.")
        .exactOptional(),
    })
    .describe("What scales the target.")
    .exactOptional(),
  ingressRef: referenceTo("Ingress").describe("Ingress of the target; nginx and skipper only.").exactOptional(),
  routeRef: referenceTo("ApisixRoute").describe("Route of the target; APISIX only.").exactOptional(),
  upstreamRef: referenceTo("Upstream")
    .extend({ namespace: z.string().describe("Namespace of the referent.").exactOptional() })
    .describe("Upstream whose settings are copied; Gloo only.")
    .exactOptional(),
  // Knative has no Services here. For all others the API server says that no port is 0, as with Flagger.
  service: CanaryService.default({ port: 0 }).meta({ default: undefined }).describe("Services and their traffic."),
  analysis: CanaryAnalysis.describe("How a change is tried out."),
  progressDeadlineSeconds: z
    .int()
    .describe("Seconds in which pods must become available; 600 by default.")
    .exactOptional(),
  skipAnalysis: z.boolean().describe("Whether a change is promoted without checks.").exactOptional(),
  revertOnDeletion: z.boolean().describe("Whether the target serves again when the Canary is deleted.").exactOptional(),
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

const dateTime = z.string().meta({ format: "date-time" });

const PromotedCondition = Condition.omit({ observedGeneration: true }).extend({
  lastUpdateTime: dateTime.describe("When it was written.").exactOptional(),
});

/** `status` of a Canary (reference canary 3). */
export const CanaryStatus = z.object({
  phase: z
    .enum(canaryPhases)
    .meta({ enum: ["", ...canaryPhases] })
    .describe("Where the Canary stands.")
    .exactOptional(),
  canaryWeight: z.int().describe("Percent of the traffic that the canary gets.").exactOptional(),
  failedChecks: z.int().describe("Failed checks of the present run.").exactOptional(),
  iterations: z.int().describe("Checks of the present run of an A/B test or of Blue/Green.").exactOptional(),
  lastAppliedSpec: z.string().describe("Hash of the target's template of the last run.").exactOptional(),
  lastPromotedSpec: z.string().describe("Hash of the target's template that the primary has.").exactOptional(),
  lastTransitionTime: dateTime.describe("When this was written.").exactOptional(),
  trackedConfigs: StringMap.describe("Hashes of the ConfigMaps and Secrets of the target.").exactOptional(),
  sessionAffinityCookie: z.string().describe("Cookie of the present run.").exactOptional(),
  previousSessionAffinityCookie: z.string().describe("Cookie of the run before.").exactOptional(),
  primarySessionAffinityCookie: z.string().describe("Cookie of the primary.").exactOptional(),
  conditions: z.array(PromotedCondition).describe("How the Canary is doing.").exactOptional(),
});
export type CanaryStatus = Readonly<z.infer<typeof CanaryStatus>>;

export { AlertProviderSpec } from "./alert-provider.ts";
export { MetricTemplateSpec } from "./metric-template.ts";
