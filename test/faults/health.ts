import type { FileFaults } from "./fault.ts";

/** Mistakes in the decision whether objects are ready, and in the text that says why not. */
export const healthFaults: readonly FileFaults[] = [
  {
    file: "lib/health/check-health.ts",
    tests: ["test/unit/health/check-health.test.ts"],
    faults: [
      {
        what: "an action never ends while the API server fails to list a kind",
        find: "if (error instanceof ApiError && error.code > 0) return undefined;",
        replace: 'if (error instanceof ApiError && error.reason === "Forbidden") return undefined;',
      },
      {
        what: "a workload fails because of Pods in another namespace",
        find: 'kind: "Pod", namespace, labelSelector }',
        replace: 'kind: "Pod", labelSelector }',
      },
      {
        what: "objects of several namespaces are looked for in the first one's list",
        find: "`${ref.group}/${ref.version}/${ref.kind}/${ref.namespace}`",
        replace: "`${ref.group}/${ref.version}/${ref.kind}`",
      },
    ],
  },
  {
    file: "lib/health/why-not-ready.ts",
    tests: ["test/unit/health/why-not-ready.test.ts"],
    faults: [
      {
        what: "a terminating Pod explains why an object is not ready",
        find: "return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);",
        replace: "return pods;",
      },
      {
        what: "the container that waits for an init container is named in its place",
        find: "[initContainerStatuses, containerStatuses]",
        replace: "[containerStatuses, initContainerStatuses]",
      },
      {
        what: "an event that repeats counts as old as its first time",
        find: "const times = [lastTimestamp, lastObservedTime, eventTime,",
        replace: "const times = [lastTimestamp, eventTime,",
      },
      {
        what: "the events of a running Pod are reported in place of those of one that does not start",
        find: 'failing?.pod ?? pods.find((one) => objectAt(one, "status")["phase"] !== "Running")',
        replace: "failing?.pod ?? pods[0]",
      },
    ],
  },
  {
    file: "lib/health/why-not-ready.ts",
    tests: ["test/unit/health/why-not-ready.test.ts"],
    faults: [
      {
        what: "a missing right fails the run that explains health",
        find: "if (error instanceof ApiError) return [];",
        replace: "",
        named: "is shorter without rights",
      },
      {
        what: "the oldest warning is quoted",
        find: "timeOf(b) - timeOf(a)",
        replace: "timeOf(a) - timeOf(b)",
        named: "the newest Warning",
      },
    ],
  },
];
