import type { FileFaults } from "./fault.ts";

/** Mistakes in substitution, and in the masks of secrets in its errors. */
export const substitutionFaults: readonly FileFaults[] = [
  {
    file: "lib/manifests/build/substitute-objects.ts",
    tests: ["test/unit/manifests/substitute/substitute-objects.test.ts"],
    faults: [
      {
        what: "a folder with the prefix of the built one counts as inside",
        find: "path.startsWith(`${folder}/`)",
        replace: "path.startsWith(folder)",
      },
      { what: "the name of an object is a pattern", find: 'value.replaceAll(/\\W/g, "\\\\$&")', replace: "value" },
      {
        what: "an object whose name has spaces is searched",
        find: " || !sought.test(itsName)",
        replace: "",
      },
      {
        what: "a name may have spaces after its first character",
        find: "/^\\S{1,253}$/",
        replace: "/^\\S/",
      },
      {
        what: "an object that becomes another one is noticed only at the apply",
        find: "if (matched > 1) throw",
        replace: "if (matched > objects.length) throw",
      },
      {
        what: "an expression is found in the file of another object",
        find: "found !== -1 && named.every((one) => one.test(document))",
        replace: "found !== -1",
      },
      {
        what: "an expression is found in another folder",
        find: 'folder === "" || path.startsWith(`${folder}/`);',
        replace: "path !== folder;",
      },
      {
        what: "a definition is substituted",
        find: 'if (kind === "CustomResourceDefinition" &&',
        replace: 'if (kind === "" &&',
      },
      {
        what: "an expression of a Secret is quoted",
        find: 'if (object["kind"] === "Secret" || expression === "") return "";',
        replace: 'if (expression === "") return "";',
      },
      {
        what: "objects are substituted without variables",
        find: "if (variables.size === 0 && !always) return { objects, text };",
        replace: "",
      },
      {
        what: "each object has the steps of a build",
        find: "stepsLeft -= answer.steps;",
        replace: "",
      },
      {
        what: "an invalid name is accepted if nothing uses it",
        find: "if (misnamed !== undefined) {",
        replace: "if (misnamed !== undefined && text.includes(misnamed)) {",
      },
    ],
  },
  {
    file: "lib/manifests/thread/off-thread.ts",
    tests: ["test/unit/manifests/substitute/substitute-objects.test.ts"],
    faults: [
      {
        what: "an object whose expressions take many steps is refused",
        find: 'here.kind === "large" || (here.kind === "outOfSteps" && maxSteps < template.maxSteps)',
        replace: 'here.kind === "large"',
      },
    ],
  },
  {
    file: "lib/manifests/substitute/evaluate.ts",
    tests: ["test/unit/manifests/substitute/evaluate.test.ts"],
    faults: [
      {
        what: "a letter beyond 16 bits is two",
        find: 'const [first = ""] = text;',
        replace: "const first = text.charAt(0);",
      },
      {
        what: "an offset before the beginning counts from the end twice",
        find: "Math.max(0, value.length + at)",
        replace: "value.length + at",
      },
      {
        what: "the first of two equal parts is replaced in place of the end",
        find: "replaced(value, [value.length - first.length], first, second, budget)",
        replace: "replaced(value, [value.indexOf(first)], first, second, budget)",
      },
      {
        what: "every part is replaced where the first is meant",
        find: "occurrencesOf(first, value, 1, budget)",
        replace: "occurrencesOf(first, value, Infinity, budget)",
      },
      {
        what: "an object of any size is read",
        find: "if (source.length > maxSubstitutedBytes) {",
        replace: "if (source.length > 2 * maxSubstitutedBytes) {",
      },
      {
        what: "a value is converted for each expression that names it",
        find: "this.#values.set(param, bytes);",
        replace: "",
      },
      {
        what: "letters are changed without steps",
        find: "budget.spend(bytes.length * stepsOfCharacter);\n  return bytesOf(change(",
        replace: "budget.spend(0);\n  return bytesOf(change(",
      },
      {
        what: "nested expressions are not counted",
        find: "this.#length += bytes.length;",
        replace: 'if ("text" in node) this.#length += bytes.length;',
      },
      {
        what: "an unset variable is empty",
        find: "if (this.#strict && value === undefined && !defaults.has(operator)) {",
        replace: 'if (this.#strict && value === undefined && operator === "none") {',
      },
      {
        what: "a build that is not strict refuses unset variables",
        find: "if (this.#strict && value === undefined",
        replace: "if (value === undefined",
      },
    ],
  },
  {
    file: "lib/manifests/substitute/replace.ts",
    tests: ["test/unit/manifests/substitute/evaluate.test.ts"],
    faults: [
      {
        what: "a text may become of any length before it is refused",
        find: "if (length > maxLength) throw",
        replace: "if (length > 1_000 * maxLength) throw",
      },
      {
        what: "occurrences overlap",
        find: "matched = 0;\n  }\n  return found;",
        replace: "matched = borders[matched - 1] ?? 0;\n  }\n  return found;",
      },
    ],
  },
  {
    file: "lib/manifests/borders.ts",
    tests: ["test/unit/manifests/substitute/evaluate.test.ts", "test/unit/manifests/mask-secrets.test.ts"],
    faults: [
      {
        what: "a failing comparison starts over",
        find: "length = borders[length - 1] ?? 0;",
        replace: "length = 0;",
      },
    ],
  },
  {
    file: "lib/manifests/secrets.ts",
    tests: ["test/unit/manifests/mask-secrets.test.ts"],
    faults: [
      {
        what: "a long value is hidden once",
        find: "    matched = 0;\n",
        replace: "    return spans;\n",
      },
      {
        what: "of a value that was cut only its first characters are hidden",
        find: "from: to - longest, to }",
        replace: "from: to - minChars, to }",
      },
      {
        what: "a long value is hidden by its first characters",
        find: "if (matched < value.length) continue;",
        replace: "if (matched < maxSoughtChars) continue;",
      },
    ],
  },
  {
    file: "lib/manifests/substitute/glob.ts",
    tests: ["test/unit/manifests/substitute/glob.test.ts"],
    faults: [
      {
        what: "no bit is carried to the next word",
        find: "carried = taken >>> (bitsOfWord - 1);",
        replace: "carried = 0;",
      },
      { what: "a star takes one byte", find: "if (star) setBit(stays, begin);", replace: "" },
      {
        what: "every value is compared prefix by prefix",
        find: "const lengths = isComparedByBytes(value, chunks)",
        replace: 'const lengths = value === "" && isComparedByBytes(value, chunks)',
      },
      {
        what: "a value beyond ASCII is compared by bytes",
        find: 'chunks.every(({ elements }) => elements.every(({ kind }) => kind === "byte"))',
        replace: "chunks.length > 0",
      },
      {
        what: "comparing prefixes costs no steps",
        find: "budget.spend(compared);",
        replace: "",
      },
    ],
  },
  {
    file: "lib/manifests/substitute/glob-pattern.ts",
    tests: ["test/unit/manifests/substitute/glob.test.ts"],
    faults: [
      {
        what: "a class is never negated",
        find: 'const isNegated = chunk[start] === "^";',
        replace: 'const isNegated = chunk[start] === "!";',
      },
    ],
  },
];
