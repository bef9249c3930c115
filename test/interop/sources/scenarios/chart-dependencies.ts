import { type Files, publish } from "../charts.ts";
import { type Scenario, specs } from "../scenario.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { chartOf } from "./the-chart.ts";
import { commit } from "./the-repository.ts";
import { gitRepository, helmChart, helmRepository, login } from "./written.ts";

const from = "GitRepository/repo";
const dep = ({ http }: SourceHosts, place: string, secretName: string) =>
  helmRepository("dep", { url: `http://${http}/closed/${place}-dep`, secretRef: { name: secretName } });

async function commitParents(hosts: SourceHosts, place: string): Promise<void> {
  const one = { name: "dep", version: "1.0.0" };
  await publish(hosts, `${place}-dep`, [one, { name: "dep", version: "1.1.0" }]);
  await publish(hosts, `closed/${place}-dep`, [one]);
  const of = (repository: string, version = "1.x") =>
    `  - name: dep\n    version: "${version}"\n    repository: ${repository}\n`;
  const parent = (name: string, dependencies: string): Files => ({
    [`${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\ndependencies:\n${dependencies}`,
  });
  await commit(hosts, place, {
    ...parent("range", of(`http://${hosts.http}/${place}-dep`)),
    ...parent("none", of(`http://${hosts.http}/${place}-dep`, "9.x")),
    ...parent("bad", of(`http://${hosts.http}/${place}-dep`, ">>x")),
    ...parent("other", of(`http://${hosts.http}/${place}-none`)),
    ...parent("closed", of(`http://${hosts.http}/closed/${place}-dep`)),
    ...parent("slash", of(`http://${hosts.http}/closed/${place}-dep/`)),
  });
}

export const chartDependencies: readonly Scenario[] = [
  {
    name: "dependencies over HTTP",
    steps: [
      {
        what: "the repository",
        change: commitParents,
        apply: ({ git }, place) => [
          login("login"),
          gitRepository("repo", { url: `http://${git}/${place}.git`, ref: { branch: "main" } }),
        ],
      },
      ...specs(
        {
          range: { chart: "range" },
          "no match": { chart: "none" },
          "bad range": { chart: "bad" },
          "no index": { chart: "other" },
          "without a login": { chart: "closed" },
        },
        chartOf(from),
      ),
      {
        what: "with the login of a HelmRepository",
        apply: (hosts, place) => [dep(hosts, place, "login"), helmChart("app", "closed", from)],
      },
      {
        what: "of a URL with a slash",
        apply: (hosts, place) => [dep(hosts, place, "login"), helmChart("app", "slash", from)],
      },
      {
        what: "with a login that is missing",
        apply: (hosts, place) => [dep(hosts, place, "none"), helmChart("app", "closed", from)],
      },
    ],
  },
];
