import type { FileFaults } from "./fault.ts";

const flow = ["test/unit/flows/image-repository/image-repository.test.ts"];
const registry = ["test/unit/flows/image-repository/registry.test.ts"];
const scan = ["test/unit/image/scan.test.ts"];
const reference = ["test/unit/image/image-reference.test.ts"];

export const imageRepositoryFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/image-repository/when-to-scan.ts",
    tests: flow,
    faults: [
      {
        what: "a new order of the exclusion list requests a scan",
        find: "a.every((one) => b.includes(one))",
        replace: "a.every((one, at) => b[at] === one)",
      },
      {
        what: "a scan waits for the very end of its interval",
        find: "dueInMs < earlyMs",
        replace: "dueInMs <= 0",
      },
    ],
  },
  {
    file: "lib/flows/image-repository/image-repository-flow.ts",
    tests: flow,
    faults: [
      {
        what: "an event of the registry scans nothing",
        find: "ctx.run.isRequested && looked === lookOf(ctx)",
        replace: "false",
      },
      {
        what: "an event is lost if its scan fails",
        find: "const asked = isAnnounced(ctx) ? { asked: true } : {};",
        replace: "const asked = {};",
      },
      {
        what: "tags of a deleted object stay",
        find: "  await imageTags.remove(fence, signal);\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/image-repository/registry.ts",
    tests: registry,
    faults: [
      {
        what: "a Secret of any type is a login",
        find: 'data.get(dockerConfigKeys.get(type) ?? "")',
        replace: 'data.get(".dockerconfigjson")',
      },
    ],
  },
  {
    file: "lib/image/tag-order.ts",
    tests: scan,
    faults: [
      {
        what: "tags are sorted by UTF-16",
        find: "const isPlain = !surrogate.test(a) && !surrogate.test(b);",
        replace: "const isPlain = true;",
      },
    ],
  },
  {
    file: "lib/image/image-reference.ts",
    tests: reference,
    faults: [
      {
        what: "a name may address another repository",
        find: "if (/(?:^|\\/)\\.\\.?(?:\\/|$)/.test(found.repository)) {",
        replace: "if (found.repository === '') {",
      },
    ],
  },
];
