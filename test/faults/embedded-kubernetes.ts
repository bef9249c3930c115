import type { FileFaults } from "./fault.ts";

const folder = "packages/embedded-kubernetes";
const decoding = [`${folder}/test/server/decoding.test.ts`];
const paths = [`${folder}/test/server/paths-and-methods.test.ts`];

export const embeddedKubernetesFaults: readonly FileFaults[] = [
  {
    file: `${folder}/src/server/check-grants.ts`,
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a role may grant anything",
        find: "    if (!isAllowed(user, asked, cluster)) checkHeld(granted, rulesIn(after));\n",
        replace: "    isAllowed(user, asked, cluster);\n",
        named: "grants no rights",
      },
      {
        what: "a binding may grant anything",
        find: "  checkHeld(granted, rulesIn(found));\n",
        replace: "  rulesIn(found);\n",
        named: "grants no rights",
      },
    ],
  },
  {
    file: `${folder}/src/rules/warnings.ts`,
    tests: [`${folder}/test/unit/rules/warnings.test.ts`],
    faults: [
      {
        what: "a finalizer is warned about at each change of its object",
        find: ', ...textsOf(objectOf(old, "metadata"), "finalizers")]',
        replace: "]",
      },
    ],
  },
  {
    file: `${folder}/src/rules/prune-object.ts`,
    tests: decoding,
    faults: [
      {
        what: "a null is dropped where it is allowed",
        find: "value === null && property?.nullable !== true && ",
        replace: "value === null && ",
      },
    ],
  },
  {
    file: `${folder}/src/rules/validation/metadata.ts`,
    tests: decoding,
    faults: [
      {
        what: "an Event of events.k8s.io cannot be an owner either",
        find: 'textOf(owner, "apiVersion") === "v1" && textOf(owner, "kind") === "Event"',
        replace: 'textOf(owner, "kind") === "Event"',
      },
    ],
  },
  {
    file: `${folder}/src/server/create-object.ts`,
    tests: decoding,
    faults: [
      {
        what: "a POST creates an object that is being deleted",
        find: "...(isApply ? deletion : {})",
        replace: "...(isApply ? deletion : deletion)",
      },
    ],
  },
  {
    file: `${folder}/src/server/parse-body.ts`,
    tests: decoding,
    faults: [
      {
        what: "a key given twice has the line of the key",
        find: "lines.linePos((value ?? key).range[0])",
        replace: "lines.linePos(key.range[0])",
      },
    ],
  },
  {
    file: `${folder}/src/resource/custom-version.ts`,
    tests: paths,
    faults: [
      {
        what: "a deprecated version advises one that is older",
        find: "comparePriority(one, own) < 0",
        replace: "comparePriority(one, own) !== 0",
      },
    ],
  },
  {
    file: `${folder}/src/serve.ts`,
    tests: paths,
    faults: [
      {
        what: "a path that is not there warns of a deprecated version",
        find: "  if (!isInScope(resource, path, exchange.method)) {",
        replace: "  warn(exchange, deprecation(resource));\n  if (!isInScope(resource, path, exchange.method)) {",
      },
    ],
  },
];
