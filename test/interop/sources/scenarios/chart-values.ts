import { publish } from "../charts.ts";
import { type Scenario, specs } from "../scenario.ts";
import { app, chartOf, charts, repository } from "./the-chart.ts";
import { helmChart } from "./written.ts";

export const chartValues: readonly Scenario[] = [
  {
    name: "values files of a chart over HTTP",
    steps: [
      {
        what: "the repository",
        change: (hosts, place) =>
          publish(hosts, place, [
            {
              ...app,
              more: {
                "a.yaml": "colour: red\nlist: [1]\n",
                "b/b.yaml": "colour: null\nlist: [2]\n",
                "bad.yaml": "a: [\n",
                "list.yaml": "- a\n",
                "empty.yaml": "",
                "twice.yaml": "a: 1\na: 2\n",
              },
            },
          ]),
        apply: (hosts, place) => [repository(hosts, place)],
      },
      ...specs(
        {
          one: { valuesFiles: ["a.yaml"] },
          "its own": { valuesFiles: ["values.yaml"] },
          "its own and another": { valuesFiles: ["values.yaml", "a.yaml"] },
          "the same twice": { valuesFiles: ["a.yaml", "a.yaml"] },
          "in a folder": { valuesFiles: ["b/b.yaml"] },
          "with dots": { valuesFiles: ["./a.yaml", "b/../a.yaml"] },
          outside: { valuesFiles: ["../a.yaml"] },
          absolute: { valuesFiles: ["/a.yaml"] },
          bad: { valuesFiles: ["bad.yaml"] },
          "a list": { valuesFiles: ["list.yaml"] },
          empty: { valuesFiles: ["empty.yaml"] },
          "an empty name": { valuesFiles: [""] },
          "a key twice": { valuesFiles: ["twice.yaml"] },
          missing: { valuesFiles: ["none.yaml"] },
          "a template": { valuesFiles: ["templates/config.yaml"] },
          "Chart.yaml": { valuesFiles: ["Chart.yaml"] },
          "missing and ignored": { valuesFiles: ["none.yaml", "a.yaml"], ignoreMissingValuesFiles: true },
          "all missing and ignored": { valuesFiles: ["none.yaml"], ignoreMissingValuesFiles: true },
          "ignored with none": { valuesFiles: [], ignoreMissingValuesFiles: true },
          "strategy Revision": { reconcileStrategy: "Revision" },
          "strategy Revision with files": { reconcileStrategy: "Revision", valuesFiles: ["a.yaml"] },
          "none again": {},
        },
        chartOf(charts),
      ),
    ],
  },
  {
    name: "a chart with values files that is asked for again",
    isStory: true,
    steps: [
      {
        what: "the first",
        change: (hosts, place) => publish(hosts, place, [{ ...app, more: { "a.yaml": "colour: red\n" } }]),
        apply: (hosts, place) => [
          repository(hosts, place),
          helmChart("app", "app", charts, { valuesFiles: ["a.yaml"] }),
        ],
      },
      { what: "again" },
      {
        what: "a change elsewhere in the index",
        change: (hosts, place) =>
          publish(hosts, place, [
            { ...app, more: { "a.yaml": "colour: red\n" } },
            { name: "other", version: "1.0.0" },
          ]),
      },
    ],
  },
];
