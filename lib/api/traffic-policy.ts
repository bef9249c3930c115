import { z } from "zod";

const int = (text: string) => z.int().describe(text).exactOptional();
const text = (what: string) => z.string().describe(what).exactOptional();
const yesOrNo = (what: string) => z.boolean().describe(what).exactOptional();

const ConnectionPool = z.object({
  http: z
    .object({
      h2UpgradePolicy: z
        .enum(["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"])
        .describe("Whether connections become HTTP/2.")
        .exactOptional(),
      http1MaxPendingRequests: int("Requests that may wait."),
      http2MaxRequests: int("Requests at the same time."),
      idleTimeout: text("How long an idle connection is kept."),
      maxRequestsPerConnection: int("Requests of one connection."),
      maxRetries: int("Retries at the same time."),
    })
    .describe("Connections of HTTP.")
    .exactOptional(),
});

const hashes = ["httpHeaderName", "httpCookie", "useSourceIp", "httpQueryParameterName"] as const;

const ConsistentHash = z.object({
  httpCookie: z
    .object({ name: text("Name of the cookie."), path: text("Its path."), ttl: text("Its lifetime.") })
    .describe("By a cookie.")
    .exactOptional(),
  httpHeaderName: text("By this header."),
  httpQueryParameterName: text("By this parameter of the query."),
  minimumRingSize: int("Least size of the ring."),
  useSourceIp: yesOrNo("By the address of the client."),
});

const LoadBalancer = z
  .object({
    consistentHash: ConsistentHash.describe("Settings that keep a client at one pod.").exactOptional(),
    localityLbSetting: z
      .object({
        distribute: z
          .array(
            z.object({
              from: text("Where the request comes from."),
              to: z.record(z.string(), z.int()).describe("Weights of where it goes.").exactOptional(),
            }),
          )
          .describe("How requests of a place are shared out; not with failover.")
          .exactOptional(),
        enabled: yesOrNo("Whether places count."),
        failover: z
          .array(z.object({ from: text("Region that has failed."), to: text("Region in its place.") }))
          .describe("Where requests go if a place fails; not with distribute.")
          .exactOptional(),
      })
      .describe("How the places of pods count.")
      .exactOptional(),
    simple: z
      .enum(["ROUND_ROBIN", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "LEAST_REQUEST"])
      .describe("How a pod is chosen.")
      .exactOptional(),
    warmupDurationSecs: text("How long a new pod gets fewer requests."),
  })
  .refine(isOneWay, "must have simple, or consistentHash with exactly one of its ways, and not both")
  .meta({
    oneOf: [
      { required: ["simple"] },
      {
        properties: { consistentHash: { oneOf: hashes.map((hash) => ({ required: [hash] })) } },
        required: ["consistentHash"],
      },
    ],
  });

function isOneWay({ consistentHash, simple }: { consistentHash?: object; simple?: string }): boolean {
  const ways = consistentHash === undefined ? 0 : hashes.filter((hash) => Object.hasOwn(consistentHash, hash)).length;
  return simple === undefined ? ways === 1 : ways !== 1;
}

const OutlierDetection = z.object({
  baseEjectionTime: text("Shortest time that a pod is left out."),
  consecutive5xxErrors: int("Answers of 5xx after which a pod is left out."),
  consecutiveErrors: int("Errors after which a pod is left out."),
  consecutiveGatewayErrors: int("Errors of gateways after which a pod is left out."),
  consecutiveLocalOriginFailures: int("Own failures after which a pod is left out."),
  interval: text("Time between two looks."),
  maxEjectionPercent: int("Most pods that are left out, in percent."),
  minHealthPercent: int("Least pods that are well, in percent."),
  splitExternalLocalOriginErrors: yesOrNo("Whether own failures count apart."),
});

const Tls = z.object({
  caCertificates: text("File of the certificates of the authority."),
  clientCertificate: text("File of the client's certificate; MUTUAL needs it."),
  mode: z
    .enum(["DISABLE", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL"])
    .describe("Whether and how TLS is used.")
    .exactOptional(),
  privateKey: text("File of the client's key; MUTUAL needs it."),
  sni: text("Name of the server in the handshake."),
  subjectAltNames: z.array(z.string()).describe("Names that the server may have.").exactOptional(),
});

/** `spec.service.trafficPolicy` of a Canary: Istio's policy, which its DestinationRules get. */
export const TrafficPolicy = z.object({
  connectionPool: ConnectionPool.describe("Limits of connections.").exactOptional(),
  loadBalancer: LoadBalancer.describe("How pods are chosen.").exactOptional(),
  outlierDetection: OutlierDetection.describe("When a pod is left out.").exactOptional(),
  tls: Tls.describe("TLS to the pods.").exactOptional(),
});
