import type { FileFaults } from "./fault.ts";

const choose = ["test/unit/image/choose/choices.test.ts"];
const flow = ["test/unit/flows/image-policy/image-policy.test.ts"];

export const imagePolicyFaults: readonly FileFaults[] = [
  {
    file: "lib/image/choose/choices.ts",
    tests: choose,
    faults: [
      {
        what: "of tags with the same extract the greatest is chosen",
        find: "tagsByKey.get(key)?.pop()",
        replace: "tagsByKey.get(key)?.shift()",
      },
    ],
  },
  {
    file: "lib/image/choose/ranking.ts",
    tests: choose,
    faults: [
      {
        what: "of equal numbers the first is chosen",
        find: '!(order === "asc" ? value < best : value > best)',
        replace: 'order === "asc" ? value > best : value < best',
      },
      {
        what: "of equal versions the last is chosen",
        find: "compareSemver(version, best) > 0",
        replace: "compareSemver(version, best) >= 0",
      },
    ],
  },
  {
    file: "lib/flows/image-policy/policy-status.ts",
    tests: flow,
    faults: [
      {
        what: "a stalled policy hides its earlier failure",
        find: 'const isFailed = readyOf(status)?.status === "False";',
        replace: "const isFailed = false;",
      },
      {
        what: "the previous ref is lost",
        find: "...(former === undefined ? {} : { observedPreviousRef: former })",
        replace: "...(_previous === undefined ? {} : { observedPreviousRef: _previous })",
      },
    ],
  },
  {
    file: "lib/flows/image-policy/choose-image.ts",
    tests: flow,
    faults: [
      {
        what: "a barred digest bars the tag for good",
        find: "return bars.some((one) => one.digest === present);",
        replace: 'return present !== "";',
      },
    ],
  },
  {
    file: "lib/flows/image-policy/image-policy-flow.ts",
    tests: flow,
    faults: [
      {
        what: "a run that ended before its wake-ups does not make up for them",
        find: "if (isChanged || run.isRetry === true) await wakeAutomations(ctx);",
        replace: "if (isChanged) await wakeAutomations(ctx);",
      },
    ],
  },
  {
    file: "lib/flows/image-policy/image-policy-flow.ts",
    tests: ["test/unit/flows/moved-from-flux/moved-images.test.ts"],
    faults: [
      {
        what: "a policy moved from Flux reports no tags before its repository could be scanned",
        find: "if (isScanAhead && isSettled && !isAsked) {",
        replace: "if (isScanAhead && isSettled && isAsked) {",
      },
      {
        what: "a policy waits silently for a suspended repository",
        find: "tagCount > 0 && spec.suspend !== true;",
        replace: "tagCount > 0;",
      },
    ],
  },
  {
    file: "lib/flows/image-policy/referred-repository.ts",
    tests: flow,
    faults: [
      {
        what: "an accessFrom without a matching selector admits all",
        find: "if (!isAdmitted) throw refused(",
        replace: "if (!isAdmitted && access.namespaceSelectors.length === 0) throw refused(",
      },
    ],
  },
];
