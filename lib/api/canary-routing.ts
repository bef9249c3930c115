import { z } from "zod";
import { StringMap } from "./fields.ts";
import { having } from "./one-of.ts";

const matchFields = {
  exact: z.string().describe("The whole text.").exactOptional(),
  prefix: z.string().describe("Its beginning.").exactOptional(),
  regex: z.string().describe("Regular expression in RE2's syntax.").exactOptional(),
};
const suffixField = { suffix: z.string().describe("Its end.").exactOptional() };
export type StringMatch = Readonly<z.infer<z.ZodObject<typeof matchFields & typeof suffixField>>>;

const StringMatch = having("at most one", ["exact", "prefix", "regex"], z.object(matchFields));
const HeaderMatch = having("one", ["exact", "prefix", "suffix", "regex"], z.object({ ...matchFields, ...suffixField }));

/** Conditions on the requests that a route takes, as Istio writes them. */
export const ServiceMatch = z.object({
  name: z.string().describe("Name of the condition.").exactOptional(),
  uri: StringMatch.describe("Condition on the path.").exactOptional(),
  ignoreUriCase: z.boolean().describe("Whether capital and small letters of a path are the same.").exactOptional(),
  scheme: StringMatch.describe("Condition on the scheme.").exactOptional(),
  method: StringMatch.describe("Condition on the method.").exactOptional(),
  authority: StringMatch.describe("Condition on host and port.").exactOptional(),
  headers: z.record(z.string(), StringMatch).describe("Conditions on headers, by their names.").exactOptional(),
  withoutHeaders: z.record(z.string(), StringMatch).describe("Headers that must not match.").exactOptional(),
  queryParams: z.record(z.string(), StringMatch).describe("Conditions on parameters of the query.").exactOptional(),
  port: z.int().describe("Port that is addressed.").exactOptional(),
  gateways: z.array(z.string()).describe("Istio gateways that it holds for.").exactOptional(),
  sourceLabels: StringMap.describe("Labels of the pods that requests come from.").exactOptional(),
  sourceNamespace: z.string().describe("Namespace that requests come from.").exactOptional(),
});

/** Conditions on the requests that go to the canary in an A/B test. */
export const AnalysisMatch = z.object({
  headers: z.record(z.string(), HeaderMatch).describe("Conditions on headers, by their names.").exactOptional(),
  queryParams: z.record(z.string(), StringMatch).describe("Conditions on parameters of the query.").exactOptional(),
  sourceLabels: StringMap.describe("Labels of the pods that requests come from, only within the mesh.").exactOptional(),
});

/** A condition on requests, of the service or of an A/B test. */
export type RouteMatch = Readonly<
  Omit<z.infer<typeof ServiceMatch>, "headers"> & { headers?: Readonly<Record<string, StringMatch>> }
>;

// As the Gateway API has them.
const group = z
  .string()
  .max(253)
  .regex(/^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
const kind = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/);
const name = z.string().min(1).max(253);
const namespace = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
const port = z.int().min(1).max(65_535);

export const GatewayReference = z.object({
  group: group.default("gateway.networking.k8s.io").describe("Group of the parent."),
  kind: kind.default("Gateway").describe("Kind of the parent."),
  namespace: namespace.describe("Namespace of the parent; that of the Canary by default.").exactOptional(),
  name: name.describe("Name of the parent."),
  sectionName: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    .describe("Section of the parent, of a Gateway its listener.")
    .exactOptional(),
  port: port.describe("Port of the parent.").exactOptional(),
});
export type GatewayReference = Readonly<z.infer<typeof GatewayReference>>;

const portMissing = "Must have port for Service reference";

/** Where copies of requests go, in addition to the canary. */
export const RequestMirror = z.object({
  backendRef: z
    .object({
      group: group.default("").describe("Group of the backend; empty is the core group."),
      kind: kind.default("Service").describe("Kind of the backend."),
      name: name.describe("Name of the backend."),
      namespace: namespace.describe("Namespace of the backend; that of the Canary by default.").exactOptional(),
      port: port.describe("Port of the backend; a Service needs it.").exactOptional(),
    })
    .refine((to) => to.group !== "" || to.kind !== "Service" || to.port !== undefined, portMissing)
    .meta({
      "x-kubernetes-validations": [
        { rule: "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true", message: portMissing },
      ],
    })
    .describe("The backend."),
});

export const RequestRewrite = z.object({
  uri: z.string().describe("Path in place of the one that matched.").exactOptional(),
  authority: z.string().describe("Host in place of the requested one.").exactOptional(),
  type: z
    .string()
    .describe("ReplaceFullPath, the default, or ReplacePrefixMatch; of the Gateway API only.")
    .exactOptional(),
});

export const RequestRetries = z.object({
  attempts: z.int().describe("How often a request is tried again.").exactOptional(),
  perTryTimeout: z.string().describe("Time limit of one try.").exactOptional(),
  retryOn: z.string().describe("Failures after which a request is tried again.").exactOptional(),
});

const HeaderOperations = z.object({
  set: StringMap.describe("Headers to set.").exactOptional(),
  add: StringMap.describe("Headers to add.").exactOptional(),
  remove: z.array(z.string()).describe("Headers to remove.").exactOptional(),
});

export const HeaderChanges = z.object({
  request: HeaderOperations.describe("Changes of requests.").exactOptional(),
  response: HeaderOperations.describe("Changes of answers.").exactOptional(),
});

export const CorsPolicy = z.object({
  allowCredentials: z.boolean().describe("Whether requests may have credentials.").exactOptional(),
  allowHeaders: z.array(z.string()).describe("Headers that requests may have.").exactOptional(),
  allowMethods: z.array(z.string()).describe("Methods that requests may have.").exactOptional(),
  allowOrigin: z.array(z.string()).describe("Origins that may ask.").exactOptional(),
  allowOrigins: z
    .array(having("one", ["exact", "prefix", "regex"], z.object(matchFields)))
    .describe("Patterns of origins that may ask.")
    .exactOptional(),
  exposeHeaders: z.array(z.string()).describe("Headers of answers that scripts may read.").exactOptional(),
  maxAge: z.string().describe("How long a browser may keep the answer.").exactOptional(),
});
