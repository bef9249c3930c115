import type { FileFaults } from "./fault.ts";

const unit = "test/unit/sops/keys";

/** Likely mistakes with the keys of SOPS: each uses somebody's identity or token for somebody else, or shows it. */
export const sopsKeyFaults: readonly FileFaults[] = [
  {
    file: "lib/sops/keys/import-keys.ts",
    tests: [`${unit}/import-keys.test.ts`],
    faults: [
      {
        what: "the Secret of the installation gives keys of OpenPGP too",
        find: 'if (secretRef === undefined && !key.endsWith(".agekey")) continue;',
        replace: 'if (secretRef === undefined && key.startsWith("sops.")) continue;',
        tests: ["test/unit/sops/keys/import-keys.test.ts"],
      },
      {
        what: "the installation's Secret is used next to that of the object",
        find: "const place = secretRef === undefined ? ageSecret : { namespace, name: secretRef.name };",
        replace:
          "const place = ageSecret ?? (secretRef === undefined ? undefined : { namespace, name: secretRef.name });",
      },
      {
        what: "every entry of the installation's Secret is used for all",
        find: '    if (secretRef === undefined && !key.endsWith(".agekey")) continue;\n',
        replace: "",
      },
      {
        what: "the default account counts before the one that the object names",
        find: 'serviceAccountName === "" ? parts.defaultAccount : serviceAccountName;',
        replace: 'parts.defaultAccount === "" ? serviceAccountName : parts.defaultAccount;',
      },
      {
        what: "the credentials of the Secret are not used",
        find: "  let known = given;\n",
        replace: "  let known = account === undefined ? undefined : given;\n",
      },
      {
        what: "an API server that does not answer is the object's fault",
        find: 'error.reason === "Forbidden") {',
        replace: 'error.reason !== "NotFound") {',
      },
    ],
  },
  {
    file: "lib/identity/cloud-account.ts",
    tests: [`${unit}/import-keys.test.ts`],
    faults: [
      {
        what: "an account may use any text as its role",
        find: 'if (typeof role === "string" && rolePattern.test(role)) return role;',
        replace: 'if (typeof role === "string") return role;',
      },
    ],
  },
  {
    file: "lib/sops/keys/vault-tokens.ts",
    tests: [`${unit}/import-keys.test.ts`],
    faults: [
      {
        what: "a server that is not listed gets a login",
        find: 'const loginPath = paths.get(address) ?? "";',
        replace: 'const loginPath = paths.get(address) ?? [...paths.values()].join("") + "auth/kubernetes/login";',
      },
      {
        what: "each file logs in anew",
        find: "    tokens.set(address, token);\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/keys/vault.ts",
    tests: [`${unit}/vault.test.ts`],
    faults: [
      {
        what: "a file sends the token to another path of Vault",
        find: 'parts.some((part) => part === "." || part === "..")',
        replace: 'parts.some((part) => part === ".")',
      },
      {
        what: "a key's name becomes a query",
        find: '.map(encodeURIComponent).join("/")',
        replace: '.join("/")',
      },
      {
        what: "every account has one role",
        find: "  return `${namespace}_${name}`;",
        replace: "  return namespace;",
      },
    ],
  },
  {
    file: "lib/sops/keys/ask-key-service.ts",
    tests: [`${unit}/vault.test.ts`],
    faults: [
      {
        what: "the text of a server may contain the token",
        find: 'text.replaceAll(secret.reveal(), "<redacted>")',
        replace: 'text.replaceAll("\\n\\n", secret.toString())',
      },
    ],
  },
  {
    file: "lib/sops/keys/azure-key-vault.ts",
    tests: [`${unit}/azure-key-vault.test.ts`],
    faults: [
      {
        what: "an Azure token is used until its last second",
        find: "expires_in * 1000 - renewBeforeMs",
        replace: "expires_in * 1000",
        tests: ["test/unit/sops/keys/azure-key-vault.test.ts"],
      },
      {
        what: "the token of one cloud goes to the vaults of another",
        find: "const known = kept.get(domain);",
        replace: "const [known] = kept.values();",
        tests: ["test/unit/sops/keys/azure-key-vault.test.ts"],
      },
      {
        what: "a host with the same suffix gets the token",
        find: "url?.hostname.endsWith(`.${one}`) === true",
        replace: "url?.hostname.includes(`.${one}`) === true",
      },
      {
        what: "each data key asks for a token",
        find: "if (known !== undefined && clock.now() < known.until) return known.token;",
        replace: "if (known !== undefined && clock.now() > known.until) return known.token;",
      },
    ],
  },
  {
    file: "lib/sops/keys/gcp-kms.ts",
    tests: [`${unit}/gcp-kms.test.ts`],
    faults: [
      {
        what: "a token is used after it has expired",
        find: "const renewBeforeMs = 60_000;",
        replace: "const renewBeforeMs = 0;",
      },
    ],
  },
  {
    file: "lib/sops/keys/pgp.ts",
    tests: [`${unit}/pgp.test.ts`],
    faults: [
      {
        what: "only a message that names its recipients is tried",
        find: "key.getKeys(id).length > 0",
        replace: "/[^0]/.test(id.toHex()) && key.getKeys(id).length > 0",
      },
      {
        what: "a message may unpack to anything",
        find: "const config = { maxDecompressedMessageSize: maxPlainBytes };",
        replace: "const config = { maxDecompressedMessageSize: Number.MAX_SAFE_INTEGER };",
      },
    ],
  },
  {
    file: "functions/settings/allowed-keys.ts",
    tests: ["test/unit/functions/settings/allowed-keys.test.ts"],
    faults: [
      {
        what: "a listed key may be used through any role",
        find: "listed.includes(role === undefined ? sealedBy : `${sealedBy}+${role}`)",
        replace: '(listed.includes(sealedBy) || listed.includes(`${sealedBy}+${role ?? ""}`))',
      },
    ],
  },
  {
    file: "lib/sops/metadata.ts",
    tests: ["test/unit/sops/data-key.test.ts"],
    faults: [
      {
        what: "mac_only_encrypted is true only in a few spellings",
        find: '["1", "t", "T", "true", "True", "TRUE"]',
        replace: '["1", "true", "True", "TRUE"]',
      },
      {
        what: "the role of a KMS key is ignored",
        find: 'role: key.text("role") || undefined,',
        replace: "role: undefined,",
      },
    ],
  },
  {
    file: "lib/sops/key-source.ts",
    tests: ["test/unit/sops/data-key.test.ts"],
    faults: [
      {
        what: "a key of KMS with a profile is named without its context",
        find: "return `${withRole}|${words}|${awsProfile}`;",
        replace: "return `${withRole}|${awsProfile}`;",
      },
    ],
  },
  {
    file: "lib/sops/data-key.ts",
    tests: ["test/unit/sops/data-key.test.ts"],
    faults: [
      { what: "all recipients are tried at once", find: "    await setImmediate();\n", replace: "" },
      { what: "a group more than is needed is asked", find: "if (shares.length === wanted) break;", replace: "" },
    ],
  },
  {
    file: "lib/sops/keys/azure-credentials.ts",
    tests: ["test/unit/sops/keys/azure-key-vault.test.ts"],
    faults: [
      {
        what: "the former fields ask the public authority",
        find: "{ tokenUrl: tokenUrl(entry.authorityHost, tenant), clientId: appId }",
        replace: '{ tokenUrl: tokenUrl("", tenant), clientId: appId }',
      },
    ],
  },
];
