import type { FileFaults } from "./fault.ts";

const build = "test/unit/manifests/decrypt/build-encrypted.test.ts";
const sealed = "test/unit/manifests/decrypt/sealed-files.test.ts";
const sources = "test/unit/manifests/decrypt/encrypted-sources.test.ts";

export const decryptionFaults: readonly FileFaults[] = [
  {
    file: "lib/manifests/decrypt/encrypted-sources.ts",
    tests: [sources],
    faults: [
      {
        what: "components are not searched",
        find: '["resources", "components"].flatMap',
        replace: '["resources"].flatMap',
      },
      {
        what: "components of the spec are not searched",
        find: "[...root.resources, ...components]",
        replace: "[...root.resources]",
      },
      {
        what: "a file that is named twice has its last format",
        find: "if (!sources.has(place)) sources",
        replace: "sources",
      },
      {
        what: "a folder below one with a kustomization file is handled separately",
        find: "!foldersAbove(path).some(",
        replace: "!foldersAbove(path).every(",
      },
      {
        what: "kustomization files of any length are read at once",
        find: "if (bytes.length > maxKustomizationBytes) {",
        replace: "if (bytes.length > 2 * maxKustomizationBytes) {",
      },
      {
        what: "any number of kustomization files is read",
        find: "if (budget.bytes < 0) {",
        replace: "if (budget.bytes < -maxKustomizationBytes) {",
      },
      {
        what: "an alias of many names counts as one",
        find: "budget.names -= named.resources.length + named.files.length;",
        replace: "budget.names -= 1;",
      },
      {
        what: "an env file of unknown type is binary",
        find: 'format === "binary" ? "dotenv" : format',
        replace: "format",
      },
      {
        what: "the format is derived from the path",
        find: "return { path: source.slice(equals + 1), format: formatOfName(key) };",
        replace:
          "const path = source.slice(equals + 1);\n  return { path, format: formatOfName(key === path ? key : path) };",
      },
      {
        what: "a path leads out of the artifact",
        find: 'return confined(path.startsWith("/") ? path : `${folder}/${path}`);',
        replace: "return confined(path);",
      },
    ],
  },
  {
    file: "lib/manifests/decrypt/decrypt-sources.ts",
    tests: [build],
    faults: [
      {
        what: "a file of any size is decrypted",
        find: "content.length > maxEncryptedFileBytes",
        replace: "content.length > 2 * maxEncryptedFileBytes",
      },
      { what: "values of decrypted files are shown", find: "values.push(value);", replace: "void value;" },
    ],
  },
  {
    file: "lib/manifests/decrypt/decrypt-objects.ts",
    tests: [build],
    faults: [
      {
        what: "an object whose namespace is encrypted keeps its ciphertext",
        find: 'object["kind"], name, namespace].some(isCiphertext)',
        replace: 'object["kind"], name].some(isCiphertext)',
        tests: ["test/unit/manifests/decrypt/build-encrypted.test.ts"],
      },
      { what: "the MAC is not verified", find: "      await verify(macOf(object));\n", replace: "" },
      { what: "the annotation is ignored", find: "isOptedOut(object) ? object : await", replace: "await" },
      { what: "values of decrypted objects are shown", find: "values.push(value);", replace: "void value;" },
      {
        what: "an object that is still encrypted is applied",
        find: "if (valuesOf(object, plain).some(isEncryptedValue)) throw",
        replace: "if (valuesOf(object, plain).length < 0) throw",
      },
      {
        what: "a Secret without a MAC is reported as one with single values",
        find: '"sops" in decrypted ? undefined : sealedField(decrypted)',
        replace: "sealedField(decrypted)",
      },
      {
        what: "single encrypted values are applied",
        find: "return sealed === undefined\n",
        replace: "return sealed !== null\n",
      },
      {
        what: "a file that is still encrypted is applied",
        find: "if (encryptedFormat(plain) !== undefined) throw",
        replace: "if (plain.length < 0) throw",
      },
      {
        what: "a build for names decrypts everything",
        find: "decrypter.namesOnly ? decryptName : decryptContent",
        replace: "decrypter.namesOnly ? decryptContent : decryptContent",
      },
    ],
  },
  {
    file: "lib/manifests/decrypt/sealed-files.ts",
    tests: [build],
    faults: [
      {
        what: "only the first file with the MAC is verified",
        find: "for (const file of sealed.get(mac) ?? []) if",
        replace: "for (const file of (sealed.get(mac) ?? []).slice(0, 1)) if",
      },
      {
        what: "a MAC that is in no file is accepted",
        find: "if (proofs > 0) return;",
        replace: "if (proofs >= 0) return;",
      },
      {
        what: "a file with another MAC counts as a proof",
        find: "if (metadata.mac !== mac) throw",
        replace: 'if (metadata.mac === "") throw',
        tests: [sealed],
      },
      {
        what: "a patch in a kustomization counts as a quotation",
        find: "!isKustomization(path) && onlyQuotes",
        replace: "onlyQuotes",
        tests: [sealed],
      },
    ],
  },
  {
    file: "lib/manifests/thread/off-thread.ts",
    tests: [sealed],
    faults: [
      {
        what: "a large file is searched at once",
        find: "if (search.bytes.length > offThreadSearchedBytes) {",
        replace: "if (search.bytes.length > 100 * offThreadSearchedBytes) {",
      },
    ],
  },
  {
    file: "lib/manifests/sealed/sealed-parts.ts",
    tests: [build],
    faults: [
      {
        what: "a file of several encrypted ones is verified as one",
        find: "new Set([...wanted, ...others]).size === 1)",
        replace: "new Set([...wanted, ...others]).size < 9)",
      },
      {
        what: "a MAC with an escape is not found",
        find: "text.replaceAll(escapes, unescaped)",
        replace: "text",
      },
      {
        what: "a MAC in base64 is not found",
        find: 'plain.includes("!")',
        replace: 'plain.includes("!!!")',
      },
    ],
  },
  {
    file: "lib/manifests/sealed/quoted-mac.ts",
    tests: [sealed],
    faults: [
      {
        what: "a text that parsers read differently counts as a quotation",
        find: " || readersDisagree.test(text)) return false;",
        replace: ") return false;",
      },
      {
        what: "a text of any length is parsed at once",
        find: "text.length > maxQuoting || ",
        replace: "",
      },
      {
        what: "files that transformers name are skipped",
        find: '"transformers", "validators"',
        replace: '"validators"',
      },
      {
        what: "kustomization files of any length are searched at once",
        find: "if (kustomizations.reduce((sum, { length }) => sum + length, 0) > maxQuoting)",
        replace: "if (kustomizations.length < 0)",
      },
      {
        what: "a file that cannot be parsed counts as a quotation",
        find: "if (error instanceof SopsFault) return false;",
        replace: "if (error instanceof SopsFault) return true;",
      },
      { what: "a merged MAC is a quotation", find: ' || parent === "<<"', replace: "" },
      {
        what: "a transformer with a patch counts as a quotation",
        find: 'if (path.at(-1) === "apiVersion" && value === "builtin") return true;',
        replace: "",
      },
      {
        what: "only YAML files are read",
        find: 'return named === "any" || named.has(posix.basename(path));',
        replace: "return named === undefined;",
      },
    ],
  },
  {
    file: "lib/manifests/decrypt/guard.ts",
    tests: ["test/unit/manifests/decrypt/guard.test.ts"],
    faults: [
      {
        what: "other values of the annotation count",
        find: 'value.toLowerCase() === "disabled"',
        replace: 'value !== ""',
      },
    ],
  },
  {
    file: "lib/manifests/build/cached-build.ts",
    tests: ["test/unit/manifests/cached-build.test.ts"],
    faults: [
      {
        what: "a build for names is used for the manifests",
        find: "encrypted !== undefined && !decryption.namesOnly",
        replace: "encrypted !== undefined",
      },
      {
        what: "the keys are not read again",
        find: "const decrypter = await openDecryption(decryption);",
        replace: "const decrypter = undefined;\n  void (await openDecryption(decryption));",
      },
    ],
  },
  {
    file: "lib/manifests/build/build-encrypted.ts",
    tests: ["test/unit/manifests/cached-build.test.ts"],
    faults: [
      {
        what: "a build with decrypted files is cached",
        find: "encrypted: sources.values.length === 0 ? encrypted : undefined",
        replace: "encrypted",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/decryption.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "an encrypted Secret passes the check",
        find: "if (refusal !== undefined) throw new Failure",
        replace: "if (refusal === null) throw new Failure",
        named: "encrypted manifests",
      },
    ],
  },
];
