import type { FileFaults } from "./fault.ts";

const unit = "test/unit/sops";

/** Likely mistakes in the decryption of what sops has encrypted. */
export const sopsFaults: readonly FileFaults[] = [
  {
    file: "lib/sops/key-source.ts",
    tests: ["test/unit/sops/refusals.test.ts"],
    faults: [
      {
        what: "a post-quantum recipient is printed in full before the reason",
        find: "return shortened(recipient.recipient);",
        replace: "return recipient.recipient;",
        named: "post-quantum recipient",
      },
    ],
  },
  {
    file: "lib/sops/cipher.ts",
    tests: [`${unit}/refusals.test.ts`],
    faults: [
      {
        what: "an int may be larger than 64 bits",
        find: 'if (BigInt.asIntN(64, value) !== value) throw unreadable("int");',
        replace: "",
        tests: ["test/unit/sops/decrypt-tree.test.ts"],
      },
      {
        what: "a tag of four bytes is enough",
        find: "tag.length !== tagBytes || ",
        replace: "tag.length < 4 || ",
        // Node is told the length too, and refuses it.
        equivalent: "the decipher is given the length of the tag, and setAuthTag throws for another",
      },
      {
        what: "a value is not bound to its place",
        find: "decipher.setAAD(Buffer.from(path));",
        replace: "",
      },
      {
        what: "a value is not authenticated",
        find: "    decipher.final();\n",
        replace: "",
      },
      {
        what: "a value of the type int may be any text",
        find: `if (!/^[+-]?[0-9]{1,40}$/.test(text)) throw unreadable("int");`,
        replace: "if (!/[0-9]/.test(text)) return 0n;",
      },
    ],
  },
  {
    file: "lib/sops/decrypt-tree.ts",
    tests: [`${unit}/refusals.test.ts`, `${unit}/decrypt-file.test.ts`],
    faults: [
      {
        what: "a comment in a list applies to all items after it",
        find: `      items.push(yield* this.#value(value, path, stack));
      lines = [];
      stack[comments.length] = lines;`,
        replace: "      items.push(yield* this.#value(value, path, stack));",
        tests: ["test/unit/sops/decrypt-tree.test.ts"],
      },
      {
        what: "a comment in a list does not apply to the item after it",
        find: `        lines.push(value.text);
        items.push(this.#comment(value, path, stack));`,
        replace: "        items.push(this.#comment(value, path, stack));",
        tests: ["test/unit/sops/decrypt-tree.test.ts"],
      },
      {
        what: "a plain-text value is not in the MAC",
        find: "if (encrypted || !this.#macOnlyEncrypted)",
        replace: "if (encrypted)",
      },
      {
        what: "a MAC over only encrypted values also covers plain-text ones",
        find: "if (encrypted || !this.#macOnlyEncrypted)",
        replace: "if (encrypted || this.#macOnlyEncrypted || true)",
      },
      {
        what: "the index of a list is in the path of its values",
        find: "items.push(yield* this.#value(value, path, stack));",
        replace: 'items.push(yield* this.#value(value, [...path, "0"], stack));',
      },
      {
        what: "any MAC is accepted",
        find: "if (decryptValue(mac, dataKey, lastModified) !== computed)",
        replace: 'if (decryptValue(mac, dataKey, lastModified) === "")',
      },
    ],
  },
  {
    file: "lib/sops/steps.ts",
    tests: [`${unit}/steps.test.ts`],
    faults: [
      {
        what: "a large file is one step",
        find: "if (left > 0) return false;",
        replace: "if (left > -1e9) return false;",
      },
      {
        what: "other tasks get no turn between two steps",
        find: "    await setImmediate();\n",
        replace: "    void setImmediate;\n",
      },
      {
        what: "an aborted run continues",
        find: "    signal.throwIfAborted();\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/file/decrypt-file.ts",
    tests: [`${unit}/refusals.test.ts`],
    faults: [
      {
        what: "the MAC is checked only if it is asked for",
        find: "ignoreMac = false",
        replace: "ignoreMac = true",
      },
      {
        what: "a file is verified without its MAC",
        find: "openFile(file, false, await",
        replace: "openFile(file, true, await",
        tests: [`${unit}/verify-file.test.ts`],
      },
    ],
  },
  {
    file: "lib/sops/encryption-rule.ts",
    tests: [`${unit}/decrypt-file.test.ts`],
    faults: [
      {
        what: "encrypted_suffix counts for the last key alone",
        find: "return (path) => path.some((key) => key.endsWith(text));",
        replace: "return (path) => path.at(-1)?.endsWith(text) === true;",
        tests: ["test/unit/sops/decrypt-tree.test.ts"],
      },
      {
        what: "a part of a name is enough",
        find: "return (text) => wanted.has(text);",
        replace: "return (text) => [...wanted].some((name) => text.includes(name));",
      },
      {
        what: "an expression has to match the whole key",
        find: "expression.matcher(text).find()",
        replace: "expression.matcher(text).matches()",
      },
      {
        what: "the comment that says encrypt is taken for encrypted",
        find: "isComment && level === comments.length - 1 ? lines.length - 1 : lines.length",
        replace: "lines.length",
        equivalent: "a comment that is not encrypted does not decrypt, and stays as it is",
      },
    ],
  },
  {
    file: "lib/sops/data-key.ts",
    tests: [`${unit}/refusals.test.ts`],
    faults: [
      {
        what: "one key group is enough",
        find: "const wanted = keyGroups.length === 1 ? 1 : shamirThreshold || keyGroups.length;",
        replace: "const wanted = 1;",
      },
      {
        what: "a data key is decrypted again for each file",
        find: "opened.set(id, key);",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/keys/age-file.ts",
    tests: [`${unit}/keys/age.test.ts`],
    faults: [
      {
        what: "the header of an age file is not authenticated",
        find: "if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted))",
        replace: "if (mac.length !== wanted.length)",
      },
      {
        what: "any chunk counts as the last one",
        find: "nonce[11] = 1;",
        replace: "nonce[11] = 0;",
      },
    ],
  },
  {
    file: "lib/sops/keys/age-x25519.ts",
    tests: [`${unit}/keys/age.test.ts`],
    faults: [
      {
        what: "only the first identity is tried",
        find: "for (const identity of identities) {",
        replace: "for (const identity of identities.slice(0, 1)) {",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-load.ts",
    tests: [`${unit}/limits.test.ts`, `${unit}/decrypt-file.test.ts`],
    faults: [
      {
        what: "a comment below a block of text in a list stands behind it",
        find: "if (!isBlock && !isBlockText(item)) items.push",
        replace: "if (!isBlock) items.push",
      },
      {
        what: "aliases may fill the memory",
        find: "if (this.#aliasedBytes > maxAliasedBytes) {",
        replace: "if (this.#aliasedBytes > maxAliasedBytes * 1_000_000_000_000) {",
      },
      {
        what: "a file may have any number of values",
        find: "if (this.#events.length + this.#comments.count > maxParts)",
        replace: "if (this.#comments.count > maxParts)",
      },
      {
        what: "a file is parsed however many values it may have",
        find: "if (count > maxIndicators)",
        replace: "if (count > maxIndicators * 1_000)",
      },
    ],
  },
  {
    file: "lib/sops/go-values.ts",
    tests: ["test/unit/sops/go-values.test.ts"],
    faults: [
      {
        what: "the year 2000 has no leap day",
        find: "year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)",
        replace: "year % 4 === 0 && year % 100 !== 0",
      },
      {
        what: "a fraction of zeros leaves its point",
        find: 'fraction.replace(/\\.?0+$/, "")',
        replace: 'fraction.replace(/0+$/, "")',
      },
    ],
  },
  {
    file: "lib/sops/stores/dotenv.ts",
    tests: ["test/unit/sops/stores.test.ts"],
    faults: [
      {
        what: "only the first line break of a dotenv value is escaped",
        find: 'value.replaceAll("\\n", String.raw`\\n`)',
        replace: 'value.replace("\\n", String.raw`\\n`)',
      },
    ],
  },
  {
    file: "lib/sops/encryption-rule.ts",
    tests: ["test/unit/sops/limits.test.ts"],
    faults: [
      {
        what: "an expression takes any number of steps",
        find: "if (chars * instructions > maxMatchSteps) {",
        replace: "if (chars > maxMatchSteps) {",
      },
    ],
  },
  {
    file: "lib/sops/file/sops-thread.ts",
    tests: ["test/unit/sops/verify-file.test.ts"],
    faults: [
      {
        what: "a large file is verified without its MAC",
        find: "job.format)), false, job.dataKey)",
        replace: "job.format)), true, job.dataKey)",
      },
      {
        what: "refusing a large file counts as a bug",
        find: "if (error instanceof SopsFault) return { fault: error.message };",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/stores/lines.ts",
    tests: ["test/unit/sops/limits.test.ts"],
    faults: [
      {
        what: "a file has any number of lines",
        find: "if (++lines > maxParts)",
        replace: "if (++lines > 2 * maxParts)",
      },
    ],
  },
  {
    file: "lib/sops/stores/ini.ts",
    tests: ["test/unit/sops/limits.test.ts"],
    faults: [
      {
        what: "the widest name of a section makes all of them as wide",
        find: "if (width * names.length > maxNameBytes) {",
        replace: "if (width * names.length > 2 * maxNameBytes) {",
      },
    ],
  },
  {
    file: "lib/sops/stores/flat-metadata.ts",
    tests: ["test/unit/sops/stores.test.ts"],
    faults: [{ what: "the eleventh item of a list is its first", find: "/^[0-9]{1,3}$/", replace: "/^[0-9]$/" }],
  },
  {
    file: "lib/sops/stores/ini.ts",
    tests: ["test/unit/sops/stores.test.ts"],
    faults: [
      { what: "a colon in an INI name ends it", find: '/["=:]/.test(name)', replace: '/["=]/.test(name)' },
      {
        what: "a semicolon in an INI value begins a comment",
        find: "if (/[#;]/.test(value))",
        replace: "if (/[#]/.test(value))",
      },
    ],
  },
];
