import type { FileFaults } from "./fault.ts";

const tests = ["test/unit/architecture/layers.test.ts"];

/** Imports against the layers, and mistakes in the check that refuses them. */
export const layerFaults: readonly FileFaults[] = [
  {
    file: "lib/core/topics.ts",
    tests,
    faults: [
      {
        what: "core imports a type of the gate",
        find: 'import { formatWorkKey, type WorkKey } from "./work-key.ts";',
        replace:
          'import type {} from "../gate/pause.ts";\nimport { formatWorkKey, type WorkKey } from "./work-key.ts";',
      },
      {
        what: "core imports a port",
        find: 'import { formatWorkKey, type WorkKey } from "./work-key.ts";',
        replace:
          'import type {} from "./ports/clock.ts";\nimport { formatWorkKey, type WorkKey } from "./work-key.ts";',
      },
    ],
  },
  {
    file: "lib/sops/format.ts",
    tests,
    faults: [
      {
        what: "sops loads a flow when it is needed",
        find: "/** The stores of sops:",
        replace: 'export const loadFlow = () => import("../flows/interval.ts");\n\n/** The stores of sops:',
      },
    ],
  },
  {
    file: "lib/http/retire-agent.ts",
    tests,
    faults: [
      {
        what: "http and kube import each other",
        find: 'import type { Agent } from "node:http";',
        replace: 'import type { Agent } from "node:http";\nimport type {} from "../kube/cluster-config.ts";',
      },
    ],
  },
  {
    file: "test/unit/architecture/check-layers.ts",
    tests,
    faults: [
      {
        what: "a folder that is not listed may import everything",
        find: "      faults.push(`${file}: the folder ${folder} is not listed. List it with what it may import`);\n",
        replace: "",
      },
      {
        what: "every folder may import what one folder may",
        find: "if (!imports.includes(other)) faults",
        replace: "if (![...allowed.values()].flat().includes(other)) faults",
      },
      {
        what: "a folder may name folders below it",
        find: "if (!above.has(other)) {",
        replace: "if (!layers.some((one) => one.folder === other)) {",
      },
      {
        what: "imports of types do not count",
        find: "const specifier = /\\b(?:from|import)",
        replace: "const specifier = /(?<!\\btype \\{[^}]*\\} )\\b(?:from|import)",
      },
      {
        what: "the module of a thread does not count",
        find: 'imported ?? run ?? ""',
        replace: 'imported ?? ""',
      },
    ],
  },
];
