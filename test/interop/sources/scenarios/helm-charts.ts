import type { JsonObject } from "../../../../lib/core/json.ts";
import { chartArchive, chartFiles, type Files, publish } from "../charts.ts";
import { push } from "../images.ts";
import type { Scenario, Step, Written } from "../play-both.ts";
import type { SourceHosts } from "../source-hosts.ts";
import {
  bucket,
  dockerConfig,
  gitRepository,
  helmChart,
  helmRepository,
  login,
  ociRepository,
  secret,
} from "./written.ts";

const app = { name: "app", version: "1.0.0" };
const from = "HelmRepository/charts";
const repository =
  (folder = "") =>
  ({ http }: SourceHosts, ns: string): readonly Written[] => [
    helmRepository("charts", { url: `http://${http}/${folder}${ns}` }),
  ];

/** Steps that each change the one chart of the scenario. */
function specs(all: Readonly<Record<string, JsonObject>>, kind = from): readonly Step[] {
  return Object.entries(all).map(([what, { chart = "app", ...spec }]) => ({
    what,
    apply: () => [helmChart("app", typeof chart === "string" ? chart : "", kind, spec)],
  }));
}

const versions = ["0.9.0", "1.0.0", "1.2.0", "1.10.0", "v1.11.0", "2.0.0-rc.1", "2.0.0+build.5", "3.0.0-alpha"];

export const helmCharts: readonly Scenario[] = [
  {
    name: "the version of a chart over HTTP",
    steps: [
      {
        what: "the repository",
        change: (hosts, ns) =>
          publish(
            hosts,
            ns,
            versions.map((version) => ({ name: "app", version })),
          ),
        apply: repository(),
      },
      ...specs({
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
      }),
      { what: "the repository is deleted", remove: [from] },
      { what: "the chart is deleted", remove: ["HelmChart/app"] },
    ],
  },
  {
    name: "what an index lists",
    steps: [
      {
        what: "the repository",
        change: (hosts, ns) => publish(hosts, ns, [app]),
        apply: repository(),
      },
      ...specs({ first: {} }),
      {
        what: "an archive that is missing",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.1" }]);
          hosts.files.delete(`/${ns}/app-1.0.1.tgz`);
        },
      },
      {
        what: "an archive that is none",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.2", urls: ["x.tgz"] }]);
          hosts.files.set(`/${ns}/x.tgz`, "text");
        },
      },
      {
        what: "an archive of another version",
        change: async (hosts, ns) => {
          hosts.files.set(`/${ns}/y.tgz`, await chartArchive("app", "5.0.0"));
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.3", "y.tgz"));
        },
      },
      {
        what: "an archive of another chart",
        change: async (hosts, ns) => {
          hosts.files.set(`/${ns}/z.tgz`, await chartArchive("other", "1.0.4"));
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.4", "z.tgz"));
        },
      },
      {
        what: "an archive without Chart.yaml",
        change: async (hosts, ns) => {
          const { archiveOf } = await import("../charts.ts");
          hosts.files.set(`/${ns}/n.tgz`, await archiveOf({ "app/values.yaml": "a: 1\n" }));
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.5", "n.tgz"));
        },
      },
      {
        what: "an archive whose Chart.yaml has no version",
        change: async (hosts, ns) => {
          hosts.files.set(
            `/${ns}/v.tgz`,
            await chartArchive("app", "1.0.6", { "Chart.yaml": "apiVersion: v2\nname: app\n" }),
          );
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.6", "v.tgz"));
        },
      },
      {
        what: "an absolute URL",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.7" }]);
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.7", `http://${hosts.http}/${ns}/app-1.0.7.tgz`));
        },
      },
      {
        what: "a URL of a closed port",
        change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, index("1.0.8", "http://127.0.0.1:1/app.tgz")),
      },
      {
        what: "a URL of a scheme that is not supported",
        change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, index("1.0.9", "ftp://127.0.0.1:1/app.tgz")),
      },
      {
        what: "a URL that is none",
        change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, index("1.0.10", "http://%zz/app.tgz")),
      },
      {
        what: "a URL with a query",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.11" }]);
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.11", "app-1.0.11.tgz?a=b"));
        },
      },
      {
        what: "a URL from the root",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.12" }]);
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.12", `/${ns}/app-1.0.12.tgz`));
        },
      },
      { what: "no URL", change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, index("1.0.13", "")) },
      {
        what: "a wrong digest",
        change: async (hosts, ns) => {
          await publish(hosts, ns, [{ ...app, version: "1.0.14" }]);
          hosts.files.set(`/${ns}/index.yaml`, index("1.0.14", "app-1.0.14.tgz", `    digest: ${"0".repeat(64)}\n`));
        },
      },
      {
        what: "a deprecated version",
        change: (hosts, ns) => publish(hosts, ns, [{ ...app, version: "1.0.15", fields: "      deprecated: true\n" }]),
      },
      {
        what: "equal versions with other build metadata",
        change: (hosts, ns) =>
          publish(hosts, ns, [
            { ...app, version: "1.0.16+a", fields: "      created: 2026-01-01T00:00:00Z\n" },
            { ...app, version: "1.0.16+b", fields: "      created: 2026-01-02T00:00:00Z\n" },
          ]),
      },
      {
        what: "the archive of an equal version changes",
        change: (hosts, ns) =>
          publish(hosts, ns, [{ ...app, version: "1.0.16+b", more: { "values.yaml": "other: 1\n" } }]),
      },
      {
        what: "no chart any more",
        change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, "apiVersion: v1\nentries: {}\n"),
      },
    ],
  },
  {
    name: "values files of a chart over HTTP",
    steps: [
      {
        what: "the repository",
        change: (hosts, ns) =>
          publish(hosts, ns, [
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
        apply: repository(),
      },
      ...specs({
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
      }),
      { what: "poked again" },
      {
        what: "a change elsewhere in the index",
        change: (hosts, ns) => publish(hosts, ns, [{ ...app }, { name: "other", version: "1.0.0" }]),
      },
    ],
  },
  {
    name: "a chart and its source",
    steps: [
      { what: "without a source", apply: () => [helmChart("app", "app", from)] },
      {
        what: "with a failing source",
        apply: ({ http }, ns) => [helmRepository("charts", { url: `http://${http}/${ns}` })],
      },
      { what: "with a source", change: (hosts, ns) => publish(hosts, ns, [app]) },
      { what: "suspended", apply: () => [helmChart("app", "app", from, { suspend: true })] },
      { what: "resumed", apply: () => [helmChart("app", "app", from)] },
      { what: "of another kind", apply: () => [helmChart("app", "app", "Kustomization/charts")] },
      { what: "of a missing GitRepository", apply: () => [helmChart("app", "app", "GitRepository/charts")] },
      { what: "of a missing Bucket", apply: () => [helmChart("app", "app", "Bucket/charts")] },
      { what: "of an empty name", apply: () => [helmChart("app", "app", "HelmRepository/")] },
      {
        what: "of a repository that is suspended",
        apply: ({ http }, ns) => [
          helmRepository("charts", { url: `http://${http}/${ns}`, suspend: true }),
          helmChart("app", "app", from),
        ],
      },
      { what: "verify without oci", apply: () => [helmChart("app", "app", from, { verify: { provider: "cosign" } })] },
      {
        what: "verify with a Secret without oci",
        apply: () => [helmChart("app", "app", from, { verify: { provider: "cosign", secretRef: { name: "none" } } })],
      },
      { what: "right again", apply: () => [helmChart("app", "app", from)] },
      { what: "another interval", apply: () => [helmChart("app", "app", from, { interval: "2h" })] },
      {
        what: "another apiVersion",
        apply: () => [
          {
            kind: "HelmChart",
            name: "app",
            spec: {
              interval: "1h",
              chart: "app",
              sourceRef: { apiVersion: "source.toolkit.fluxcd.io/v1beta2", kind: "HelmRepository", name: "charts" },
            },
          },
        ],
      },
    ],
  },
  {
    name: "the login of a repository's charts",
    steps: [
      {
        what: "the repository",
        change: (hosts, ns) => publish(hosts, `closed/${ns}`, [app]),
        apply: ({ http }, ns) => [
          login("login"),
          helmRepository("charts", { url: `http://${http}/closed/${ns}`, secretRef: { name: "login" } }),
        ],
      },
      ...specs({ "the chart": {} }),
      {
        what: "the Secret is gone",
        remove: ["Secret/login"],
        change: (hosts, ns) => publish(hosts, `closed/${ns}`, [{ ...app, version: "1.1.0" }]),
      },
      { what: "a chart that has to be fetched without the Secret", apply: () => [helmChart("two", "app", from)] },
      { what: "the Secret is wrong", apply: () => [secret("login", { username: "golden", password: "wrong" })] },
      { what: "the Secret is back", apply: () => [login("login")] },
      {
        what: "another host needs the login",
        change: async (hosts, ns) => {
          await publish(hosts, `closed/${ns}`, [
            {
              ...app,
              version: "1.2.0",
              urls: [`http://localhost:${hosts.http.split(":")[1]}/closed/${ns}/app-1.2.0.tgz`],
            },
          ]);
        },
      },
      {
        what: "passCredentials",
        apply: ({ http }, ns) => [
          helmRepository("charts", {
            url: `http://${http}/closed/${ns}`,
            secretRef: { name: "login" },
            passCredentials: true,
          }),
        ],
      },
    ],
  },
  {
    name: "charts of an oci repository",
    steps: [
      {
        what: "the repository and a chart",
        change: async ({ registry }, ns) => {
          for (const version of ["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0+b", "v3.0.0"]) {
            await pushChart(registry, `${ns}/app`, version);
          }
        },
        apply: ({ registry }, ns) => [
          helmRepository("charts", { url: `oci://${registry}/${ns}`, type: "oci", insecure: true }),
          helmChart("app", "app", from),
        ],
      },
      ...specs({
        "1.x": { version: "1.x" },
        exact: { version: "1.0.0" },
        "exact with a v": { version: "v3.0.0" },
        "exact without its v": { version: "3.0.0" },
        "build metadata": { version: "2.0.0+b" },
        "a pre-release": { version: "2.0.0-rc.1" },
        "pre-releases": { version: ">=2.0.0-0" },
        "no match": { version: ">=9" },
        "missing exact": { version: "9.9.9" },
        "no range": { version: "latest" },
        "bad range": { version: ">=1 <<2" },
        "missing chart": { chart: "none" },
        "missing chart, exact": { chart: "none", version: "1.0.0" },
        "chart with a slash": { chart: "charts/app" },
        "upper case": { chart: "App" },
        "values files": { version: "1.0.0", valuesFiles: ["values.yaml", "a.yaml"], ignoreMissingValuesFiles: true },
        "verify with a missing Secret": {
          version: "1.0.0",
          verify: { provider: "cosign", secretRef: { name: "none" } },
        },
        "verify by notation without a Secret": { version: "1.0.0", verify: { provider: "notation" } },
        "verify keyless": { version: "1.0.0", verify: { provider: "cosign" } },
        "verified no more": { version: "1.0.0" },
      }),
      {
        what: "verify with a Secret without keys",
        apply: () => [
          secret("keys", { a: "b" }),
          helmChart("app", "app", from, {
            version: "1.0.0",
            verify: { provider: "cosign", secretRef: { name: "keys" } },
          }),
        ],
      },
      { what: "verify with a key that is none", apply: () => [secret("keys", { "a.pub": "b" })] },
      { what: "verify with a key of nobody", apply: () => [secret("keys", { "a.pub": otherKey })] },
      {
        what: "verify by notation with a Secret without a policy",
        apply: () => [
          helmChart("app", "app", from, {
            version: "1.0.0",
            verify: { provider: "notation", secretRef: { name: "keys" } },
          }),
        ],
      },
      { what: "right again", apply: () => [helmChart("app", "app", from, { version: "1.0.0" })] },
      {
        what: "without insecure",
        apply: ({ registry }, ns) => [
          helmRepository("charts", { url: `oci://${registry}/${ns}`, type: "oci" }),
          helmChart("app", "app", from, { version: "1.1.0" }),
        ],
      },
      {
        what: "a closed registry",
        apply: ({ closedRegistry }, ns) => [
          helmRepository("charts", { url: `oci://${closedRegistry}/${ns}`, type: "oci", insecure: true }),
          helmChart("app", "app", from, { version: "1.x" }),
        ],
      },
      {
        what: "a closed registry, missing Secret",
        apply: ({ closedRegistry }, ns) => [
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "none" },
          }),
          helmChart("app", "app", from, { version: "1.0.0" }),
        ],
      },
      {
        what: "a closed registry, Secret of another host",
        apply: ({ closedRegistry }, ns) => [
          dockerConfig("docker", "example.com"),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "docker" },
          }),
        ],
      },
      {
        what: "a closed registry, Secret that is no JSON",
        apply: ({ closedRegistry }, ns) => [
          secret("bad", { ".dockerconfigjson": "{}" }, "kubernetes.io/dockerconfigjson"),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "bad" },
          }),
        ],
      },
      {
        what: "a closed registry, half a pair",
        apply: ({ closedRegistry }, ns) => [
          secret("half", { username: "golden" }),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "half" },
          }),
        ],
      },
      {
        what: "a closed registry, empty Secret",
        apply: ({ closedRegistry }, ns) => [
          secret("half", {}),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "half" },
          }),
        ],
      },
      {
        what: "a closed registry, wrong password",
        apply: ({ closedRegistry }, ns) => [
          dockerConfig("docker", closedRegistry, "golden", "wrong"),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "docker" },
          }),
        ],
      },
      {
        what: "a closed registry, right password",
        apply: ({ closedRegistry }, ns) => [
          dockerConfig("docker", closedRegistry),
          helmRepository("charts", {
            url: `oci://${closedRegistry}/${ns}`,
            type: "oci",
            insecure: true,
            secretRef: { name: "docker" },
          }),
        ],
      },
      {
        what: "TLS of an unknown authority",
        apply: ({ secureRegistry }, ns) => [
          helmRepository("charts", { url: `oci://${secureRegistry}/${ns}`, type: "oci" }),
          helmChart("app", "app", from, { version: "1.1.0" }),
        ],
      },
      {
        what: "a closed port",
        apply: () => [
          helmRepository("charts", { url: "oci://127.0.0.1:1/charts", type: "oci", insecure: true }),
          helmChart("app", "app", from, { version: "1.0.0" }),
        ],
      },
      { what: "a closed port, range", apply: () => [helmChart("app", "app", from, { version: "1.x" })] },
      {
        what: "provider aws of another host",
        apply: ({ registry }, ns) => [
          helmRepository("charts", { url: `oci://${registry}/${ns}`, type: "oci", provider: "aws" }),
          helmChart("app", "app", from, { version: "1.0.0" }),
        ],
      },
    ],
  },
  {
    name: "charts of a git repository",
    steps: [
      {
        what: "the repository and a chart",
        change: (hosts, ns) => commit(hosts, ns, gitFiles()),
        apply: ({ git }, ns) => [gitRepository("repo", { url: `http://${git}/${ns}.git`, ref: { branch: "main" } })],
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
        "GitRepository/repo",
      ),
      {
        what: "a commit without another version",
        change: (hosts, ns) => commit(hosts, ns, { ...gitFiles(), "charts/app/templates/new.yaml": "a: 1\n" }),
      },
      { what: "a lower version", change: (hosts, ns) => commit(hosts, ns, { ...gitFiles("0.1.0") }) },
      { what: "the chart is removed", change: (hosts, ns) => commit(hosts, ns, { "README.md": "x\n" }) },
    ],
  },
  {
    name: "dependencies over HTTP",
    steps: [
      {
        what: "the repository",
        change: async (hosts, ns) => {
          await publish(hosts, `${ns}-dep`, [
            { name: "dep", version: "1.0.0" },
            { name: "dep", version: "1.1.0" },
          ]);
          await publish(hosts, `closed/${ns}-dep`, [{ name: "dep", version: "1.0.0" }]);
          const of = (repository: string, version = "1.x") =>
            `  - name: dep\n    version: "${version}"\n    repository: ${repository}\n`;
          const parent = (name: string, dependencies: string): Files => ({
            [`${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\ndependencies:\n${dependencies}`,
          });
          await commit(hosts, ns, {
            ...parent("range", of(`http://${hosts.http}/${ns}-dep`)),
            ...parent("none", of(`http://${hosts.http}/${ns}-dep`, "9.x")),
            ...parent("bad", of(`http://${hosts.http}/${ns}-dep`, ">>x")),
            ...parent("other", of(`http://${hosts.http}/${ns}-none`)),
            ...parent("closed", of(`http://${hosts.http}/closed/${ns}-dep`)),
            ...parent("slash", of(`http://${hosts.http}/closed/${ns}-dep/`)),
          });
        },
        apply: ({ git }, ns) => [gitRepository("repo", { url: `http://${git}/${ns}.git`, ref: { branch: "main" } })],
      },
      ...specs(
        {
          range: { chart: "range" },
          "no match": { chart: "none" },
          "bad range": { chart: "bad" },
          "no index": { chart: "other" },
          "without a login": { chart: "closed" },
        },
        "GitRepository/repo",
      ),
      {
        what: "with the login of a HelmRepository",
        apply: ({ http }, ns) => [
          login("login"),
          helmRepository("dep", { url: `http://${http}/closed/${ns}-dep`, secretRef: { name: "login" } }),
        ],
      },
      { what: "of a URL with a slash", apply: () => [helmChart("app", "slash", "GitRepository/repo")] },
      {
        what: "with a login that is missing",
        apply: ({ http }, ns) => [
          helmRepository("dep", { url: `http://${http}/closed/${ns}-dep`, secretRef: { name: "none" } }),
        ],
      },
    ],
  },
  {
    name: "charts of a bucket and of other kinds",
    steps: [
      {
        what: "the bucket",
        change: ({ buckets }, ns) =>
          void buckets.set(
            ns,
            new Map(
              Object.entries(gitFiles())
                .filter(([path]) => path.startsWith("charts/app/") || path.startsWith("env/"))
                .map(([path, text]) => [path, Buffer.from(text)]),
            ),
          ),
        apply: ({ s3 }, ns) => [
          secret("keys", { accesskey: "golden", secretkey: "golden-password" }),
          bucket("charts", { bucketName: ns, endpoint: s3, insecure: true, secretRef: { name: "keys" } }),
        ],
      },
      ...specs(
        {
          "its chart": { chart: "charts/app" },
          Revision: { chart: "charts/app", reconcileStrategy: "Revision" },
          "with values files": { chart: "charts/app", reconcileStrategy: "Revision", valuesFiles: ["env/prod.yaml"] },
        },
        "Bucket/charts",
      ),
      { what: "an object changes", change: ({ buckets }, ns) => void buckets.get(ns)?.set("other", Buffer.from("x")) },
      {
        what: "an OCIRepository",
        apply: ({ registry }, ns) => [ociRepository("image", { url: `oci://${registry}/${ns}`, insecure: true })],
      },
    ],
  },
];

const otherKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqy6fOOPbYDtwPOWsL0hEYFdP2SLb
GO2cXQzNQjyfYI0XQZ1k1DBy7xo8e2Ov1mHR1pXf2bF3g5yVb5r1hSxEJw==
-----END PUBLIC KEY-----
`;

function index(version: string, url: string, fields = ""): string {
  const urls = url === "" ? "[]" : `["${url}"]`;
  return `apiVersion: v1\nentries:\n  app:\n  - apiVersion: v2\n    name: app\n    version: ${version}\n    urls: ${urls}\n${fields}`;
}

async function pushChart(registry: string, repository: string, version: string): Promise<void> {
  const bytes = await chartArchive("app", version, { "a.yaml": "colour: red\n" });
  const layers = [{ mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", bytes }];
  const config = "application/vnd.cncf.helm.config.v1+json";
  await push(registry, repository, version.replaceAll("+", "_"), { layers, config });
}

async function commit({ repository }: SourceHosts, name: string, files: Files): Promise<void> {
  const text = Object.entries(files).map(([path, content]) => [path, String(content)] as const);
  await (await repository(name)).commit(Object.fromEntries(text));
}

const head = (name: string, version = "1.0.0") => `apiVersion: v2\nname: ${name}\nversion: ${version}\n`;

function gitFiles(version = "1.0.0"): Record<string, string> {
  const chart = (folder: string, more: Files, name = folder): Record<string, string> =>
    Object.fromEntries(
      Object.entries(chartFiles(name, version, more)).map(([path, text]) => [`charts/${folder}/${path}`, String(text)]),
    );
  const depending = (folder: string, dependency: string, more: Files = {}) =>
    chart(folder, { "Chart.yaml": `${head(folder)}dependencies:\n${dependency}`, ...more });
  return {
    "README.md": "hello\n",
    "packed/bad.tgz": "text",
    "packed/values.yaml": "colour: green\n",
    "env/prod.yaml": "colour: red\n",
    "env/bad.yaml": "a: [\n",
    ...chart("app", { "Chart.yaml": head("app", version) }),
    "charts/without/values.yaml": "a: 1\n",
    ...chart("renamed", {}, "other"),
    ...chart("upper", {}, "Upper"),
    ...chart("unversioned", { "Chart.yaml": "apiVersion: v2\nname: unversioned\n" }),
    ...chart("badversion", { "Chart.yaml": head("badversion", "one") }),
    ...chart("v1", { "Chart.yaml": "apiVersion: v1\nname: v1\nversion: 1.0.0\n" }),
    ...chart("noapi", { "Chart.yaml": "name: noapi\nversion: 1.0.0\n" }),
    ...chart("badyaml", { "Chart.yaml": "a: [\n" }),
    ...chart("unknown", { "Chart.yaml": `${head("unknown")}colour: red\n` }),
    ...chart("badvalues", { "values.yaml": "a: [\n" }),
    ...chart("build", { "Chart.yaml": head("build", "1.0.0-rc.1+build") }),
    ...chart("ignoring", { ".helmignore": "*.txt\n", "notes.txt": "x\n" }),
    ...depending("dependent", "  - name: dep\n    version: 1.x\n    repository: file://../none\n"),
    ...depending("path", "  - name: app\n    version: 1.x\n    repository: file://../app\n"),
    ...depending("pathversion", "  - name: app\n    version: 9.x\n    repository: file://../app\n"),
    ...depending("outside", "  - name: app\n    version: 1.x\n    repository: file://../../../app\n"),
    ...depending(
      "alias",
      "  - name: app\n    version: 1.x\n    alias: one\n    repository: file://../app\n  - name: app\n    version: 1.x\n    alias: two\n    repository: file://../app\n",
    ),
    ...depending("norepository", "  - name: dep\n    version: 1.x\n"),
    ...depending("atalias", '  - name: dep\n    version: 1.x\n    repository: "@stable"\n'),
    ...depending("closedport", "  - name: dep\n    version: 1.x\n    repository: http://127.0.0.1:1/charts\n"),
    ...depending("ftp", "  - name: dep\n    version: 1.x\n    repository: ftp://127.0.0.1:1/charts\n"),
    ...depending("oci", "  - name: dep\n    version: 1.x\n    repository: oci://127.0.0.1:1/charts\n"),
    ...depending("vendored", "  - name: dep\n    version: 1.x\n    repository: http://127.0.0.1:1/charts\n", {
      "charts/dep/Chart.yaml": head("dep"),
    }),
    ...depending(
      "disabled",
      "  - name: app\n    version: 1.x\n    condition: app.enabled\n    repository: file://../app\n",
      { "values.yaml": "app:\n  enabled: false\n" },
    ),
    ...depending("locked", "  - name: app\n    version: 1.x\n    repository: file://../app\n", {
      "Chart.lock":
        'dependencies:\n- name: app\n  version: 0.0.1\n  repository: file://../app\ndigest: sha256:0\ngenerated: "2026-01-01T00:00:00Z"\n',
    }),
    ...chart("requirements", {
      "Chart.yaml": "apiVersion: v1\nname: requirements\nversion: 1.0.0\n",
      "requirements.yaml": "dependencies:\n- name: app\n  version: 1.x\n  repository: file://../app\n",
    }),
  };
}
