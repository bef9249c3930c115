import { z } from "zod";
import { AnalysisMatch } from "./canary-routing.ts";
import { StringMap } from "./fields.ts";

/** As Flagger has it: only the beginning counts, so `1m30s` is one too. */
const duration = z.string().regex(/^[0-9]+(m|s)/, "must be a duration such as 30s or 5m");

/** Names an object that may be in another namespace. */
const NamespacedReference = z.object({
  name: z.string().describe("Name of the referent."),
  namespace: z.string().describe("Its namespace; that of the Canary by default.").exactOptional(),
});

const CanaryMetric = z.object({
  name: z.string().describe("Name; request-success-rate and request-duration are built in."),
  interval: duration.describe("Window of the query; 1m by default, for a template none.").exactOptional(),
  threshold: z.number().describe("Older form of thresholdRange.").exactOptional(),
  thresholdRange: z
    .object({
      min: z.number().describe("Least value that passes.").exactOptional(),
      max: z.number().describe("Greatest value that passes.").exactOptional(),
    })
    .describe("Which values pass.")
    .exactOptional(),
  query: z.string().describe("Query of Prometheus.").exactOptional(),
  templateRef: NamespacedReference.describe("MetricTemplate with the query.").exactOptional(),
  templateVariables: StringMap.describe("Variables of the template's query.").exactOptional(),
});
export type CanaryMetric = Readonly<z.infer<typeof CanaryMetric>>;

/** When a webhook is called; a webhook without a type is `rollout`. */
const hookTypes = [
  "",
  "confirm-rollout",
  "pre-rollout",
  "rollout",
  "confirm-promotion",
  "post-rollout",
  "event",
  "rollback",
  "confirm-traffic-increase",
] as const;

const CanaryWebhook = z.object({
  name: z.string().describe("Name in events."),
  url: z.string().describe("Address that is called."),
  type: z.enum(hookTypes).describe("When it is called; rollout, in each check, by default.").exactOptional(),
  timeout: duration.describe("Time limit of a call; 10s by default.").exactOptional(),
  retries: z.int().describe("How often a call is tried again.").exactOptional(),
  disableTLS: z.boolean().describe("Whether the server's certificate is not verified.").exactOptional(),
  muteAlert: z.boolean().describe("Whether a closed gate sends no alert.").exactOptional(),
  metadata: StringMap.describe("What is sent along.").exactOptional(),
});
export type CanaryWebhook = Readonly<z.infer<typeof CanaryWebhook>>;

/** A webhook that holds a run until it passes. */
export type GateType = Extract<CanaryWebhook["type"], `confirm-${string}`>;

const alertSeverities = ["info", "warn", "error"] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

const CanaryAlert = z.object({
  providerRef: NamespacedReference.describe("AlertProvider that gets the messages."),
  name: z.string().describe("Name of the alert."),
  severity: z
    .enum(["", ...alertSeverities])
    .describe("Lowest severity of its messages; if unset, it gets none.")
    .exactOptional(),
});
export type CanaryAlert = Readonly<z.infer<typeof CanaryAlert>>;

const SessionAffinity = z.object({
  cookieName: z.string().describe("Name of the cookie that keeps a client at the canary."),
  primaryCookieName: z.string().describe("Name of the cookie that keeps a client at the primary.").exactOptional(),
  domain: z.string().describe("Domain of the cookie.").exactOptional(),
  httpOnly: z.boolean().describe("Whether scripts cannot read the cookie.").exactOptional(),
  // Flagger reads 0 like an absent value, so the reader has the default too.
  maxAge: z.int().meta({ default: 86_400 }).describe("Seconds that the cookie lives.").exactOptional(),
  partitioned: z.boolean().describe("Whether the cookie is kept by partition.").exactOptional(),
  path: z.string().describe("Path of the cookie.").exactOptional(),
  sameSite: z
    .enum(["Strict", "Lax", "None"])
    .describe("Whether requests of other sites have the cookie.")
    .exactOptional(),
  secure: z.boolean().describe("Whether the cookie is sent by https only.").exactOptional(),
});
export type SessionAffinity = Readonly<z.infer<typeof SessionAffinity>>;

const AnalysisFields = z.object({
  interval: duration.describe("Time between two steps; less than 10s counts as 10s."),
  threshold: z.int().describe("Failed checks after which the canary is rolled back.").exactOptional(),
  iterations: z.int().describe("Number of checks of an A/B test or of Blue/Green.").exactOptional(),
  maxWeight: z.int().describe("Weight of the canary at which it is promoted; 100 by default.").exactOptional(),
  stepWeight: z.int().describe("How much the weight of the canary grows in a step.").exactOptional(),
  stepWeights: z.array(z.int()).describe("The weights of the canary, one for each step.").exactOptional(),
  stepWeightPromotion: z
    .int()
    .describe("How much the weight of the primary grows when it is promoted.")
    .exactOptional(),
  mirror: z.boolean().describe("Whether the canary first gets copies of requests.").exactOptional(),
  mirrorWeight: z.int().describe("Percent of requests that are copied.").exactOptional(),
  primaryReadyThreshold: z.int().describe("Percent of the primary's pods that must be available.").exactOptional(),
  canaryReadyThreshold: z.int().describe("Percent of the canary's pods that must be available.").exactOptional(),
  match: z
    .array(AnalysisMatch)
    .describe("Which requests go to the canary; with iterations an A/B test.")
    .exactOptional(),
  sessionAffinity: SessionAffinity.describe("Settings that keep a client at one version.").exactOptional(),
  metrics: z.array(CanaryMetric).describe("Metrics that are checked in each step.").exactOptional(),
  webhooks: z.array(CanaryWebhook).describe("Webhooks that are called.").exactOptional(),
  alerts: z.array(CanaryAlert).describe("Alerts that are sent.").exactOptional(),
});

/** Each of these fields selects one kind of run; they exclude each other. */
const strategies = ["iterations", "stepWeight", "stepWeights"] as const;

/**
 * `spec.analysis` of a Canary: how a change is tried out. The definition says it as Flagger's does, so that the API server answers with
 * the same words: the required fields stand in `oneOf` alone.
 */
export const CanaryAnalysis = AnalysisFields.refine(
  (fields) => fields.threshold !== undefined && strategies.filter((field) => fields[field] !== undefined).length === 1,
  `must have threshold and exactly one of ${strategies.join(", ")}`,
).meta({
  required: undefined,
  oneOf: strategies.map((strategy) => ({ required: ["interval", "threshold", strategy] })),
});
export type CanaryAnalysis = Readonly<z.infer<typeof CanaryAnalysis>>;
