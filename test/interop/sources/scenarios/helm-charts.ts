import { archiveOf, chartArchive, publish } from "../charts.ts";
import { type Scenario, specs } from "../scenario.ts";
import { app, chartOf, charts, repository } from "./the-chart.ts";
import { helmChart } from "./written.ts";

const versions = ["0.9.0", "1.0.0", "1.2.0", "1.10.0", "v1.11.0", "2.0.0-rc.1", "2.0.0+build.5", "3.0.0-alpha"];

export const helmCharts: readonly Scenario[] = [
  {
    name: "the version of a chart over HTTP",
    steps: [
      {
        what: "the repository",
        change: (hosts, place) =>
          publish(
            hosts,
            place,
            versions.map((version) => ({ name: "app", version })),
          ),
        apply: (hosts, place) => [repository(hosts, place)],
      },
      ...specs(
        {
          none: {},
          "*": { version: "*" },
          empty: { version: "" },
          "1.x": { version: "1.x" },
          ">=1.0.0-0": { version: ">=1.0.0-0" },
          "~1.2": { version: "~1.2" },
          "^1.2": { version: "^1.2" },
          "1": { version: "1" },
          "1.11.0": { version: "1.11.0" },
          "v1.11.0": { version: "v1.11.0" },
          "v1.0.0": { version: "v1.0.0" },
          "2.0.0": { version: "2.0.0" },
          "2.0.0+build.5": { version: "2.0.0+build.5" },
          "2.0.0+other": { version: "2.0.0+other" },
          "2.0.0-rc.1": { version: "2.0.0-rc.1" },
          "hyphen range": { version: "1.0.0 - 1.5.0" },
          "two ranges": { version: "<1.0.0 || >=1.10.0" },
          comma: { version: ">=1.0.0, <1.5.0" },
          "no range": { version: "latest" },
          "bad range": { version: ">=1.0.0 <<2" },
          "no match": { version: ">=9" },
          "missing exact": { version: "9.9.9" },
          "missing chart": { chart: "other" },
          "chart with upper case": { chart: "App" },
          "chart with a slash": { chart: "charts/app" },
          "chart with dots": { chart: "../app" },
          "chart with a leading dash": { chart: "-app" },
          "right again": { version: "1.0.0" },
        },
        chartOf(charts),
      ),
    ],
  },
  {
    name: "what an index lists",
    steps: [
      {
        what: "the repository",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: (hosts, place) => [repository(hosts, place), helmChart("app", "app", charts)],
      },
      {
        what: "an archive that is missing",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.1" }]);
          hosts.files.delete(`/${place}/app-1.0.1.tgz`);
        },
      },
      {
        what: "an archive that is none",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.2", urls: ["x.tgz"] }]);
          hosts.files.set(`/${place}/x.tgz`, "text");
        },
      },
      {
        what: "an archive of another version",
        change: async (hosts, place) => {
          hosts.files.set(`/${place}/y.tgz`, await chartArchive("app", "5.0.0"));
          hosts.files.set(`/${place}/index.yaml`, index("1.0.3", "y.tgz"));
        },
      },
      {
        what: "an archive of another chart",
        change: async (hosts, place) => {
          hosts.files.set(`/${place}/z.tgz`, await chartArchive("other", "1.0.4"));
          hosts.files.set(`/${place}/index.yaml`, index("1.0.4", "z.tgz"));
        },
      },
      {
        what: "an archive without Chart.yaml",
        change: async (hosts, place) => {
          hosts.files.set(`/${place}/n.tgz`, await archiveOf({ "app/values.yaml": "a: 1\n" }));
          hosts.files.set(`/${place}/index.yaml`, index("1.0.5", "n.tgz"));
        },
      },
      {
        what: "an archive whose Chart.yaml has no version",
        change: async (hosts, place) => {
          hosts.files.set(
            `/${place}/v.tgz`,
            await chartArchive("app", "1.0.6", { "Chart.yaml": "apiVersion: v2\nname: app\n" }),
          );
          hosts.files.set(`/${place}/index.yaml`, index("1.0.6", "v.tgz"));
        },
      },
      {
        what: "an absolute URL",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.7" }]);
          hosts.files.set(`/${place}/index.yaml`, index("1.0.7", `http://${hosts.http}/${place}/app-1.0.7.tgz`));
        },
      },
      {
        what: "a URL of a closed port",
        change: ({ files }, place) =>
          void files.set(`/${place}/index.yaml`, index("1.0.8", "http://127.0.0.1:1/app.tgz")),
      },
      {
        what: "a URL of a scheme that is not supported",
        change: ({ files }, place) =>
          void files.set(`/${place}/index.yaml`, index("1.0.9", "ftp://127.0.0.1:1/app.tgz")),
      },
      {
        what: "a URL that is none",
        change: ({ files }, place) => void files.set(`/${place}/index.yaml`, index("1.0.10", "http://%zz/app.tgz")),
      },
      {
        what: "a URL with a query",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.11" }]);
          hosts.files.set(`/${place}/index.yaml`, index("1.0.11", "app-1.0.11.tgz?a=b"));
        },
      },
      {
        what: "a URL from the root",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.12" }]);
          hosts.files.set(`/${place}/index.yaml`, index("1.0.12", `/${place}/app-1.0.12.tgz`));
        },
      },
      { what: "no URL", change: ({ files }, place) => void files.set(`/${place}/index.yaml`, index("1.0.13", "")) },
      {
        what: "a wrong digest",
        change: async (hosts, place) => {
          await publish(hosts, place, [{ ...app, version: "1.0.14" }]);
          hosts.files.set(`/${place}/index.yaml`, index("1.0.14", "app-1.0.14.tgz", `    digest: ${"0".repeat(64)}\n`));
        },
      },
      {
        what: "a deprecated version",
        change: (hosts, place) =>
          publish(hosts, place, [{ ...app, version: "1.0.15", fields: "      deprecated: true\n" }]),
      },
      {
        what: "equal versions with other build metadata",
        change: (hosts, place) =>
          publish(hosts, place, [
            { ...app, version: "1.0.16+a", fields: "      created: 2026-01-01T00:00:00Z\n" },
            { ...app, version: "1.0.16+b", fields: "      created: 2026-01-02T00:00:00Z\n" },
          ]),
      },
    ],
  },
  {
    name: "an archive that changes under its version",
    isStory: true,
    steps: [
      {
        what: "the first",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: (hosts, place) => [repository(hosts, place), helmChart("app", "app", charts)],
      },
      {
        what: "it changes",
        change: (hosts, place) => publish(hosts, place, [{ ...app, more: { "values.yaml": "other: 1\n" } }]),
      },
      {
        what: "no chart any more",
        change: ({ files }, place) => void files.set(`/${place}/index.yaml`, "apiVersion: v1\nentries: {}\n"),
      },
    ],
  },
];

function index(version: string, url: string, fields = ""): string {
  const urls = url === "" ? "[]" : `["${url}"]`;
  return `apiVersion: v1\nentries:\n  app:\n  - apiVersion: v2\n    name: app\n    version: ${version}\n    urls: ${urls}\n${fields}`;
}
