import type { FileFaults } from "./fault.ts";

/** Likely mistakes in what the numbered statements about builds, variables and decryption of a Kustomization say; each is noticed by a story with its number. */
export const manifestStatementFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/post-build.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "variables of objects win over those of the spec",
        find: "?? {})) variables.set(name, oneLine(value));",
        replace: "?? {})) if (!variables.has(name)) variables.set(name, oneLine(value));",
        named: "(50)",
      },
      {
        what: "line breaks stay in values",
        find: 'return value.replaceAll("\\n", "");',
        replace: "return value;",
        named: "(50)",
      },
      {
        what: "an optional object must exist",
        find: "if (object !== undefined || optional) return",
        replace: 'if (object !== undefined || (optional && name === "")) return',
        named: "(51)",
      },
      {
        what: "every object is optional",
        find: "if (object !== undefined || optional) return",
        replace: "if (object !== undefined || optional !== undefined) return",
        named: "(51)",
      },
      {
        what: "the strategy Always is ignored",
        find: 'postBuild.substituteStrategy === "Always"',
        replace: 'postBuild.substituteStrategy === "WithVariables"',
        named: "(52, 53)",
      },
      {
        what: "a value that is not UTF-8 is used with replacement characters",
        find: "else notText.add(name);",
        replace: "else notText.delete(name);",
        named: "that are not UTF-8",
      },
      {
        what: "a value of the spec does not take the place of one that is not UTF-8",
        find: "notText.delete(name);\n  return",
        replace: "notText.has(name);\n  return",
        named: "that are not UTF-8",
      },
    ],
  },
  {
    file: "lib/manifests/build/substitute-objects.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an object opts out of substitution in any letter case",
        find: 'mapping(names)[substituteName] === "disabled"',
        replace: 'textIn(mapping(names)[substituteName]).toLowerCase() === "disabled"',
        named: "(58)",
      },
      {
        what: "a label does not opt out of substitution",
        find: "[labels, annotations].some(",
        replace: "[labels, annotations].slice(1).some(",
        named: "(58)",
      },
    ],
  },
  {
    file: "lib/manifests/decrypt/decrypt-objects.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "files of sops in a Secret's values stay encrypted",
        find: 'return object["kind"] === "Secret" ? decryptData(object, decrypter, signal) : object;',
        replace: "return object;",
        named: "(65)",
      },
    ],
  },
  {
    file: "lib/manifests/decrypt/guard.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a label opts out of decryption",
        find: 'mapping(mapping(metadata)["annotations"])[decryptAnnotation]',
        replace:
          '(mapping(mapping(metadata)["annotations"])[decryptAnnotation] ?? mapping(mapping(metadata)["labels"])[decryptAnnotation])',
        named: "(67)",
      },
    ],
  },
  {
    file: "lib/manifests/normalise.ts",
    tests: ["test/unit/manifests/finish-build.test.ts"],
    faults: [
      {
        what: "an empty list of managed fields is sent",
        find: '(isEmptyList(metadata["managedFields"]) ? ["managedFields"] : [])',
        replace: "[]",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/decryption.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a closed gate counts as observed",
        find: "    isUnobserved: true,\n",
        replace: "",
        named: "(69)",
      },
      {
        what: "the gate of decryption.serviceAccountName is ignored",
        find: "|| gates.ObjectLevelWorkloadIdentity) return undefined;",
        replace: "|| gates !== undefined) return undefined;",
        named: "(69)",
      },
    ],
  },
  {
    file: "lib/sops/keys/import-keys.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a missing decryption Secret counts as one without keys",
        find: "  if (found === undefined) throw",
        replace:
          '  if (found === undefined) return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, uid: "" } };\n  if (found === undefined) throw',
        named: "(71)",
      },
    ],
  },
];
