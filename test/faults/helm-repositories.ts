import type { FileFaults } from "./fault.ts";

export const helmRepositoryFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/helm/chart-entry.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "an unknown field of an entry is accepted silently in YAML too",
        find: 'if (format === "json") continue;',
        replace: "if (format !== undefined) continue;",
      },
      {
        what: "two dependencies of one name drop the version",
        find: "if (names.has(key)) return true;",
        replace: "if (names.has(key)) return false;",
      },
    ],
  },
  {
    file: "lib/sources/helm/index-reader.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "versions stay in the order of the index",
        find: "compareSemver(other.version, one.version)",
        replace: "0 * compareSemver(other.version, one.version)",
      },
    ],
  },
  {
    file: "lib/sources/helm/choose-chart.ts",
    tests: ["test/unit/sources/helm/choose-chart.test.ts"],
    faults: [
      {
        what: "a range takes precedence over the exact version text",
        find: "if (literal !== undefined) return literal;",
        replace: "",
      },
      {
        what: "a tag with a v counts",
        find: ".filter((tag) => strictVersion.test(tag))",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/helm-repository/fetch-index.ts",
    tests: ["test/unit/flows/helm-repository/helm-repository-flow.test.ts"],
    faults: [
      {
        what: "the answer of one URL counts for another",
        find: "known.url === url && known.revision === stored",
        replace: "known.revision === stored",
      },
      {
        what: "a lost artifact is not asked for again",
        find: "known.url === url && known.revision === stored",
        replace: "known.url === url",
      },
    ],
  },
  {
    file: "lib/flows/helm-repository/helm-getter.ts",
    tests: ["test/unit/flows/helm-repository/helm-getter.test.ts"],
    faults: [
      {
        what: "another port of the host is sent the password",
        find: "own.host === other.host",
        replace: "own.hostname === other.hostname",
      },
      {
        what: "a query, which may be a signature, is shown",
        find: 'return href.replace(/\\?.*$/s, "?…");',
        replace: "return href;",
      },
    ],
  },
  {
    file: "lib/flows/source/source-flow.ts",
    tests: ["test/unit/flows/source/kind-options.test.ts"],
    faults: [
      {
        what: "a suspended static object loses its artifact",
        find: '(isJsonObject(spec) && spec["suspend"] === true) || ',
        replace: "",
      },
    ],
  },
];
