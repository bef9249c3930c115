import type { FileFaults } from "./fault.ts";

/** Mistakes at the limits of sops: its YAML, its keys and its key services. */
export const sopsLimitFaults: readonly FileFaults[] = [
  {
    file: "lib/sops/stores/yaml-comments.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [{ what: "a comment keeps the line end of Windows", find: '.replace(/\\r$/, "")', replace: "" }],
  },
  {
    file: "lib/sops/stores/yaml-emit.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "infinity is written with a sign",
        find: '.replace("Inf", ".inf").replace("+", "")',
        replace: '.replace("Inf", ".inf")',
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-load.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      { what: "an alias stands for an anchor of another document", find: "    this.#anchors.clear();\n", replace: "" },
      {
        what: "a file with as many characters as the limit is refused",
        find: "count > maxIndicators",
        replace: "count >= maxIndicators",
      },
      {
        what: "binary data is read as text",
        find: 'isUtf8(bytes) ? bytes.toString("utf8") : bytes',
        replace: 'bytes.toString("utf8")',
      },
      {
        what: "a whole number with the tag of a float is refused",
        find: '    if (tag === "!!float" && typeof value === "bigint") return Number(value);\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-scalar.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "a leading zero does not make a number octal",
        find: "/^0[0-7]/.test(digits)",
        replace: "/^00[0-7]/.test(digits)",
      },
      {
        what: "a text that looks like a YAML 1.1 time is written without quotes",
        find: "oldBooleans.has(text) || base60.test(text) ||",
        replace: "oldBooleans.has(text) ||",
      },
      { what: "one spelling of an old boolean stands without quotes", find: '  "Off",\n', replace: "" },
      {
        what: "a number with underscores is a text",
        find: '? text : text.replaceAll("_", "")',
        replace: "? text : text",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-writer.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "a text of one line break is written as an empty one",
        find: 'text === "\\n" || text.endsWith("\\n\\n") ? "+"',
        replace: 'text.endsWith("\\n\\n") ? "+"',
      },
      { what: "bytes stand in lines of another length", find: "match(/.{1,70}/g)", replace: "match(/.{1,76}/g)" },
    ],
  },
  {
    file: "lib/sops/keys/gcp-kms.ts",
    tests: ["test/unit/sops/keys/quoted-secrets.test.ts"],
    faults: [
      {
        what: "a token service may quote the refresh token",
        find: "[new Secret(client_secret), new Secret(refresh_token)]",
        replace: "[new Secret(client_secret)]",
      },
      {
        what: "a token service may quote the client secret",
        find: "[new Secret(client_secret), new Secret(refresh_token)]",
        replace: "[new Secret(refresh_token)]",
      },
      { what: "a token service may quote the assertion", find: "[new Secret(assertion)]", replace: "[]" },
      {
        what: "Google's KMS may quote the token",
        find: "            secrets: [token],\n",
        replace: "            secrets: [],\n",
      },
    ],
  },
  {
    file: "lib/sops/keys/vault.ts",
    tests: ["test/unit/sops/keys/quoted-secrets.test.ts"],
    faults: [
      { what: "Vault may quote the token of a login", find: "secrets: [jwt], ", replace: "" },
      {
        what: "a data key as long as the limit is refused",
        find: "enc.length > maxCiphertextChars",
        replace: "enc.length >= maxCiphertextChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "a path as long as the limit is refused",
        find: "path.length > maxNameChars",
        replace: "path.length >= maxNameChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "an address as long as the limit is refused",
        find: "address.length <= maxNameChars",
        replace: "address.length < maxNameChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "a path with a dot is sent",
        find: 'part === "." || part === ".."',
        replace: 'part === ".."',
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
    ],
  },
  {
    file: "lib/sops/keys/vault-tokens.ts",
    tests: ["test/unit/sops/keys/vault-tokens.test.ts"],
    faults: [
      {
        what: "the token of the first server goes to the second",
        find: "const token = tokens.get(address) ??",
        replace: "const token = tokens.values().next().value ??",
      },
      {
        what: "any number of servers may be listed",
        find: "export const maxInstances = 1_000;",
        replace: "export const maxInstances = 1_000_000;",
      },
      {
        what: "only the first listed server counts",
        find: "config.data.instances.map((",
        replace: "config.data.instances.slice(0, 1).map((",
      },
    ],
  },
  {
    file: "lib/sops/keys/age.ts",
    tests: ["test/unit/sops/keys/key-limits.test.ts"],
    faults: [
      {
        what: "as many identities as the limit are refused",
        find: "lines.length > maxIdentities",
        replace: "lines.length >= maxIdentities",
      },
      {
        what: "every identity is tried for every recipient",
        find: 'refuseMoreTries(stanzasOf(file, "X25519") * identities.length, maxTries);',
        replace: "",
        tests: ["test/unit/sops/keys/age.test.ts"],
      },
      {
        what: "every hybrid identity is tried for every recipient",
        find: "refuseMoreTries(stanzas * identities.length, maxHybridTries);",
        replace: "",
        tests: ["test/unit/sops/keys/age.test.ts"],
      },
    ],
  },
  {
    file: "lib/sops/keys/pgp.ts",
    tests: ["test/unit/sops/keys/key-limits.test.ts"],
    faults: [
      {
        what: "a message as long as the limit is refused",
        find: "recipient.enc.length > maxMessageChars",
        replace: "recipient.enc.length >= maxMessageChars",
      },
      {
        what: "a key is tried for any number of recipients",
        find: "recipientsOf(key) > maxRecipientsOfKey",
        replace: "recipientsOf(key) > 10 * maxRecipientsOfKey",
        tests: ["test/unit/sops/keys/pgp.test.ts"],
      },
      {
        what: "a key has any number of bits",
        find: "?? 0) > maxKeyBits",
        replace: "?? 0) > 2 * maxKeyBits",
        tests: ["test/unit/sops/keys/pgp.test.ts"],
      },
    ],
  },
];
