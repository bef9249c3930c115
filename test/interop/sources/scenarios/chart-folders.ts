import { chartFiles, type Files } from "../charts.ts";

const head = (name: string, version = "1.0.0") => `apiVersion: v2\nname: ${name}\nversion: ${version}\n`;

/** The files of a repository with charts, most of which are wrong in one way each. */
export function chartFolders(version = "1.0.0"): Record<string, string> {
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
