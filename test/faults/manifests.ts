import type { FileFaults } from "./fault.ts";

export const manifestsFaults: readonly FileFaults[] = [
  {
    file: "lib/manifests/transform-names.ts",
    tests: ["test/unit/manifests/name-references.test.ts"],
    faults: [
      {
        what: "an unset namespace differs from default",
        find: 'metadata.namespace ?? "default"',
        replace: 'metadata.namespace ?? ""',
      },
      {
        what: "a reference finds an object of another namespace",
        find: "namespaceOf(referrer) === namespaceOf(target)",
        replace: 'namespaceOf(referrer) !== ""',
      },
      {
        what: "a reference does not find the name between prefix and suffix",
        find: "[name, `${prefix}${name}`]",
        replace: "[name]",
      },
      {
        what: "a reference that is a mapping does not get the namespace of its object",
        find: "if (!isUntouched || !isReference(named)) throw",
        replace: "if (!isReference(named)) throw",
      },
      {
        what: "a reference takes the first of several objects",
        find: "if (!isCertain) throw",
        replace: 'if (!isCertain && now === "") throw',
      },
    ],
  },
  {
    file: "lib/manifests/build-plain.ts",
    tests: ["test/unit/manifests/name-references.test.ts"],
    faults: [
      {
        what: "a binding under a prefix is built in process",
        find: "!(isUntouched && apiVersion.startsWith(",
        replace: "!(kind.length > 0 && apiVersion.startsWith(",
      },
      {
        what: "a binding with subjects that break kustomize is built in process",
        find: "if (group !== undefined && !hasUsualSubjects(subjects)) throw",
        replace: 'if (group === "" && !hasUsualSubjects(subjects)) throw',
      },
    ],
  },
  {
    file: "lib/manifests/name-references.ts",
    tests: ["test/unit/manifests/name-references.test.ts"],
    faults: [
      {
        what: "a subject without a name stays as it is",
        find: 'typeof name === "string" && [kind, namespace]',
        replace: "[kind, namespace]",
      },
      {
        what: "a reference that is a number stays as it is",
        find: 'throw new Undecided("a reference that is not a text");',
        replace: "return value;",
      },
      {
        what: "a scalar on the way to a reference stays as it is",
        find: 'throw new Undecided("a scalar on the way to a reference");',
        replace: "return value;",
      },
    ],
  },
  {
    file: "lib/manifests/transform-patches.ts",
    tests: ["test/unit/manifests/transform-patches.test.ts"],
    faults: [
      {
        what: "the version of a target does not count",
        find: `      ofVersion?.test(itsVersion) === true &&
`,
        replace: "",
      },
      {
        what: "the group of a target does not count",
        find: `      ofGroup?.test(itsGroup) === true &&
`,
        replace: "",
      },
      {
        what: "a patch that names its object changes the namesake of another namespace",
        find: `object.metadata.name === metadata.name &&
    object.metadata.namespace === metadata.namespace;`,
        replace: "object.metadata.name === metadata.name;",
      },
      {
        what: "a target's name may begin the name of an object",
        find: 'new RegExp(text === "" ? "" : `^(?:${text})$`)',
        replace: 'new RegExp(text === "" ? "" : `^(?:${text})`)',
      },
      {
        what: "a number replaces a text",
        find: "if (value !== undefined && typeof value !== typeof change) {",
        replace: "if (isJsonObject(value ?? null)) {",
      },
      {
        what: "the text << in a patch is printed in quotes",
        find: 'typeof value !== "object") return value === "<<";',
        replace: 'typeof value !== "object") return false;',
      },
      {
        what: "an index adds after the item",
        find: "list.toSpliced(at, 0,",
        replace: "list.toSpliced(at + 1, 0,",
      },
      {
        what: "a name is patched",
        find: 'top === "kind" || (top === "metadata" && !isText)',
        replace: 'top === "kind"',
      },
      {
        what: "a null is merged",
        find: "if (value === null || isJsonList(value)) return false;",
        replace: "if (isJsonList(value)) return false;",
      },
    ],
  },
  {
    file: "lib/manifests/read-document.ts",
    tests: ["test/unit/manifests/build.test.ts"],
    faults: [
      {
        what: "a literal block at the end of a text gets a line break",
        find: 'return isCut && value.endsWith("\\n") ? value.slice(0, -1) : value;',
        replace: "return value;",
        named: "a literal block at the end",
      },
      {
        what: "the last of two equal keys counts",
        find: 'if (Object.hasOwn(mapping, key)) throw new Undecided("a key that is there twice");',
        replace: "",
        tests: ["test/unit/manifests/bad-input.test.ts"],
        named: "a key twice",
      },
    ],
  },
  {
    file: "lib/manifests/read-objects.ts",
    tests: ["test/unit/manifests/transform-patches.test.ts"],
    faults: [
      {
        what: "a patch is read as it is written",
        find: "const trimmed = plain.trim();",
        replace: "const trimmed = plain;",
      },
      {
        what: "a JSON patch in flow form is YAML",
        find: 'trimmed.startsWith("[") && !isJson(trimmed)',
        replace: 'trimmed === "" && !isJson(trimmed)',
      },
      {
        what: "a patch is read by YAML 1.2 alone",
        find: 'readDocument(document, "any")',
        replace: "readDocument(document)",
      },
    ],
  },
  {
    file: "lib/manifests/go-yaml/number.ts",
    tests: ["test/unit/manifests/numbers.test.ts"],
    faults: [
      {
        what: "an integer without a sign loses its last bit",
        find: "2n ** 64n - 1n]",
        replace: "2n ** 63n - 1n]",
      },
      {
        what: "a whole float stays a double",
        find: "return /^-?\\d+$/.test(json) ? goInteger(BigInt(json)) : float;",
        replace: "return float;",
      },
      {
        what: "an exponent has one digit",
        find: '.padStart(2, "0")',
        replace: "",
      },
      {
        what: "a large float has no exponent",
        find: "power < 6) return",
        replace: "power < 21) return",
      },
    ],
  },
  {
    file: "lib/manifests/artifact-tree.ts",
    tests: ["test/unit/manifests/bad-input.test.ts"],
    faults: [
      {
        what: "a path below a file counts as missing",
        find: 'files.has(names.slice(0, count).join("/"))',
        replace: 'files.has(names.slice(0, count).join("//"))',
        named: "a missing path is reported",
      },
    ],
  },
  {
    file: "lib/manifests/finish-build.ts",
    tests: ["test/unit/manifests/bad-input.test.ts"],
    faults: [
      {
        what: "a kind that is a number is reported as a missing name",
        find: 'if (!isText(object["kind"])) {',
        replace: 'if (object["kind"] === null) {',
        named: "a kind that is a number",
      },
    ],
  },
  {
    file: "lib/manifests/engine-message.ts",
    tests: ["test/unit/manifests/engine-message.test.ts"],
    faults: [
      {
        what: "a patch without fields is not shown",
        find: 'isTarget || line === "{}" ||',
        replace: "isTarget ||",
      },
    ],
  },
  {
    file: "lib/manifests/build/cached-build.ts",
    tests: ["test/unit/manifests/cached-build.test.ts"],
    faults: [
      {
        what: "a cached build is used after a variable stopped being a text",
        find: "[...notText], always, strict, fault]",
        replace: "always, strict, fault]",
      },
      {
        what: "another value does not build again",
        find: "const key = canonicalJson([owner.uid, artifact, spec, inputsDigest(postBuild)]);",
        replace: "const key = canonicalJson([owner.uid, artifact, spec]);",
      },
    ],
  },
  {
    file: "lib/manifests/transform-images.ts",
    tests: ["test/unit/manifests/transform-images.test.ts"],
    faults: [
      {
        what: "a digest keeps the tag",
        find: '? { tag: image.newTag ?? "", digest: image.digest ?? "" }',
        replace: '? { tag: image.newTag ?? tag, digest: image.digest ?? "" }',
      },
      {
        what: "the images of init containers stay",
        find: 'key === "containers" || key === "initContainers"',
        replace: 'key === "containers"',
      },
      {
        what: "the port of a registry is read as a tag",
        find: 'const from = Math.max(image.indexOf("/"), 0);',
        replace: "const from = 0;",
      },
      {
        what: "an image with the prefix of the named one is changed",
        find: "(@sha256:[a-zA-Z0-9_.{}-]*)?$`",
        replace: "(@sha256:[a-zA-Z0-9_.{}-]*)?`",
      },
    ],
  },
];
