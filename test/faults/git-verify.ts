import type { FileFaults } from "./fault.ts";

const unit = "test/unit/sources/git/verify";

/** Likely mistakes in verifying signatures of git: each lets something pass that nobody trusted has signed. */
export const gitVerifyFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/git/verify/signed-object.ts",
    tests: [`${unit}/signed-object.test.ts`],
    faults: [
      {
        what: "of two signatures the first counts",
        find: "  if (signatures.length > 1) {",
        replace: "  if (signatures.length > 2) {",
      },
      {
        what: "every header that begins like the signature's is left out of the payload",
        find: "names.find((one) => text.startsWith(`${one} `, start))",
        replace: "names.find((one) => text.startsWith(one, start))",
      },
      {
        what: "headers are looked for in the message, too",
        find: 'start < text.length && text[start] !== "\\n"; start = end',
        replace: "start < text.length; start = end",
      },
      {
        what: "the first signature of a tag counts",
        find: "buffer.lastIndexOf(",
        replace: "buffer.indexOf(",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/verify-signature.ts",
    tests: [`${unit}/verify-signature.test.ts`],
    faults: [
      {
        what: "an entry that has .sshpub anywhere in its name holds SSH keys",
        find: 'name.endsWith(".sshpub") === isSsh',
        replace: 'name.includes(".sshpub") === isSsh',
        tests: ["test/unit/sources/git/verify/verify-signature.test.ts"],
      },
      {
        what: "several armors are read as one",
        find: "  if (begins.length > 1) {",
        replace: "  if (begins.length > 2) {",
      },
      {
        what: "an armor may be anywhere in the signature",
        find: "signature.startsWith(armors[type])",
        replace: "signature.includes(armors[type])",
      },
      {
        what: "PGP keys are read as SSH keys",
        find: `entries.filter(([name]) => name.endsWith(".sshpub") === isSsh)`,
        replace: `entries.filter(([name]) => isSsh || name.endsWith(".sshpub") === isSsh)`,
      },
    ],
  },
  {
    file: "lib/sources/git/verify/ssh-signature.ts",
    tests: [`${unit}/ssh-signature.test.ts`],
    faults: [
      {
        what: "a signature with any namespace counts for a commit",
        find: `  if (signature.namespace !== gitNamespace) return "namespace does not match";\n`,
        replace: "",
      },
      {
        what: "the signature itself decides its namespace",
        find: `[gitNamespace, "", signature.hash, digest]`,
        replace: `[signature.namespace, "", signature.hash, digest]`,
        equivalent: "another namespace has been refused above",
      },
      {
        what: "the key in the signature verifies it",
        find: "    trusted.verify(Buffer",
        replace: "    signature.key.verify(Buffer",
        equivalent: "a key with another blob has been refused above",
      },
      {
        what: "a key that is not trusted verifies its own signature",
        find: "if (isOwn) own ??= { fault: faultOf(payload, signature, key) };\n      const fault = isOwn ? own?.fault",
        replace:
          "if (isOwn || keys.length > 0) own ??= { fault: faultOf(payload, signature, signature.key) };\n      const fault = keys.length > 0 ? own?.fault",
      },
      {
        what: "SHA-1 is accepted",
        find: `const hashes = ["sha256", "sha512"];`,
        replace: `const hashes = ["sha1", "sha256", "sha512"];`,
      },
      {
        what: "an unknown version is read like the known one",
        find: "  if (version !== 1) throw",
        replace: "  if (version < 1) throw",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/ssh-public-key.ts",
    tests: [`${unit}/ssh-signature.test.ts`, `${unit}/authorized-keys.test.ts`],
    faults: [
      {
        what: "a signature that does not verify is accepted",
        find: "  if (!isSignedBy(key, format, signed, value)) throw",
        replace: "  if (!isSignedBy(key, format, signed, value) && value.length === 0) throw",
      },
      {
        what: "the signature chooses its algorithm",
        find: "  if (!isRight) {",
        replace: `  if (!isRight && format === "") {`,
      },
      {
        what: "a security key signature without user presence is accepted",
        find: "  if (((rest[0] ?? 0) & userPresence) === 0) {",
        replace: "  if (((rest[0] ?? 0) & userPresence) > 1) {",
      },
      { what: "short RSA keys are taken", find: "{ min: 2048, max: 8192 }", replace: "{ min: 512, max: 8192 }" },
      {
        what: "bytes after a key are ignored",
        find: `  if (!reader.isAtEnd) throw new GitSignatureFault("ssh: trailing junk in public key");\n`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/authorized-keys.ts",
    tests: [`${unit}/authorized-keys.test.ts`],
    faults: [
      {
        what: "base64 with other characters in it is a key",
        find: `  if (bytes.toString("base64") === text) return bytes;`,
        replace: "  if (bytes.length > 0) return bytes;",
      },
      {
        what: "a file may have any number of keys",
        find: "    if (keys.length === maxKeys) throw",
        replace: "    if (keys.length < 0) throw",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/pgp-signature.ts",
    tests: [`${unit}/pgp-signature.test.ts`],
    faults: [
      {
        what: "a signature that does not verify counts",
        find: "        await verified;\n",
        replace: "        verified.catch(() => undefined);\n",
      },
      {
        what: "a key that was revoked or has expired since still verifies",
        find: `        await key.getSigningKey(keyID, new Date(Math.max(now, created)), undefined, { ...openpgp.config, ...config });\n`,
        replace: "",
      },
      {
        what: "the signature decides when the key must be valid",
        find: "new Date(Math.max(now, created))",
        replace: "new Date(created)",
      },
      {
        what: "a signature may come from any future",
        find: "date: new Date(now + maxSkewMs)",
        replace: "date: null",
      },
      {
        what: "a key with an extended expiry does not verify earlier signatures",
        find: "{ allowInsecureVerificationWithReformattedKeys: true }",
        replace: "{ allowInsecureVerificationWithReformattedKeys: false }",
      },
      {
        what: "a DSA key's numbers are used in computations",
        find: `          if (isDsa(open)) fault ??= "openpgp: unsupported feature: a key of DSA";\n          else keys.push(open);\n`,
        replace: "          keys.push(open);\n",
      },
      {
        what: "a DSA subkey's numbers are used in computations",
        find: "          open.subkeys = open.subkeys.filter((subkey) => !isDsa(subkey));\n",
        replace: "",
      },
      {
        what: "a key with a DSA subkey is skipped",
        find: "          open.subkeys = open.subkeys.filter((subkey) => !isDsa(subkey));\n",
        replace: "          if (open.subkeys.some(isDsa)) continue;\n",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/verification.ts",
    tests: ["test/unit/flows/git-repository/verification.test.ts"],
    faults: [
      {
        what: "the server decides what a signed tag points to",
        find: "  if (!(await leadsTo(tag.oid, commit, objects))) {",
        replace: `  if (!(await leadsTo(tag.oid, commit, objects)) && commit === "") {`,
      },
      {
        what: "a signed tag counts under any name",
        find: "  if (signedAs !== tag.name) {",
        replace: "  if (tag.name === undefined) {",
      },
      {
        what: "the tag is enough for both",
        find: `  if (mode !== "Tag") proven`,
        replace: `  if (mode === "HEAD") proven`,
      },
      {
        what: "the commit is enough for both",
        find: `  if (mode !== "HEAD") proven`,
        replace: `  if (mode === "Tag") proven`,
      },
      {
        what: "a lightweight tag needs no signature",
        find: "  if (tag.oid === undefined) throw unsigned(tag.name);",
        replace: "  if (tag.oid === undefined) return `tag '${tag.name}'`;",
      },
      {
        what: "a stricter mode does not verify again",
        find: `before === undefined || (before !== "TagAndHEAD" && before !== mode)`,
        replace: "before === undefined",
      },
      {
        what: "adding verify does not verify the stored revision",
        find: "  return isWider ? mode : before;",
        replace: "  return isWider && before !== undefined ? mode : before;",
      },
    ],
  },
];
