import { type Scenario, specs } from "../scenario.ts";
import { chartFolders } from "./chart-folders.ts";
import { chartOf } from "./the-chart.ts";
import { commit } from "./the-repository.ts";
import { gitRepository, helmChart } from "./written.ts";

const repo = (git: string, place: string) =>
  gitRepository("repo", { url: `http://${git}/${place}.git`, ref: { branch: "main" } });

export const gitCharts: readonly Scenario[] = [
  {
    name: "charts of a git repository",
    steps: [
      {
        what: "the repository",
        change: (hosts, place) => commit(hosts, place, chartFolders()),
        apply: ({ git }, place) => [repo(git, place)],
      },
      ...specs(
        {
          "a folder": { chart: "charts/app" },
          "with a dot": { chart: "./charts/app" },
          "with a slash at its end": { chart: "charts/app/" },
          absolute: { chart: "/charts/app" },
          outside: { chart: "../../charts/app" },
          "the root": { chart: "." },
          "an empty name": { chart: "" },
          missing: { chart: "charts/none" },
          "a file that is no archive": { chart: "README.md" },
          "an archive": { chart: "packed/app-1.0.0.tgz" },
          "an archive with values files": { chart: "packed/app-1.0.0.tgz", valuesFiles: ["packed/values.yaml"] },
          "an archive that is cut off": { chart: "packed/bad.tgz" },
          "without Chart.yaml": { chart: "charts/without" },
          "a name other than its folder": { chart: "charts/renamed" },
          "a name with upper case": { chart: "charts/upper" },
          "without a version": { chart: "charts/unversioned" },
          "a version that is none": { chart: "charts/badversion" },
          "apiVersion v1": { chart: "charts/v1" },
          "without an apiVersion": { chart: "charts/noapi" },
          "Chart.yaml that is no YAML": { chart: "charts/badyaml" },
          "Chart.yaml with an unknown field": { chart: "charts/unknown" },
          "values.yaml that is no YAML": { chart: "charts/badvalues" },
          "a version of the spec": { chart: "charts/app", version: "9.x" },
          Revision: { chart: "charts/app", reconcileStrategy: "Revision" },
          "Revision with values files": {
            chart: "charts/app",
            reconcileStrategy: "Revision",
            valuesFiles: ["charts/app/values.yaml", "env/prod.yaml"],
          },
          "values files relative to the chart": { chart: "charts/app", valuesFiles: ["values.yaml"] },
          "values files absolute": { chart: "charts/app", valuesFiles: ["/env/prod.yaml"] },
          "values files outside": { chart: "charts/app", valuesFiles: ["../../env/prod.yaml"] },
          "values files that are a folder": { chart: "charts/app", valuesFiles: ["env"] },
          "values files that are bad": { chart: "charts/app", valuesFiles: ["env/bad.yaml"] },
          "values files missing and ignored": {
            chart: "charts/app",
            valuesFiles: ["env/none.yaml", "env/prod.yaml"],
            ignoreMissingValuesFiles: true,
          },
          "all values files missing and ignored": {
            chart: "charts/app",
            valuesFiles: ["env/none.yaml"],
            ignoreMissingValuesFiles: true,
          },
          "pre-release and build": { chart: "charts/build", reconcileStrategy: "Revision" },
          helmignore: { chart: "charts/ignoring" },
          "a dependency of a missing path": { chart: "charts/dependent" },
          "a dependency of a path": { chart: "charts/path" },
          "a dependency of a path of another version": { chart: "charts/pathversion" },
          "a dependency outside": { chart: "charts/outside" },
          "a dependency with an alias": { chart: "charts/alias" },
          "a dependency without a repository": { chart: "charts/norepository" },
          "a dependency of @alias": { chart: "charts/atalias" },
          "a dependency of a closed port": { chart: "charts/closedport" },
          "a dependency of a scheme that is not supported": { chart: "charts/ftp" },
          "a dependency of oci at a closed port": { chart: "charts/oci" },
          "a dependency that is vendored": { chart: "charts/vendored" },
          "a dependency that is disabled": { chart: "charts/disabled" },
          "Chart.lock that is stale": { chart: "charts/locked" },
          "requirements.yaml": { chart: "charts/requirements" },
          "right again": { chart: "charts/app" },
        },
        chartOf("GitRepository/repo"),
      ),
    ],
  },
  {
    name: "a chart of a git repository that changes",
    isStory: true,
    steps: [
      {
        what: "the first",
        change: (hosts, place) => commit(hosts, place, chartFolders()),
        apply: ({ git }, place) => [repo(git, place), helmChart("app", "charts/app", "GitRepository/repo")],
      },
      {
        what: "a commit without another version",
        change: (hosts, place) =>
          commit(hosts, place, { ...chartFolders(), "charts/app/templates/new.yaml": "a: 1\n" }),
      },
      { what: "a lower version", change: (hosts, place) => commit(hosts, place, { ...chartFolders("0.1.0") }) },
      { what: "the chart is removed", change: (hosts, place) => commit(hosts, place, { "README.md": "x\n" }) },
    ],
  },
];
