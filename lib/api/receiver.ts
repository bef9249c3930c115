import { z } from "zod";
import { Conditions } from "./condition.ts";
import { limited } from "./field-marks.ts";
import { Duration, fluxKinds, LocalReference, StringMap } from "./fields.ts";

/** The audience of tokens if a provider names none: the CRD leaves it out, as Flux's does. */
export const defaultAudience = "notification-controller";

/** Each is listed in every run and looked at for each delivery. */
export const maxReceiverResources = 1_000;
export const maxReceiverEvents = 1_000;
/** The longest filter, variable or validation, in characters. */
export const maxExpressionChars = 16_384;

const Expression = z.string().max(maxExpressionChars);

const ReceiverResource = z.object({
  apiVersion: z
    .string()
    .describe(
      "API version of the resource; those of sources, of ImageRepository and of ArtifactGenerator have a default.",
    )
    .exactOptional(),
  kind: z.enum(fluxKinds).describe("Kind of the resource."),
  name: z.string().min(1).max(253).describe("Name of the resource; * is every one with matchLabels."),
  namespace: z
    .string()
    .min(1)
    .max(253)
    .describe("Namespace of the resource; that of the Receiver by default.")
    .exactOptional(),
  matchLabels: StringMap.describe("Labels that resources must have where name is *.").exactOptional(),
  filter: Expression.describe("CEL expression over res and req: whether a delivery is for a resource.").exactOptional(),
});
export type ReceiverResource = Readonly<z.infer<typeof ReceiverResource>>;

const OidcProvider = z.object({
  issuerURL: z
    .string()
    .regex(/^https?:\/\//, "must begin with https:// or http://")
    .describe("Issuer of the tokens, byte for byte as their claim iss."),
  audience: z.string().describe(`Audience that tokens must have; ${defaultAudience} by default.`).exactOptional(),
  variables: z
    .array(
      z.object({
        name: z.string().describe("Name, visible to later expressions as vars.<name>."),
        expression: Expression.describe("CEL expression over claims and earlier vars."),
      }),
    )
    .describe("Values that are computed in order.")
    .exactOptional(),
  validations: z
    .array(
      z.object({
        expression: Expression.describe("CEL expression over claims and vars that must be true."),
        message: z.string().describe("What the log says if it is false."),
      }),
    )
    .min(1)
    .describe("Conditions that a token must meet, all of them."),
});

/** The checks of Flux's API server and controller, with their texts. */
const combinations: readonly {
  readonly rule: string;
  readonly message: string;
  /** The controller's texts, if they differ. */
  readonly reported?: string;
  readonly holds: (spec: {
    readonly type: string;
    readonly secretRef?: unknown;
    readonly oidcProviders?: readonly unknown[];
  }) => boolean;
}[] = [
  {
    rule: "self.type != 'generic-oidc' || (has(self.oidcProviders) && size(self.oidcProviders) > 0)",
    message: "generic-oidc receivers must define at least one oidcProvider",
    reported: "generic-oidc receiver requires at least one oidcProvider",
    holds: ({ type, oidcProviders = [] }) => type !== "generic-oidc" || oidcProviders.length > 0,
  },
  {
    rule: "self.type == 'generic-oidc' || !has(self.oidcProviders) || size(self.oidcProviders) == 0",
    message: "oidcProviders can only be set when type is generic-oidc",
    holds: ({ type, oidcProviders = [] }) => type === "generic-oidc" || oidcProviders.length === 0,
  },
  {
    rule: "self.type != 'generic-oidc' || !has(self.secretRef)",
    message: "secretRef cannot be set when type is generic-oidc",
    holds: ({ type, secretRef }) => type !== "generic-oidc" || secretRef === undefined,
  },
  {
    rule: "self.type == 'generic-oidc' || has(self.secretRef)",
    message: "secretRef is required when type is not generic-oidc",
    holds: ({ type, secretRef }) => type === "generic-oidc" || secretRef !== undefined,
  },
];

export const receiverTypes = [
  "generic",
  "generic-hmac",
  "generic-oidc",
  "github",
  "gitlab",
  "bitbucket",
  "harbor",
  "dockerhub",
  "quay",
  "gcr",
  "nexus",
  "acr",
  "cdevents",
] as const;
export type ReceiverType = (typeof receiverTypes)[number];

/** `spec` of a Receiver (reference notifications 2). The CRD is generated from it. */
export const ReceiverSpec = z
  .object({
    type: z.enum(receiverTypes).describe("Who calls the webhook, and how it proves that."),
    interval: Duration.default("10m").describe("Time between two checks of the Secret and of the selected objects."),
    events: limited(
      z
        .array(z.string())
        .describe("Events that count, for github, gitlab, bitbucket and cdevents; all by default.")
        .exactOptional(),
      { max: maxReceiverEvents, unit: "items" },
    ),
    resources: limited(z.array(ReceiverResource).describe("Objects whose run a delivery requests."), {
      max: maxReceiverResources,
      unit: "items",
    }),
    resourceFilter: Expression.describe("CEL expression over res and req for every resource.").exactOptional(),
    secretRef: LocalReference.describe("Secret with the token, in the namespace of the Receiver.").exactOptional(),
    oidcProviders: z
      .array(OidcProvider)
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["issuerURL"] })
      .describe("Issuers whose tokens count, for generic-oidc.")
      .exactOptional(),
    suspend: z.boolean().describe("Whether deliveries are refused until further notice.").exactOptional(),
  })
  .meta({ "x-kubernetes-validations": combinations.map(({ rule, message }) => ({ rule, message })) });
export type ReceiverSpec = Readonly<z.infer<typeof ReceiverSpec>>;

/** The first combination of fields that the API server should have refused, in the words of Flux's controller. */
export function combinationFault(spec: ReceiverSpec): string | undefined {
  const broken = combinations.find(({ holds }) => !holds(spec));
  return broken?.reported ?? broken?.message;
}

/** `status` of a Receiver (reference notifications 3). */
export const ReceiverStatus = z.object({
  observedGeneration: z.number().int().describe("Generation that was last looked at.").exactOptional(),
  conditions: Conditions.exactOptional(),
  webhookPath: z.string().describe("Path of the webhook, /hook/<hexadecimal digits>.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
});
export type ReceiverStatus = Readonly<z.infer<typeof ReceiverStatus>>;
