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
        what: "a value that is equal to the most is refused",
        find: "compared > heldTo(max)",
        replace: "compared >= heldTo(max)",
      },
      {
        what: "a threshold is the most of a success rate",
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
        what: "what is not a number is within every range",
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
        what: "no value is zero",
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
        what: "a template reads objects of other namespaces where the installation refuses it",
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
        what: "a variable that there is not is empty",
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
        what: "a host of two labels is a Service also where its namespace may not be reached",
        find: "(service.isCertain || isReached(service.namespace, rules))",
        replace: "(service.isCertain || service.namespace !== undefined)",
      },
      {
        what: "a host on the Internet is a Service where a namespace is called so",
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
        what: "a reading of one login is given to another",
        find: "url, headers, sent, tls, maxBytes]",
        replace: "url, sent, tls, maxBytes]",
      },
      {
        what: "a reading of a Service is given to another cluster",
        find: 'JSON.stringify(["http", place, method',
        replace: 'JSON.stringify(["http", method',
      },
      {
        what: "a reading that others share is dropped for those that nobody shares",
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
        what: "our identity is lent to every namespace",
        find: "if (!isAllowed(namespace, region)) {",
        replace: "if (namespace === region) {",
      },
    ],
  },
];
