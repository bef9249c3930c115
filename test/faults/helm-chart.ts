import type { FileFaults } from "./fault.ts";

const flow = "test/unit/flows/helm-chart";
const charts = "test/unit/sources/helm";

/** Likely mistakes in charts of Helm: a wrong version, another digest at each run, credentials for another host. */
export const helmChartFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/helm-chart/http-charts.ts",
    tests: [`${flow}/from-repository.test.ts`],
    faults: [
      {
        what: "the digest in the index is ignored",
        find: "if (digest !== undefined) checkDigest(body, digest, name);",
        replace: 'if (digest === "") checkDigest(body, digest, name);',
      },
      {
        what: "a version missing in an index is retried forever",
        find: 'new RepositoryFault("absent", error.message, { cause: error })',
        replace: 'new RepositoryFault("external", error.message, { cause: error })',
      },
    ],
  },
  {
    file: "lib/sources/helm/chart-yaml.ts",
    tests: [`${charts}/build-local.test.ts`],
    faults: [
      {
        what: "the aliases of a values file are expanded without a limit",
        find: "refuseAliasBomb(events, { text, line: 1 });",
        replace: "if (text === bytes.toString()) refuseAliasBomb([], { text, line: 1 });",
        named: "stops the build",
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/from-artifact.ts",
    tests: [`${flow}/from-artifact.test.ts`],
    faults: [
      {
        what: "the generation is appended without values files",
        find: "if (countingValuesFiles(valuesFiles).length === 0) return ofRevision;",
        replace: 'if (valuesFiles === undefined) return "";',
      },
      {
        what: "the result of the last run counts for any artifact",
        find: "JSON.stringify([fetchable.digest, spec.chart])",
        replace: "JSON.stringify([spec.chart])",
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/helm-chart-flow.ts",
    tests: [`${flow}/from-artifact.test.ts`],
    faults: [
      {
        what: "a new generation of the object is not built again",
        find: "isStale: findCondition(ctx.before.conditions ?? [], inStorage)?.observedGeneration !== ctx.now().generation,",
        replace: "isStale: false,",
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/oci-charts.ts",
    tests: [`${flow}/from-registry.test.ts`, `${flow}/verify-chart.test.ts`],
    faults: [
      {
        what: "a tag keeps the plus of its version",
        find: 'return version.replaceAll("+", "_");',
        replace: "return version;",
      },
      {
        what: "a chart is pulled by its tag, whatever was verified",
        find: "digest ?? tagOf(version)",
        replace: "tagOf(version)",
      },
    ],
  },
  {
    file: "lib/sources/helm/with-values.ts",
    tests: [`${charts}/build-local.test.ts`],
    faults: [
      {
        what: "values equal to the chart's own are reported",
        find: "if (Buffer.from(own.bytes).equals(bytes)) return { chart, valuesFiles: [] };",
        replace: "if (own.bytes === bytes) return { chart, valuesFiles: [] };",
      },
    ],
  },
  {
    file: "lib/sources/helm/helm-ignore.ts",
    tests: [`${charts}/build-local.test.ts`],
    faults: [
      {
        what: "hidden templates are packed",
        find: '[...text.split("\\n"), "templates/.?*"]',
        replace: '[...text.split("\\n")]',
      },
    ],
  },
];
