import type { FileFaults } from "./fault.ts";

/** Mistakes in the functions that sweep a cluster, admit its objects and write its definitions. */
export const clusterFunctionFaults: readonly FileFaults[] = [
  {
    file: "functions/sweep-cluster.ts",
    tests: ["test/unit/functions/sweep-cluster.test.ts"],
    faults: [
      {
        what: "a foreign kind that is not served ends the sweep",
        find: '(error.reason !== "Forbidden" && error.reason !== "NoMatch")',
        replace: 'error.reason !== "Forbidden"',
      },
    ],
  },
  {
    file: "functions/admission.ts",
    tests: ["test/unit/functions/admission.test.ts"],
    faults: [
      {
        what: "the webhook sends hints for kinds of another group",
        find: "one.group === change.kind.group && one.kind === change.kind.kind",
        replace: "one.kind === change.kind.kind",
      },
    ],
  },
  {
    file: "functions/configuration.ts",
    tests: ["test/e2e/definitions/embedded.test.ts"],
    faults: [
      {
        what: "a login is stored for its secret in place of its host",
        find: "auths: { [host]: data }",
        replace: "auths: { [stored]: data }",
        named: "a configuration on",
      },
      {
        what: "logins are copied without the role that reaches the cluster",
        find: "refresh.role, signal",
        replace: "undefined, signal",
        named: "a configuration on",
      },
      {
        what: "an object that has failed leaves the configuration's state unknown",
        find: 'isFalse ? "False" : "Unknown"',
        replace: 'isFalse ? "Unknown" : "Unknown"',
        named: "a configuration on",
      },
    ],
  },
  {
    file: "lib/definitions/uninstall.ts",
    tests: ["test/e2e/uninstall/embedded.test.ts"],
    faults: [
      {
        what: "the cluster is asked every quarter of a second for two minutes whether the objects are gone",
        find: "delayMs = Math.min(2 * delayMs, maxPollMs)",
        replace: "delayMs = Math.min(delayMs, maxPollMs)",
        named: "a foreign finalizer",
      },
      {
        what: "the pause ends before the definitions are removed",
        find: "  await removeNamed(plan.definitions, deps, signal);\n  await removeNamed(plan.rights, deps, signal);\n  await removeOwner(deps, signal);",
        replace:
          "  await removeOwner(deps, signal);\n  await removeNamed(plan.definitions, deps, signal);\n  await removeNamed(plan.rights, deps, signal);",
        named: "killed between two of its writes",
      },
    ],
  },
  {
    file: "functions/definitions.ts",
    tests: ["test/e2e/definitions/embedded.test.ts"],
    faults: [
      {
        what: "only one kind is installed",
        find: "kinds = definedKinds, log, open, readStored",
        replace: "kinds = definedKinds.slice(0, 1), log, open, readStored",
        named: "are installed, and a second time",
      },
      {
        what: "only one kind is removed",
        find: "{ kinds = definedKinds, log, open }",
        replace: '{ kinds = definedKinds.filter(({ kind }) => kind === "Kustomization"), log, open }',
        named: "definitions are removed only on request",
      },
      {
        what: "an uninstalled cluster keeps an owner that came back",
        find: "      await letGo({ id: installation }, cluster, signal);\n      log.info",
        replace: "      log.info",
        named: "after sluice uninstall",
      },
      {
        what: "a replaced resource releases its successor's cluster",
        find: 'if (rights === "of others") {',
        replace: 'if (rights === "of others" && onDelete === "keep") {',
        named: "a resource that another one has replaced",
      },
      {
        what: "the newest version that was tested counts as newer",
        find: "Number(minor) <= newestMinor",
        replace: "Number(minor) < newestMinor",
        named: "at the limits of the tested versions",
      },
      {
        what: "the oldest version that was tested counts as too old",
        find: "Number(minor) < oldestMinor",
        replace: "Number(minor) <= oldestMinor",
        named: "at the limits of the tested versions",
      },
    ],
  },
];
