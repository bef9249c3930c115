import { z } from "zod";
import {
  CorsPolicy,
  GatewayReference,
  HeaderChanges,
  RequestMirror,
  RequestRetries,
  RequestRewrite,
  ServiceMatch,
} from "./canary-routing.ts";
import { StringMap } from "./fields.ts";
import { TrafficPolicy } from "./traffic-policy.ts";

const ServiceMetadata = z.object({
  labels: StringMap.describe("Labels to add.").exactOptional(),
  annotations: StringMap.describe("Annotations to add.").exactOptional(),
});

/** `spec.service` of a Canary: its three Services, and how traffic gets to them. */
export const CanaryService = z.object({
  name: z.string().describe("Name of the apex Service; that of the target by default.").exactOptional(),
  port: z.int().describe("Port of the Services."),
  portName: z.string().describe("Name of the port; http by default.").exactOptional(),
  targetPort: z
    .union([z.int(), z.string()])
    .meta({ type: undefined, anyOf: undefined, "x-kubernetes-int-or-string": true })
    .describe("Port of the containers, by number or name; the Services' port by default.")
    .exactOptional(),
  appProtocol: z.string().describe("Protocol that is spoken on the port.").exactOptional(),
  trafficDistribution: z
    .enum(["PreferClose", "PreferSameZone", "PreferSameNode"])
    .describe("Which pods get requests first.")
    .exactOptional(),
  portDiscovery: z.boolean().describe("Whether the other ports of the containers are added.").exactOptional(),
  headless: z.boolean().describe("Whether the Services have no address of their own.").exactOptional(),
  timeout: z.string().describe("Time limit of a request.").exactOptional(),
  backendTimeout: z.string().describe("Time limit of a request to a backend; Gateway API only.").exactOptional(),
  gateways: z.array(z.string()).describe("Istio gateways of the route.").exactOptional(),
  gatewayRefs: z
    .array(GatewayReference)
    .max(32)
    .describe("Parents of the HTTPRoute, such as Gateways.")
    .exactOptional(),
  hosts: z.array(z.string()).describe("Host names of the route.").exactOptional(),
  delegation: z.boolean().describe("Whether another VirtualService delegates to the route.").exactOptional(),
  trafficPolicy: TrafficPolicy.describe("Istio's traffic policy.").exactOptional(),
  match: z.array(ServiceMatch).describe("Conditions on requests; every request by default.").exactOptional(),
  rewrite: RequestRewrite.describe("Changes to a request.").exactOptional(),
  retries: RequestRetries.describe("When a request is tried again.").exactOptional(),
  headers: HeaderChanges.describe("Which headers are changed.").exactOptional(),
  mirror: z.array(RequestMirror).describe("Where copies of requests go; Gateway API only.").exactOptional(),
  corsPolicy: CorsPolicy.describe("Which scripts of other origins may ask.").exactOptional(),
  meshName: z.string().describe("Name of the mesh; App Mesh only.").exactOptional(),
  backends: z.array(z.string()).describe("Backends that the target talks to; App Mesh only.").exactOptional(),
  apex: ServiceMetadata.describe("Metadata of the apex Service.").exactOptional(),
  primary: ServiceMetadata.describe("Metadata of the Service of the primary.").exactOptional(),
  canary: ServiceMetadata.describe("Metadata of the Service of the canary.").exactOptional(),
  unmanagedMetadata: z
    .object({
      labels: z.array(z.string()).describe("Keys of labels.").exactOptional(),
      annotations: z.array(z.string()).describe("Keys of annotations.").exactOptional(),
    })
    .describe("Metadata of other writers on the Services, which stays.")
    .exactOptional(),
});
export type CanaryService = Readonly<z.infer<typeof CanaryService>>;
