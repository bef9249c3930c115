import type { FileFaults } from "./fault.ts";

/** Mistakes at the limits of archives and of git. */
export const sourceLimitFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/archive/unpack.ts",
    tests: ["test/unit/sources/archive-limits.test.ts"],
    faults: [
      {
        what: "links may copy ten times the bytes of the limit",
        find: "if (bytes <= limits.maxBytes) return followed;",
        replace: "if (bytes <= 10 * limits.maxBytes) return followed;",
      },
      {
        what: "copies of links count by the mode of files",
        find: "sizes.set(read, bytes.length);",
        replace: "sizes.set(read, file.mode);",
      },
      {
        what: "the paths of copies may have gigabytes",
        find: "const maxLinkedPathsBytes = 32 * 1024 * 1024;",
        replace: "const maxLinkedPathsBytes = 32 * 1024 * 1024 * 1024;",
      },
      {
        what: "a tar of as many bytes as the limit is refused",
        find: "if (bytes > limits.maxBytes) throw tooBig(limits);",
        replace: "if (bytes >= limits.maxBytes) throw tooBig(limits);",
      },
      {
        what: "a path as deep as the limit is refused",
        find: "parts.length > limits.maxDepth",
        replace: "parts.length >= limits.maxDepth",
      },
      {
        what: "a path counts by its characters",
        find: "Buffer.byteLength(name) > limits.maxPathBytes",
        replace: "name.length > limits.maxPathBytes",
      },
      {
        what: "a link counts by its characters",
        find: "Buffer.byteLength(link) <= maxPathBytes",
        replace: "link.length <= maxPathBytes",
      },
    ],
  },
  {
    file: "lib/sources/archive/follow-links.ts",
    tests: ["test/unit/sources/archive-limits.test.ts"],
    faults: [
      {
        what: "as many copies as the limit are refused",
        find: "copied.length <= maxEntries",
        replace: "copied.length < maxEntries",
      },
      {
        what: "a path as long as the limit is refused",
        find: "if (bytes > maxPathBytes)",
        replace: "if (bytes >= maxPathBytes)",
      },
      {
        what: "paths as long together as the limit are refused",
        find: "pathBytes > maxPathsBytes",
        replace: "pathBytes >= maxPathsBytes",
      },
      {
        what: "copies may be nested once more than the limit",
        find: "open.size >= maxNestedLinks",
        replace: "open.size > maxNestedLinks",
      },
      {
        what: "a link over as many links as the limit is refused",
        find: "++hops > maxHops",
        replace: "++hops >= maxHops",
      },
      {
        what: "only the last folder that is copied is known",
        find: "new Set([...open, end.path])",
        replace: "new Set([end.path])",
      },
    ],
  },
  {
    file: "lib/sources/git/greeting.ts",
    tests: ["test/unit/sources/git/greeting.test.ts"],
    faults: [
      {
        what: "the peeled object of a tag takes the place of the tag",
        find: "refs.set(name, { ...tag, peeled: ref.oid });",
        replace: "refs.set(name, { ...tag, oid: ref.oid });",
      },
      {
        what: "the ends of a shallow repository are refs",
        find: 'for await (const text of more) if (!text.startsWith("shallow ")) add(text);',
        replace: "for await (const text of more) add(text);",
      },
      {
        what: "version 2 with other object ids is accepted",
        find: "return sha1Only({ version: 2, capabilities });",
        replace: "return { version: 2, capabilities };",
      },
    ],
  },
  {
    file: "lib/sources/git/upload-pack.ts",
    tests: ["test/unit/sources/git/greeting.test.ts"],
    faults: [
      {
        what: "a server of an old version is asked to leave files out",
        find: "return version === 2 && featuresOfFetch(",
        replace: "return featuresOfFetch(",
      },
      {
        what: "a feature with the same prefix counts as the filter",
        find: 'version === 2 && featuresOfFetch(capabilities).includes("filter")',
        replace: 'version === 2 && (capabilities.get("fetch") ?? "").includes("filter")',
      },
      {
        what: "a server that serves tips is not asked for one",
        find: 'capabilities.has("allow-tip-sha1-in-want") || ',
        replace: "",
      },
      {
        what: "a server that serves reachable objects is not asked for one",
        find: ' || capabilities.has("allow-reachable-sha1-in-want")',
        replace: "",
      },
    ],
  },
];
