import type { JsonObject } from "../../../../lib/core/json.ts";
import { type RoutesWorld, routesWorlds, type Scene } from "./routes-world.ts";
import { smallDefinition } from "../../../doubles/small-definition.ts";

/** Worlds with the definitions of all providers but Istio and Gateway API. Called once in each test file, whose hooks start and end them. */
export const providerWorlds = () =>
  routesWorlds("providers", [
    smallDefinition("split.smi-spec.io", "TrafficSplit", "trafficsplits", ["v1alpha2", "v1alpha1", "v1alpha3"]),
    smallDefinition("projectcontour.io", "HTTPProxy", "httpproxies", ["v1"]),
    smallDefinition("traefik.io", "TraefikService", "traefikservices", ["v1alpha1"]),
    smallDefinition("apisix.apache.org", "ApisixRoute", "apisixroutes", ["v2"]),
    smallDefinition("gateway.solo.io", "RouteTable", "routetables", ["v1"]),
    smallDefinition("gloo.solo.io", "Upstream", "upstreams", ["v1"]),
    smallDefinition("kuma.io", "TrafficRoute", "trafficroutes", ["v1alpha1"], "Cluster"),
    smallDefinition("serving.knative.dev", "Service", "services", ["v1"]),
  ]);

/** Routes with this percentage on the canary. */
export const to = (canary: number) => ({ primary: 100 - canary, canary, isMirrored: false });

export interface Provider {
  readonly name: string;
  readonly route: readonly [apiVersion: string, kind: string, name: string];
  readonly scene?: Scene;
  /** What there is before the first step. */
  readonly given?: (world: RoutesWorld) => Promise<unknown>;
  /** Parts of the route with 30 % on the canary. */
  readonly split: (world: RoutesWorld) => object;
}

const ingress: JsonObject = {
  ingressClassName: "nginx",
  rules: [
    {
      host: "app.example.test",
      http: {
        paths: [
          { path: "/", pathType: "Prefix", backend: { service: { name: "podinfo", port: { number: 80 } } } },
          { path: "/x", pathType: "Prefix", backend: { service: { name: "other", port: { number: 80 } } } },
        ],
      },
    },
  ],
};
export const ingressRef = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "web" };
/** Creates the Ingress of the application. */
export const givenIngress = (world: RoutesWorld) =>
  world.create({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", labels: { app: "podinfo" }, annotations: { "example.test/a": "b" } },
    spec: ingress,
  });
const path = (name: string, at = "/") => ({ path: at, backend: { service: { name, port: { number: 80 } } } });
const splits = (name: string, version: string, weight: (percent: number) => unknown): Provider => ({
  name,
  route: [`split.smi-spec.io/${version}`, "TrafficSplit", "podinfo"],
  split: () => ({
    spec: {
      service: "podinfo",
      backends: [
        { service: "podinfo-canary", weight: weight(30) },
        { service: "podinfo-primary", weight: weight(70) },
      ],
    },
  }),
});

/** A Canary for each of them, and its route. */
export const providers: readonly Provider[] = [
  splits("linkerd", "v1alpha1", String),
  splits("osm", "v1alpha2", (percent) => percent),
  splits("smi:v1alpha3", "v1alpha3", (percent) => percent),
  {
    name: "nginx",
    route: ["networking.k8s.io/v1", "Ingress", "web-canary"],
    scene: { spec: { ingressRef } },
    given: givenIngress,
    split: () => ({
      metadata: {
        labels: { app: "podinfo" },
        annotations: {
          "example.test/a": "b",
          "nginx.ingress.kubernetes.io/canary": "true",
          "nginx.ingress.kubernetes.io/canary-weight": "30",
        },
      },
      spec: { ingressClassName: "nginx", rules: [{ http: { paths: [path("podinfo-canary"), path("other", "/x")] } }] },
    }),
  },
  {
    name: "skipper",
    route: ["networking.k8s.io/v1", "Ingress", "web-canary"],
    scene: { spec: { ingressRef } },
    given: givenIngress,
    split: () => ({
      metadata: {
        annotations: {
          "zalando.org/backend-weights": '{"podinfo-canary":30,"podinfo-primary":70}',
          "zalando.org/skipper-predicate": "Weight(100)",
        },
      },
      spec: { rules: [{ http: { paths: [path("podinfo-primary"), path("other", "/x"), path("podinfo-canary")] } }] },
    }),
  },
  {
    name: "contour",
    route: ["projectcontour.io/v1", "HTTPProxy", "podinfo"],
    scene: {
      service: { timeout: "5s", retries: { attempts: 3, retryOn: "5xx,reset" } },
      settings: { ingressClass: "c" },
    },
    split: ({ namespace }) => ({
      spec: {
        ingressClassName: "c",
        routes: [
          {
            conditions: [{ prefix: "/" }],
            timeoutPolicy: { response: "5s", idle: "5m" },
            retryPolicy: { count: 3, retryOn: ["5xx", "reset"] },
            services: [
              {
                name: "podinfo-primary",
                weight: 70,
                requestHeadersPolicy: {
                  set: [{ name: "l5d-dst-override", value: `podinfo-primary.${namespace}.svc.cluster.local:9898` }],
                },
              },
              { name: "podinfo-canary", weight: 30 },
            ],
          },
        ],
      },
    }),
  },
  {
    name: "traefik",
    route: ["traefik.io/v1alpha1", "TraefikService", "podinfo"],
    split: ({ namespace }) => ({
      spec: {
        weighted: {
          services: [
            { name: "podinfo-primary", namespace, port: 9898, weight: 70 },
            { name: "podinfo-canary", namespace, port: 9898, weight: 30 },
          ],
        },
      },
    }),
  },
  {
    name: "apisix",
    route: ["apisix.apache.org/v2", "ApisixRoute", "web-podinfo-canary"],
    scene: { spec: { routeRef: { apiVersion: "apisix.apache.org/v2", kind: "ApisixRoute", name: "web" } } },
    given: (world) =>
      world.create({
        apiVersion: "apisix.apache.org/v2",
        kind: "ApisixRoute",
        metadata: { name: "web" },
        spec: {
          http: [
            { name: "other", backends: [{ serviceName: "other", servicePort: 80 }] },
            { name: "app", match: { paths: ["/*"] }, backends: [{ serviceName: "podinfo", servicePort: 80 }] },
          ],
        },
      }),
    split: () => ({
      spec: {
        http: [
          {
            name: "app",
            priority: 10_000,
            match: { paths: ["/*"] },
            backends: [
              { serviceName: "podinfo-primary", servicePort: 80, weight: 70 },
              { serviceName: "podinfo-canary", servicePort: 80, weight: 30 },
            ],
          },
        ],
      },
    }),
  },
  {
    name: "gloo",
    route: ["gateway.solo.io/v1", "RouteTable", "podinfo"],
    given: (world) => world.services().ensureOwn(),
    split: ({ namespace }) => ({
      spec: {
        routes: [
          {
            inheritablePathMatchers: true,
            routeAction: {
              multi: {
                destinations: [
                  {
                    destination: { upstream: { name: `${namespace}-podinfo-primaryupstream-9898`, namespace } },
                    weight: 70,
                  },
                  {
                    destination: { upstream: { name: `${namespace}-podinfo-canaryupstream-9898`, namespace } },
                    weight: 30,
                  },
                ],
              },
            },
          },
        ],
      },
    }),
  },
];
