import type { FileFaults } from "./fault.ts";

const diff = ["test/e2e/cli-diff-helm.test.ts"];

export const helmCommandFaults: readonly FileFaults[] = [
  {
    file: "cli/object-source.ts",
    tests: ["test/unit/cli/reconcile-object.test.ts"],
    faults: [
      {
        what: "--with-source reconciles the source of that name in the object's own namespace",
        find: 'elsewhere === "" ? (object.metadata.namespace ?? "") : elsewhere',
        replace: 'object.metadata.namespace ?? ""',
      },
      {
        what: "events of a source are looked for in the object's namespace",
        find: 'return { kind: textAt(referred, "kind"), namespace, name',
        replace: 'return { kind: textAt(referred, "kind"), namespace: object.metadata.namespace ?? "", name',
        tests: ["test/unit/cli/show-events.test.ts"],
      },
      {
        what: "the HelmChart is looked for in the namespace of the HelmRelease",
        find: "namespace: source?.namespace ?? namespace, name",
        replace: "namespace, name",
      },
    ],
  },
  {
    file: "cli/create-helm-release.ts",
    tests: ["test/unit/cli/create-helm-release.test.ts"],
    faults: [
      {
        what: "the release is stored in the namespace of the HelmRelease",
        find: "options.storageNamespace ?? targetNamespace",
        replace: "options.storageNamespace",
      },
      {
        what: "an install replaces definitions",
        find: 'crds: crds === undefined ? undefined : "Create" });',
        replace: "crds });",
      },
      {
        what: "the first values file wins",
        find: "mergeMaps(values, chartYamlMap(bytes))",
        replace: "mergeMaps(chartYamlMap(bytes), values)",
      },
    ],
  },
  {
    file: "cli/object-reference.ts",
    tests: ["test/unit/cli/create-helm-release.test.ts"],
    faults: [
      {
        what: "the first dot of a reference separates",
        find: 'rest.lastIndexOf(".")',
        replace: 'rest.indexOf(".")',
      },
    ],
  },
  {
    file: "cli/get-values.ts",
    tests: ["test/unit/cli/get-values.test.ts"],
    faults: [
      {
        what: "values of Secrets are shown",
        find: "secrets.length > 0 || origins.length === 0 ? hiddenValue",
        replace: "origins.length === 0 ? hiddenValue",
      },
      {
        what: "a path that the text of a Secret sets is shown",
        find: "secrets.some((secret) => isElsewhere(path, secret)) ? hiddenValue : path",
        replace: "path",
      },
    ],
  },
  {
    file: "lib/helm/value-origins.ts",
    tests: ["test/unit/helm/value-origins.test.ts"],
    faults: [
      {
        what: "the first layer with this value counts",
        find: "having.findLast(",
        replace: "having.find(",
      },
      {
        what: "a layer with another value counts",
        find: "equal(indexes[place]?.get(path) ?? null, value)",
        replace: "indexes[place]?.has(path) === true",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/actions/preview.ts",
    tests: diff,
    faults: [
      {
        what: "a preview writes",
        find: "force: true, dryRun: true }",
        replace: "force: true }",
        named: "writes nothing",
      },
      {
        what: "kept objects are shown as deleted",
        find: ' && manifest.metadata.annotations?.[keepAnnotation]?.toLowerCase() !== "keep"',
        replace: "",
        named: "writes nothing",
      },
      {
        what: "the artifact digest in the version counts as a change",
        find: '.chart.version === version ? mark : ""',
        replace: '.chart.version === version ? "" : ""',
        named: "a local chart of the same version",
      },
    ],
  },
  {
    file: "cli/diff-helm-release.ts",
    tests: diff,
    faults: [
      {
        what: "values of Secrets are shown",
        find: "isSecret && !isLabel(path) ? hiddenValue : formatJson(value)",
        replace: "isSecret && isLabel(path) ? hiddenValue : formatJson(value)",
        named: "of a Secret",
      },
      {
        what: "a refused object is skipped",
        find: "if (refused.length > 0) throw",
        replace: "if (refused.length > 9) throw",
        named: "refuses",
      },
    ],
  },
  {
    file: "cli/local-chart.ts",
    tests: ["test/unit/cli/local-chart.test.ts"],
    faults: [
      {
        what: "values files are named from the root of the repository",
        find: "${withinChart(file, chartPath)}",
        replace: "${file}",
      },
    ],
  },
];
