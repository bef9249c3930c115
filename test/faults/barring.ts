import type { FileFaults } from "./fault.ts";

const blamed = ["test/unit/health/blamed-images.test.ts"];
const flow = ["test/unit/flows/owner/bar-unhealthy.test.ts"];

/** Mistakes in the decision which image a failed health check bars, and in how it is written. */
export const barringFaults: readonly FileFaults[] = [
  {
    file: "lib/health/blamed-images.ts",
    tests: blamed,
    faults: [
      {
        what: "the digest of an image is taken for its tag",
        find: "/^([^@]+):([A-Za-z0-9_]",
        replace: "/^(.+):([A-Za-z0-9_]",
      },
      {
        what: "an image is blamed although another object is unhealthy too",
        find: "return known.length === blamed.length ? known : [];",
        replace: "return known;",
      },
      {
        what: "a Pod that cannot be read does not count",
        find: "return failing.every((one) => one !== undefined && one.name === first?.name) ? first : undefined;",
        replace: "return failing.every((one) => one === undefined || one.name === first?.name) ? first : undefined;",
      },
      {
        what: "a container is blamed that waits for another one",
        find: "return allRun ? only : undefined;",
        replace: "return allRun || only.name.length > 0 ? only : undefined;",
      },
      {
        what: "a single end of a container blames its image",
        find: "const minRestarts = 2;",
        replace: "const minRestarts = 1;",
      },
      {
        what: "a Pod that the node has evicted blames its image",
        find: 'isReady(pod) || (pod.status.reason ?? "") !== ""',
        replace: "isReady(pod)",
      },
    ],
  },
  {
    file: "lib/health/config-changes.ts",
    tests: blamed,
    faults: [
      {
        what: "a missing ConfigMap counts as unchanged",
        find: "return known.length === times.length ? Math.max(0, ...known) : undefined;",
        replace: "return Math.max(0, ...known);",
      },
    ],
  },
  {
    file: "lib/flows/owner/bar-unhealthy.ts",
    tests: flow,
    faults: [
      {
        what: "a policy bars images without asking for it",
        find: 'annotations?.[barUnhealthyAnnotation] === "true" &&',
        replace: 'annotations?.[barUnhealthyAnnotation] !== "" &&',
      },
      {
        what: "an entry that another client has just written is lost",
        find: "body: { metadata: { resourceVersion, annotations } }",
        replace: "body: { metadata: { annotations } }",
      },
      {
        what: "an installation without the image kinds repeats each run whose health check fails",
        find: "if (isAnswer(error)) return [];",
        replace: "",
      },
      {
        what: "an image is barred again and again",
        find: "if (parseBarred(annotation).some((one) => isBarredBy(one, image))) return undefined;",
        replace: "if (parseBarred(annotation).some((one) => isBarredBy(one, image) && tries > 9)) return undefined;",
      },
    ],
  },
  {
    file: "lib/image/barred/barred-images.ts",
    tests: ["test/unit/image/barred/barred-images.test.ts"],
    faults: [
      {
        what: "the comments of a list are removed",
        find: '`${annotation.replace(/\\n+$/, "")}\\n${added}`',
        replace: "`${formatBarred(parseBarred(annotation))}\\n${added}`",
      },
    ],
  },
  {
    file: "lib/health/check-health.ts",
    tests: ["test/unit/health/check-health.test.ts"],
    faults: [
      {
        what: "an object that is still awaited does not count as a cause beside one that has failed",
        find: "notCurrent: pending,\n    };",
        replace: "notCurrent: failed,\n    };",
      },
    ],
  },
];
