import type { FileFaults } from "./fault.ts";

/** Mistakes in the order in which test files start. */
export const longFirstFaults: readonly FileFaults[] = [
  {
    file: "test/report/long-first.ts",
    tests: ["test/report/long-first.test.ts"],
    faults: [
      {
        what: "long files of infra/ do not start first",
        find: "path === `${name}.test.ts`",
        replace: 'path.startsWith("test/") && path === `${name}.test.ts`',
      },
      {
        what: "a file of any folder starts as early as a long one of the same name",
        find: "path === `${name}.test.ts`);",
        replace: "path.endsWith(name.slice(name.lastIndexOf('/')) + '.test.ts'));",
      },
    ],
  },
];
