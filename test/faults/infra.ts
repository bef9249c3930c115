import type { FileFaults } from "./fault.ts";

/** Likely mistakes in the constructs. They are tried where the CDK is installed. */
export const infraFaults: readonly FileFaults[] = [
  {
    file: "infra/lib/pushes.ts",
    tests: ["infra/test/pushes.test.ts"],
    faults: [
      {
        what: "a forwarded push that cannot be sent is lost",
        find: "new EventBusTarget(bus, { deadLetterQueue })",
        replace: "new EventBusTarget(bus)",
      },
      {
        what: "the function does not hear of a region that pushes come from",
        find: "const all = [{}, ...pushesFrom].map(",
        replace: "const all = [{}, ...pushesFrom.filter((from) => from.region === undefined)].map(",
      },
    ],
  },
];
