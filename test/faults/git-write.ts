import type { FileFaults } from "./fault.ts";

const unit = (name: string): string => `test/unit/sources/git/write/${name}.test.ts`;
const http = unit("push-over-http");

/** Likely mistakes in what is written to git. */
export const gitWriteFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/git/write/open-git-clone.ts",
    tests: [unit("open-git-clone"), http],
    faults: [
      {
        what: "a branch that moved meanwhile is overwritten",
        find: "if (!(known.get(ref) ?? new Set([zeroOid])).has(now)) throw",
        replace: "if (!force && !(known.get(ref) ?? new Set([zeroOid])).has(now)) throw",
        tests: [http],
        named: "image-automation/66",
      },
      {
        what: "a branch moves without force to a commit that does not descend from it",
        find: "if (!force && now !== zeroOid && !before.has(now)) {",
        replace: "if (!force && now === zeroOid && !before.has(now)) {",
        tests: [http],
        named: "moves only by force",
      },
      {
        what: "an empty commit is made",
        find: "if (head !== undefined && changed === tree) return head;",
        replace: "if (head !== undefined && changed === head) return head;",
        tests: [unit("open-git-clone")],
      },
      {
        what: "a second commit follows the one that was checked out",
        find: "commitBytes({ tree: changed, parent: head, author",
        replace: "commitBytes({ tree: changed, parent: checkout, author",
        tests: [http],
        named: "several commits at once",
      },
    ],
  },
  {
    file: "lib/sources/git/write/change-tree.ts",
    tests: [unit("change-tree")],
    faults: [
      {
        what: "a folder is sorted as a file",
        find: "key: isFolder(entry) ? `${entry.name}/` : entry.name",
        replace: "key: isFolder(entry) ? `${entry.name}` : entry.name",
      },
      {
        what: "a changed file loses its mode",
        find: "entries.set(name, { mode: entry?.mode ?? fileMode, name",
        replace: "entries.set(name, { mode: fileMode, name",
      },
      {
        what: "a symbolic link is overwritten by a file's content",
        find: "if (entry !== undefined && !isFile(entry)) throw",
        replace: "if (entry !== undefined && isFolder(entry)) throw",
      },
      {
        what: "a folder stays when its last file has gone",
        find: "if (entries.size === 0) return undefined;",
        replace: "if (entries.size === 0 && tree === undefined) return undefined;",
      },
    ],
  },
  {
    file: "lib/sources/git/write/commit-bytes.ts",
    tests: [unit("open-git-clone")],
    faults: [
      {
        what: "a line break in an author's name ends the header",
        find: "replaceAll(/[<>\\n\\0]/g",
        replace: "replaceAll(/[<>\\0]/g",
      },
    ],
  },
  {
    file: "lib/sources/git/write/receive-pack.ts",
    tests: [unit("receive-pack")],
    faults: [
      {
        what: "a reference that the report leaves out counts as moved",
        find: "if (!refs.has(ref)) throw",
        replace: "if (refs.has(ref) && refs.size === 0) throw",
      },
      {
        what: "the error names a reference that failed only with another",
        find: 'refused.find(({ why }) => !why.startsWith("atomic "))',
        replace: 'refused.find(({ why }) => why.startsWith("atomic "))',
      },
      {
        what: "the server's words are shown as they are",
        find: "cutText(safeText(cutText(words.trim(), maxShownBytes)), maxShownBytes)",
        replace: "cutText(cutText(words.trim(), maxShownBytes), maxShownBytes)",
      },
      {
        what: "push options are sent to a server without support",
        find: 'options.length > 0 && capabilities.has("push-options")',
        replace: "options.length > 0 && capabilities.size > 0",
      },
    ],
  },
  {
    file: "lib/sources/git/write/refspec.ts",
    tests: [unit("refspec")],
    faults: [
      {
        what: "HEAD is used as the branch",
        find: 'return source === name ? "" : undefined;',
        replace: 'return source === name || source === "HEAD" ? "" : undefined;',
      },
    ],
  },
  {
    file: "lib/sources/git/write/sign-ssh.ts",
    tests: [unit("signing-key")],
    faults: [
      {
        what: "a number of an ECDSA signature that begins with a high bit is negative",
        find: "(digits[0] ?? 0) > 0x7f",
        replace: "(digits[0] ?? 0) > 0xff",
      },
      {
        what: "a short RSA key signs",
        find: "if (bits < minRsaBits) {",
        replace: "if (bits < 0) {",
      },
    ],
  },
  {
    file: "lib/sources/git/write/sign-gpg.ts",
    tests: [unit("signing-key")],
    faults: [
      {
        what: "a passphrase may be derived by Argon2",
        find: "maxArgon2MemoryExponent: 0",
        replace: "maxArgon2MemoryExponent: 20",
      },
      {
        what: "the signature is dated by the machine's clock",
        find: "const date = new Date(parseCommit(commit).committedAt * 1_000);",
        replace: "const date = new Date();",
      },
    ],
  },
];
