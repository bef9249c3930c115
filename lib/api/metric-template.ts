import { z } from "zod";
import { LocalReference } from "./fields.ts";

const providerTypes = [
  "prometheus",
  "influxdb",
  "datadog",
  "externalmetrics",
  "stackdriver",
  "cloudwatch",
  "newrelic",
  "graphite",
  "dynatrace",
  "keptn",
  "splunk",
] as const;

/** `spec` of a MetricTemplate (reference canary 11.3). The CRD is generated from it. */
export const MetricTemplateSpec = z.object({
  provider: z
    .object({
      type: z.enum(providerTypes).describe("Kind of server that answers the query."),
      address: z.string().describe("Address of the server.").exactOptional(),
      secretRef: LocalReference.describe("Secret with the login, in the template's namespace.").exactOptional(),
      region: z.string().describe("Region of the server; CloudWatch only.").exactOptional(),
      headers: z
        .record(z.string(), z.array(z.string()))
        .describe("Headers of requests; Prometheus only.")
        .exactOptional(),
      insecureSkipVerify: z.boolean().describe("Whether the server's certificate is not verified.").exactOptional(),
    })
    .describe("Where the query is asked."),
  query: z.string().describe("Query: a template with the functions of Flagger."),
});
export type MetricTemplateSpec = Readonly<z.infer<typeof MetricTemplateSpec>>;
