import { z } from "zod";
import { isDurationHeld } from "../core/duration.ts";
import { Duration, LocalReference, tooLong } from "./fields.ts";

/** The types that set the status of a commit. */
const commitStatusTypes = ["github", "gitlab", "gitea", "bitbucketserver", "bitbucket", "azuredevops"] as const;

/** The types of Provider: Flux's, then the services of AWS, which Flux does not have. */
export const notificationProviderTypes = [
  "slack",
  "discord",
  "msteams",
  "rocket",
  "generic",
  "generic-hmac",
  "github",
  "gitlab",
  "gitea",
  "giteapullrequestcomment",
  "bitbucketserver",
  "bitbucket",
  "azuredevops",
  "googlechat",
  "googlepubsub",
  "webex",
  "sentry",
  "azureeventhub",
  "telegram",
  "lark",
  "matrix",
  "opsgenie",
  "alertmanager",
  "grafana",
  "githubdispatch",
  "githubpullrequestcomment",
  "gitlabmergerequestcomment",
  "pagerduty",
  "datadog",
  "nats",
  "zulip",
  "otel",
  "sns",
  "eventbridge",
  "sqs",
] as const;

/** The longest address, in characters in the spec and in bytes in a Secret. */
export const maxAddress = 2_048;

const isCommitStatusType = commitStatusTypes.map((type) => `self.type == '${type}'`).join(" || ");

/** `spec` of a Provider of notifications (reference notifications 14). The CRD is generated from it. */
export const NotificationProviderSpec = z
  .object({
    type: z.enum(notificationProviderTypes).describe("What the events are sent to."),
    address: z
      .string()
      .max(maxAddress)
      .describe("Where that is: mostly a URL, for some types the name of a project or a topic.")
      .exactOptional(),
    channel: z.string().max(maxAddress).describe("Channel for the events.").exactOptional(),
    username: z.string().max(maxAddress).describe("Name under which events are posted.").exactOptional(),
    timeout: z
      .string()
      .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m))+$/, "must be a duration such as 30s or 1m30s, without hours")
      .refine(isDurationHeld, tooLong)
      .describe("How long one delivery may take with all its tries; 15s by default.")
      .exactOptional(),
    secretRef: LocalReference.describe("Secret with the login, the address or headers.").exactOptional(),
    certSecretRef: LocalReference.describe("Secret with tls.crt and tls.key, ca.crt or both.").exactOptional(),
    proxySecretRef: LocalReference.describe("Secret with the address of a proxy.").exactOptional(),
    proxy: z
      .string()
      .max(maxAddress)
      .regex(/^(http|https):\/\/.*$/, "must begin with http:// or https://")
      .describe("Address of a proxy; proxySecretRef is the newer place for it.")
      .exactOptional(),
    serviceAccountName: z.string().describe("Service account whose cloud identity is used.").exactOptional(),
    commitStatusExpr: z
      .string()
      .describe("CEL expression over event, alert and provider: the name of the commit status.")
      .exactOptional(),
    interval: Duration.describe("Former field without effect.").exactOptional(),
    suspend: z.boolean().describe("Whether nothing is sent until further notice.").exactOptional(),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: `${isCommitStatusType} || !has(self.commitStatusExpr)`,
        message: `spec.commitStatusExpr is only supported for the ${commitStatusTypes.map((type) => `'${type}'`).join(", ")} provider types`,
      },
    ],
  });
export type NotificationProviderSpec = Readonly<z.infer<typeof NotificationProviderSpec>>;
