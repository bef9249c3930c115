import type { FileFaults } from "./fault.ts";

const tests = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `test/unit/sources/git/${name}.test.ts`);

/** Mistakes by which the bytes of a git server cost more time or memory than their limits allow. */
export const gitCostFaults: readonly FileFaults[] = [
  {
    file: "lib/core/byte-bounded-cache.ts",
    tests: ["test/unit/core/byte-bounded-cache.test.ts"],
    faults: [
      {
        what: "keys take no memory",
        find: 'entryBytes + (typeof key === "string" ? 2 * key.length : 0) + bytesOf(value)',
        replace: "entryBytes + bytesOf(value)",
      },
      {
        what: "a replaced value counts towards memory forever",
        find: "      drop(key);\n      const bytes",
        replace: "      entries.delete(key);\n      const bytes",
      },
      {
        what: "reading a value does not protect it from eviction",
        find: "      entries.delete(key);\n      entries.set(key, found);\n      return",
        replace: "      return",
      },
    ],
  },
  {
    file: "lib/sources/git/oid-table.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "ids with the same prefix collide",
        find: "for (let index = 0; index < oidBytes; index++) hash ^=",
        replace: "for (let index = 0; index < 4; index++) hash ^=",
        named: "bases with a common prefix",
      },
    ],
  },
  {
    file: "lib/sources/git/delta.ts",
    tests: tests("delta"),
    faults: [
      {
        what: "a delta is applied without a pause",
        find: "if (count % instructionsAtOnce === 0 && slices.isOver()) await slices.pause();",
        replace: "if (count % instructionsAtOnce === 0) slices.isOver();",
      },
    ],
  },
  {
    file: "lib/sources/git/pack-entry.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "a large object may be shorter than declared",
        find: "  if (length !== size) throw wrongStream();\n  return { bytes, packedBytes",
        replace: "  return { bytes, packedBytes",
      },
    ],
  },
  {
    file: "lib/sources/git/pack-objects.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "objects are still read after the run was aborted",
        find: "        reading.throwIfAborted();\n",
        replace: "",
      },
      {
        what: "objects are read no more once their fetch took too long",
        find: "const readSlices = timeSlices(reading);",
        replace: "const readSlices = timeSlices(signal);",
      },
    ],
  },
  {
    file: "lib/sources/git/pack-unpacker.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "small objects can be unpacked without limit",
        find: "unpacked += Math.max(bytes, minCountedBytes);",
        replace: "unpacked += Math.min(bytes, minCountedBytes);",
        named: "smallest object",
      },
      {
        what: "a small object is kept with the memory that it shares",
        find: "return bytes.buffer.byteLength - bytes.length > maxSharedBytes ?",
        replace: "return bytes.length > maxSharedBytes ?",
      },
    ],
  },
  {
    file: "lib/sources/git/git-object.ts",
    tests: tests("git-object"),
    faults: [
      {
        what: "a tag may have any length",
        find: '  assertSmall(bytes, "tag");\n  const { headers }',
        replace: "  const { headers }",
      },
      {
        what: "a commit of the limit is refused",
        find: "if (length <= maxCommitBytes) return;",
        replace: "if (length < maxCommitBytes) return;",
      },
      {
        what: "the message of a commit has headers",
        find: 'const found = isEmpty ? 0 : buffer.indexOf("\\n\\n");',
        replace: 'const found = isEmpty ? 0 : buffer.lastIndexOf("\\n\\n");',
      },
      {
        what: "a surrogate pair is cut in a subject",
        find: "subject.slice(0, 102)",
        replace: "subject.slice(0, 51)",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/signed-object.ts",
    tests: tests("verify/signed-object"),
    faults: [
      {
        what: "a tag of any length is divided",
        find: '  assertSmall(bytes, "tag");\n',
        replace: "",
      },
      {
        what: "text between two signatures of a commit is left out",
        find: "if (keptFrom < start) kept.push(",
        replace: "if (keptFrom > start) kept.push(",
      },
    ],
  },
  {
    file: "lib/sources/git/greeting.ts",
    tests: tests("greeting"),
    faults: [
      {
        what: "capabilities are counted one by one",
        find: "      bytes += Buffer.byteLength(line);",
        replace: "      bytes = Buffer.byteLength(line);",
      },
    ],
  },
  {
    file: "lib/sources/git/conversations.ts",
    tests: tests("greeting"),
    faults: [
      {
        what: "a long greeting counts as a short one",
        find: "bytes += entryBytes + 2 * (name.length + value.length);",
        replace: "bytes += entryBytes + 2 * value.length;",
      },
    ],
  },
  {
    file: "lib/sources/git/upload-pack.ts",
    tests: tests("greeting"),
    faults: [
      {
        what: "a server that advertises one of the objects is asked for all",
        find: "return oids.every((oid) => named.has(oid));",
        replace: "return oids.some((oid) => named.has(oid));",
      },
    ],
  },
  {
    file: "lib/sources/git/github-app.ts",
    tests: tests("github-app"),
    faults: [
      {
        what: "an app's key of RSA may have any length",
        find: "if (bits > maxRsaBits) {",
        replace: "if (bits > 100 * maxRsaBits) {",
      },
      {
        what: "long tokens are cached as if they were short",
        find: "=> 2 * (token.reveal().length + slug.length),",
        replace: "=> Math.min(token.reveal().length + slug.length, 1),",
      },
    ],
  },
  {
    file: "lib/sources/shared-listing.ts",
    tests: ["test/unit/sources/shared-listing.test.ts"],
    faults: [
      {
        what: "long listings are cached as if they were short",
        find: "bytes <= maxListingBytes",
        replace: "bytes <= 100 * maxListingBytes",
      },
      {
        what: "one long listing evicts all others",
        find: "      bytes -= listing.bytes;\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/git/ssh-transport.ts",
    tests: tests("ssh-transport"),
    faults: [
      {
        what: "the server may choose the prime of the key exchange",
        find: "kex: [...(algorithms.kex ?? offered.kex)], serverHostKey",
        replace: 'kex: [...(algorithms.kex ?? offered.kex), "diffie-hellman-group-exchange-sha256"], serverHostKey',
        named: "chooses the prime",
      },
    ],
  },
  {
    file: "lib/sources/git/decrypt-ssh-key.ts",
    tests: tests("ssh-key"),
    faults: [
      {
        what: "encrypted keys of all namespaces count for one tenant",
        find: "inTurnsOf(tenant, () =>",
        replace: "inTurnsOf(tenant && undefined, () =>",
      },
      {
        what: "an encrypted key is awaited after its run",
        find: "job, limits, signal)",
        replace: "job, limits, signal && new AbortController().signal)",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/credentials.ts",
    tests: ["test/unit/flows/git-repository/credentials.test.ts"],
    faults: [
      {
        what: "an aborted run is blamed on its key",
        find: "    run.signal.throwIfAborted();\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/archive/archive-tree.ts",
    tests: ["test/unit/sources/archive-tree.test.ts"],
    faults: [
      {
        what: "the lines of spec.ignore do not count",
        find: 'assertFewLines([...files.map(({ text }) => text), specIgnore ?? ""]);',
        replace: "assertFewLines(files.map(({ text }) => text));",
      },
      {
        what: "each file of ignore rules may have as many lines as all together",
        find: "  for (const text of texts) {\n",
        replace: "  for (const text of texts) {\n    lines = 0;\n",
      },
    ],
  },
  {
    file: "lib/sources/archive/ignore-rules.ts",
    tests: ["test/unit/sources/ignore-rules.test.ts"],
    faults: [
      {
        what: "a long path is compared with all rules at once",
        find: "      yield;\n",
        replace: "",
      },
      {
        what: "a short path is compared in as many steps as there are rules",
        find: "      if (characters < charactersOfStep) continue;\n",
        replace: "",
      },
      {
        what: "the verdict of a step ends the comparison",
        find: "      characters = 0;\n      yield;\n",
        replace: "      yield;\n      return false;\n",
      },
    ],
  },
  {
    file: "lib/sources/git/ssh-key.ts",
    tests: tests("ssh-key"),
    faults: [
      {
        what: "PBKDF2 may use any number of iterations",
        find: "iterations.length > 4 || Number",
        replace: "iterations.length > 9 && Number",
      },
      {
        what: "a key of RSA may have any length",
        find: 'if (parsed.type === "ssh-rsa") assertFewBits',
        replace: 'if (parsed.type === "ssh-dss") assertFewBits',
      },
    ],
  },
  {
    file: "lib/sources/git/verify/authorized-keys.ts",
    tests: tests("verify/authorized-keys"),
    faults: [
      {
        what: "many keys are read without a pause",
        find: "    if (slices.isOver()) await slices.pause();\n",
        replace: "    slices.isOver();\n    await Promise.resolve();\n",
      },
    ],
  },
  {
    file: "lib/sources/git/verify/ssh-signature.ts",
    tests: tests("verify/ssh-signature"),
    faults: [
      {
        what: "a signature is checked again for each line with its key",
        find: "if (isOwn) own ??= {",
        replace: "if (isOwn) own = {",
        named: "however often the key is trusted",
      },
    ],
  },
  {
    file: "lib/sources/git/known-hosts.ts",
    tests: tests("known-hosts"),
    faults: [
      {
        what: "patterns are matched with a host of any length",
        find: "if (host.length > maxHostChars) throw",
        replace: "if (host.length > 100 * maxHostChars) throw",
      },
      {
        what: "known_hosts may have any length",
        find: "if (text.length > maxKnownHostsChars) {",
        replace: "if (text.length > 100 * maxKnownHostsChars) {",
      },
    ],
  },
];
