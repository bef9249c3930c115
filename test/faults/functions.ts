import type { FileFaults } from "./fault.ts";

export const functionsFaults: readonly FileFaults[] = [
  {
    file: "functions/reconcile.ts",
    tests: ["test/unit/functions/reconcile.test.ts"],
    faults: [
      { what: "an invocation that ends reports no failures", find: "      never.signal,", replace: "      signal," },
      {
        what: "runs begin whatever the gate says",
        find: "if (await isClosed(deps.gate, signal)) {",
        replace: "if (deps.gate === undefined) {",
      },
      {
        what: "a refused wake-up hides those to come",
        find: "      await setAside(key, deps, signal);\n",
        replace: "",
      },
    ],
  },
  {
    file: "functions/sweep.ts",
    tests: ["test/unit/functions/sweep.test.ts"],
    faults: [
      {
        what: "a sweep sends whatever the gate says",
        find: "    if (await isClosed(deps.gate, signal)) return;\n",
        replace: "",
      },
    ],
  },
];
