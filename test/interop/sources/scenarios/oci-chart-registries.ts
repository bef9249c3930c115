import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Scenario } from "../scenario.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { pushCharts } from "./oci-chart-images.ts";
import { charts } from "./the-chart.ts";
import { dockerConfig, helmChart, helmRepository, secret, secretSteps } from "./written.ts";

const of = (host: string, place: string, more: JsonObject = {}) =>
  helmRepository("charts", { url: `oci://${host}/${place}`, type: "oci", ...more });
const closed = ({ closedRegistry }: SourceHosts, place: string, name: string) =>
  of(closedRegistry, place, { insecure: true, secretRef: { name } });
const chart = (version: string) => helmChart("app", "app", charts, { version });

export const ociChartRegistries: readonly Scenario[] = [
  {
    name: "the registry of a chart",
    steps: [
      {
        what: "that answers",
        change: pushCharts,
        apply: ({ registry }, place) => [of(registry, place, { insecure: true }), chart("1.0.0")],
      },
      { what: "without insecure", apply: ({ registry }, place) => [of(registry, place), chart("1.1.0")] },
      {
        what: "closed",
        apply: ({ closedRegistry }, place) => [of(closedRegistry, place, { insecure: true }), chart("1.x")],
      },
      ...secretSteps(
        {
          "closed, missing Secret": undefined,
          "closed, half a pair": { username: "golden" },
          "closed, empty Secret": {},
        },
        closed,
      ),
      {
        what: "closed, Secret of another host",
        apply: (hosts, place) => [dockerConfig("docker", "example.com"), closed(hosts, place, "docker")],
      },
      {
        what: "closed, Secret that lists no host",
        apply: (hosts, place) => [
          secret("docker", { ".dockerconfigjson": "{}" }, "kubernetes.io/dockerconfigjson"),
          closed(hosts, place, "docker"),
        ],
      },
      {
        what: "closed, wrong password",
        apply: (hosts, place) => [
          dockerConfig("docker", hosts.closedRegistry, "golden", "wrong"),
          closed(hosts, place, "docker"),
        ],
      },
      {
        what: "closed, right password",
        apply: (hosts, place) => [dockerConfig("docker", hosts.closedRegistry), closed(hosts, place, "docker")],
      },
      {
        what: "TLS of an unknown authority",
        apply: ({ secureRegistry }, place) => [of(secureRegistry, place), chart("1.1.0")],
      },
      { what: "a closed port", apply: (_, place) => [of("127.0.0.1:1", place, { insecure: true }), chart("1.0.0")] },
      {
        what: "a closed port, range",
        apply: (_, place) => [of("127.0.0.1:1", place, { insecure: true }), chart("1.x")],
      },
      {
        what: "provider aws of another host",
        apply: ({ registry }, place) => [of(registry, place, { provider: "aws" }), chart("1.0.0")],
      },
    ],
  },
];
