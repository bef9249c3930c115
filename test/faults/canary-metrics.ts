import type { FileFaults } from "./fault.ts";

const checks = "test/unit/canary/metrics/metric-checks.test.ts";
const numbers = "test/unit/canary/metrics/go-numbers.test.ts";
const servers = "test/unit/canary/metrics/providers/json-servers.test.ts";

/** What Canaries ask servers of metrics, whom they reach, and how the values are judged. */
export const canaryMetricFaults: readonly FileFaults[] = [
  {
    file: "lib/canary/metrics/judge.ts",
    tests: [checks],
    faults: [
      {
        what: "a value equal to the maximum fails",
        find: "compared > heldTo(max)",
        replace: "compared >= heldTo(max)",
      },
      {
        what: "a threshold is the maximum of a success rate",
        find: 'return measure === "success-rate" ?',
        replace: 'return measure === "duration" ?',
      },
      {
        what: "durations are compared with their fractions",
        find: "Math.min(maxMs, Math.trunc(ms))",
        replace: "Math.min(maxMs, ms)",
      },
    ],
  },
  {
    file: "lib/canary/metrics/metric-checks.ts",
    tests: [checks],
    faults: [
      {
        what: "a value that is not a number is within every range",
        find: "if (Number.isNaN(value)) throw noValues();",
        replace: "if (Number.isNaN(value) && value > 0) throw noValues();",
      },
      {
        what: "values of the Secret are shown",
        find: "return failed(withoutValues(text, asked.template.secret));",
        replace: "return failed(withoutValues(text, undefined));",
      },
      {
        what: "a template inherits the interval of built-in metrics",
        find: 'model(metric, metric.interval ?? "")',
        replace: "model(metric, metric.interval ?? defaultInterval)",
      },
    ],
  },
  {
    file: "lib/canary/metrics/providers/go-numbers.ts",
    tests: [numbers],
    faults: [
      {
        what: "a half is rounded up",
        find: "String(floor + (floor % 2))",
        replace: "String(floor + 1)",
      },
    ],
  },
  {
    file: "lib/canary/metrics/providers/prometheus.ts",
    tests: ["test/unit/canary/metrics/prometheus.test.ts"],
    faults: [
      {
        what: "a missing value counts as zero",
        find: "let last = Number.NaN;",
        replace: "let last = 0;",
      },
    ],
  },
  {
    file: "lib/canary/metrics/providers/datadog.ts",
    tests: [servers],
    faults: [
      {
        what: "the newest point counts",
        find: "const [oldest] = first?.pointlist ?? [];",
        replace: "const oldest = first?.pointlist?.at(-1);",
      },
    ],
  },
  {
    file: "lib/canary/metrics/providers/metric-server.ts",
    tests: ["test/unit/canary/metrics/providers/keptn.test.ts"],
    faults: [
      {
        what: "a template reads objects of other namespaces even if the installation forbids it",
        find: "if (!parts.settings.noCrossNamespaceRefs || namespace === own) return;",
        replace: 'if (!parts.settings.noCrossNamespaceRefs || namespace !== "") return;',
      },
    ],
  },
  {
    file: "cli/canary-timeline.ts",
    tests: ["test/unit/cli/canary-commands.test.ts"],
    faults: [
      {
        what: "the shares are those of clients with a cookie",
        find: "rules.findLast((rule)",
        replace: "rules.find((rule)",
      },
    ],
  },
  {
    file: "lib/canary/metrics/go-template.ts",
    tests: ["test/unit/canary/metrics/go-template.test.ts"],
    faults: [
      {
        what: "a template reads the data of the engine",
        find: 'if (piece.startsWith(".")) throw failed',
        replace: 'if (piece === ".") throw failed',
      },
      {
        what: "an undefined variable is empty",
        find: "if (Object.hasOwn(variables, key)) return",
        replace: 'if (variables[key] !== "") return',
      },
    ],
  },
  {
    file: "lib/in-cluster/cluster-http.ts",
    tests: ["test/unit/in-cluster/cluster-http.test.ts"],
    faults: [
      {
        what: "a two-label host counts as a Service even if its namespace must not be reached",
        find: "(service.isCertain || isReached(service.namespace, rules))",
        replace: "(service.isCertain || service.namespace !== undefined)",
      },
      {
        what: "an Internet host counts as a Service if a namespace has its name",
        find: '|| (protocol === "https:" && port === "")',
        replace: '|| (protocol === "https:" && port === "443")',
      },
    ],
  },
  {
    file: "functions/canary-servers.ts",
    tests: ["test/unit/functions/canary-servers.test.ts"],
    faults: [
      {
        what: "an answer for one login is given to another",
        find: "url, headers, sent, tls, maxBytes]",
        replace: "url, sent, tls, maxBytes]",
      },
      {
        what: "an answer of a Service is given to another cluster",
        find: 'JSON.stringify(["http", place, method',
        replace: 'JSON.stringify(["http", method',
      },
      {
        what: "shared answers are evicted for answers that are not shared",
        find: "const maxReadings = 2_000;",
        replace: "const maxReadings = 200;",
      },
    ],
  },
  {
    file: "lib/aws/cloud-watch.ts",
    tests: ["test/unit/aws/cloud-watch.test.ts"],
    faults: [
      {
        what: "every namespace may use Sluice's identity",
        find: "if (!isAllowed(namespace, region)) {",
        replace: "if (namespace === region) {",
      },
    ],
  },
];
