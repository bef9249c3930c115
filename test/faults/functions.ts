import type { FileFaults } from "./fault.ts";

export const functionsFaults: readonly FileFaults[] = [
  {
    file: "functions/reconcile.ts",
    tests: ["test/unit/functions/reconcile.test.ts"],
    faults: [
      { what: "an invocation that ends reports no failures", find: "      never.signal,", replace: "      signal," },
    ],
  },
];
