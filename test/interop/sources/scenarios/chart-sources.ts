import { publish } from "../charts.ts";
import { type Scenario, specs } from "../scenario.ts";
import { app, chartOf, charts, repository } from "./the-chart.ts";
import { helmChart, helmRepository, login, secret } from "./written.ts";

const none = { name: "none" };
const otherVersion = { apiVersion: "source.toolkit.fluxcd.io/v1beta2", kind: "HelmRepository", name: "charts" };

export const chartSources: readonly Scenario[] = [
  {
    name: "the source of a chart",
    steps: [
      {
        what: "a HelmRepository",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: (hosts, place) => [repository(hosts, place), helmChart("app", "app", charts)],
      },
      ...specs(
        {
          "of another kind": { sourceRef: { kind: "Kustomization", name: "charts" } },
          "a missing GitRepository": { sourceRef: { kind: "GitRepository", name: "charts" } },
          "a missing Bucket": { sourceRef: { kind: "Bucket", name: "charts" } },
          "an empty name": { sourceRef: { kind: "HelmRepository", name: "" } },
          "another apiVersion": { sourceRef: otherVersion },
          "verify without oci": { verify: { provider: "cosign" } },
          "verify with a Secret without oci": { verify: { provider: "cosign", secretRef: none } },
          "another interval": { interval: "2h" },
        },
        chartOf(charts),
      ),
      { what: "one that is suspended", apply: (hosts, place) => [repository(hosts, place, { suspend: true })] },
    ],
  },
  {
    name: "a chart that waits for its source",
    isStory: true,
    steps: [
      { what: "without a source", apply: () => [helmChart("app", "app", charts)] },
      { what: "with a failing source", apply: (hosts, place) => [repository(hosts, place)] },
      { what: "with a source", change: (hosts, place) => publish(hosts, place, [app]) },
    ],
  },
  {
    name: "a chart that is suspended, and loses its source",
    isStory: true,
    steps: [
      {
        what: "with a source",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: (hosts, place) => [repository(hosts, place), helmChart("app", "app", charts)],
      },
      { what: "suspended", apply: () => [helmChart("app", "app", charts, { suspend: true })] },
      { what: "resumed", apply: () => [helmChart("app", "app", charts)] },
      { what: "the repository is deleted", remove: [charts] },
      { what: "the chart is deleted", remove: ["HelmChart/app"] },
    ],
  },
  {
    name: "the login of a repository's charts",
    isStory: true,
    steps: [
      {
        what: "the repository",
        change: (hosts, place) => publish(hosts, `closed/${place}`, [app]),
        apply: ({ http }, place) => [
          login("login"),
          helmRepository("charts", { url: `http://${http}/closed/${place}`, secretRef: { name: "login" } }),
        ],
      },
      { what: "the chart", apply: () => [helmChart("app", "app", charts)] },
      {
        what: "the Secret is gone",
        remove: ["Secret/login"],
        change: (hosts, place) => publish(hosts, `closed/${place}`, [{ ...app, version: "1.1.0" }]),
      },
      { what: "a chart that has to be fetched without the Secret", apply: () => [helmChart("two", "app", charts)] },
      { what: "the Secret is wrong", apply: () => [secret("login", { username: "golden", password: "wrong" })] },
      { what: "the Secret is back", apply: () => [login("login")] },
    ],
  },
  {
    name: "the login for another host",
    isStory: true,
    steps: [
      {
        what: "the repository",
        change: (hosts, place) => publish(hosts, `closed/${place}`, [app]),
        apply: ({ http }, place) => [
          login("login"),
          helmRepository("charts", { url: `http://${http}/closed/${place}`, secretRef: { name: "login" } }),
          helmChart("app", "app", charts),
        ],
      },
      {
        what: "another host needs the login",
        change: async (hosts, place) => {
          await publish(hosts, `closed/${place}`, [
            {
              ...app,
              version: "1.2.0",
              urls: [`http://localhost:${hosts.http.split(":")[1]}/closed/${place}/app-1.2.0.tgz`],
            },
          ]);
        },
      },
      {
        what: "passCredentials",
        apply: ({ http }, place) => [
          helmRepository("charts", {
            url: `http://${http}/closed/${place}`,
            secretRef: { name: "login" },
            passCredentials: true,
          }),
        ],
      },
    ],
  },
];
