import type { FileFaults } from "./fault.ts";

/** Mistakes at the limits of conditions, events, intervals and finalizers. */
export const flowLimitFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/interval.ts",
    tests: ["test/unit/flows/interval.test.ts"],
    faults: [
      {
        what: "an interval of one second gives a warning",
        find: "ms > 0 && ms < minIntervalMs",
        replace: "ms > 0 && ms <= minIntervalMs",
      },
      {
        what: "a short retry interval gives no warning",
        find: "Object.entries({ interval, retryInterval })",
        replace: "Object.entries({ interval })",
      },
      {
        what: "one old condition makes the warning come again",
        find: "conditions.some(",
        replace: "conditions.every(",
      },
    ],
  },
  {
    file: "lib/flows/conditions.ts",
    tests: ["test/unit/flows/conditions.test.ts"],
    faults: [
      {
        what: "the time stays where the status changes",
        find: "    before.status !== condition.status ||\n",
        replace: "",
      },
      {
        what: "the time stays where the reason changes",
        find: "    before.reason !== condition.reason ||\n",
        replace: "",
      },
      {
        what: "the time of a message that is cut moves with each run",
        find: "before.message !== message;",
        replace: "before.message !== condition.message;",
      },
    ],
  },
  {
    file: "lib/core/merge-patch.ts",
    tests: ["test/unit/core/merge-patch.test.ts"],
    faults: [
      {
        what: "a mapping is sent as a whole without removed keys",
        find: "const inner = mergePatch(was, is);",
        replace: "const inner = equal(was, is) ? undefined : is;",
      },
      {
        what: "an inherited property counts as a field",
        find: "Object.hasOwn(object, key) ? (object[key] ?? null) : null",
        replace: "object[key] ?? null",
      },
    ],
  },
  {
    file: "lib/core/event-manifest.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "the name of an event has a hyphen before its dot",
        find: 'name.slice(0, 200).replace(/[-.]+$/, "")',
        replace: "name.slice(0, 200)",
      },
    ],
  },
  {
    file: "lib/flows/record-event.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "an annotation of the object hides the revision of an event",
        find: "{ ...ownMetadata(object), ...event.annotations }",
        replace: "{ ...event.annotations, ...ownMetadata(object) }",
      },
    ],
  },
  {
    file: "lib/flows/write-finalizers.ts",
    tests: ["test/unit/flows/write-finalizers.test.ts"],
    faults: [
      {
        what: "a finalizer that another controller added is lost",
        find: 'const { finalizers = [], resourceVersion = "" } = present.metadata;',
        replace: 'const { finalizers = [] } = live.metadata;\n    const { resourceVersion = "" } = present.metadata;',
      },
    ],
  },
  {
    file: "lib/core/ports/repeat-on-conflict.ts",
    tests: ["test/unit/flows/write-finalizers.test.ts"],
    faults: [{ what: "a conflict fails the run at once", find: "tries === maxTries", replace: "tries > 0" }],
  },
  {
    file: "lib/manifests/engine-message.ts",
    tests: ["test/unit/manifests/engine-message.test.ts"],
    faults: [{ what: "the query of a remote base is shown", find: 'text.replace(/\\?.*$/, "?...")', replace: "text" }],
  },
];
