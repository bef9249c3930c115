import type { FileFaults } from "./fault.ts";

/** Mistakes in how archives are read, written and filtered. */
export const archiveFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/archive/read-tar.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      {
        what: "a symbolic link has as much content as its header says",
        find: "/[123456]/.test(type) ? 0 : declaredSize",
        replace: "/[13456]/.test(type) ? 0 : declaredSize",
      },
      {
        what: "what fills the last block of skipped content is the next header",
        find: `  if (!(await reader.skip(unread))) throw unexpectedEnd();
  await reader.skip(padding(size));`,
        replace: "  if (!(await reader.skip(unread))) throw unexpectedEnd();",
      },
      { what: "a folder of an old tar is a file", find: '(name.endsWith("/") ? "5" : "0")', replace: '"0"' },
      {
        what: "a contiguous file is skipped",
        find: 'flag === "7" ? "0" : flag',
        replace: "flag",
        equivalent: "a member of a type that is not known is a file",
      },
      {
        what: "only the low bits of a binary number count",
        find: "total * 256 + (index === 0 ? byte & 0x7f : byte)",
        replace: "total * 256 + (index === 0 ? 0 : byte & 0x7f)",
        named: "binary number",
      },
      {
        what: "the long target of one link is that of all links behind it",
        find: `      longLink = undefined;
    }`,
        replace: "    }",
      },
      {
        what: "a pax global header has the records as its content",
        find: 'header.type === "g" ? { ...header, size: 0 } : header',
        replace: "header",
      },
      {
        what: "pax size ignored",
        find: "const declaredSize = paxSize === undefined ? headerSize : Number(paxSize);",
        replace: "const declaredSize = headerSize;",
      },
    ],
  },
  {
    file: "lib/sources/archive/unpack.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      {
        what: "a small archive is refused if it is packed well",
        find: "bytes > ratioFreeBytes && bytes > packedBytes * limits.maxRatio",
        replace: "bytes > packedBytes * limits.maxRatio",
      },
      {
        what: "an archive may have one entry less than is allowed",
        find: "if (++entries > limits.maxEntries)",
        replace: "if (++entries >= limits.maxEntries)",
      },
      {
        what: "a link that a later member replaces is still one",
        find: `  links.delete(path);
`,
        replace: "",
      },
      {
        what: "a link of any length",
        find: 'if ((type !== "1" && type !== "2") || Buffer',
        replace: 'if (type === "1" || type === "2" || Buffer',
      },
      {
        what: "a body that is too short for gzip has a wrong header",
        find: "packed.length < gzipHeadBytes",
        replace: "packed.length < 0",
      },
      { what: "NUL in names allowed", find: ' || name.includes("\\0")', replace: "" },
      {
        what: "no limit of unpacked bytes",
        find: `    if (bytes > limits.maxBytes) throw tooBig(limits);
    if (bytes > ratio`,
        replace: "    if (bytes > ratio",
      },
      {
        what: "symbolic link becomes an empty file",
        find: `      links.set(path, { type: "link", path, target });
      return;`,
        replace: `      links.set(path, { type: "link", path, target });
      break;`,
      },
      {
        what: "a hard link is resolved from its own folder",
        find: "target, isHard: true }",
        replace: "target }",
        tests: ["test/unit/sources/pull-artifact.test.ts"],
      },
      {
        what: "copies of links are not counted",
        find: "if (bytes <= limits.maxBytes) return followed;",
        replace: "if (bytes >= 0) return followed;",
        tests: ["test/unit/sources/pull-artifact.test.ts"],
      },
      { what: "'..' as last part allowed", find: 'isBad || parts.includes("..") || name', replace: "isBad || name" },
      {
        what: "implied folders do not count",
        find: `      if (tree.size > limits.maxEntries) throw new RangeError(\`tar has more than \${limits.maxEntries} entries\`);
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/archive/ignore-rules.ts",
    tests: ["test/unit/sources/ignore-rules.test.ts"],
    faults: [
      {
        what: "an ignore file applies to folders with the same prefix",
        find: "scope.some((name, index) => path[index] !== name)",
        replace: "scope.some((name, index) => path[index]?.startsWith(name) !== true)",
      },
    ],
  },
  {
    file: "lib/sources/archive/archive-tree.ts",
    tests: ["test/unit/sources/archive-tree.test.ts"],
    faults: [
      {
        what: "ignore files count in the order in which they were found",
        find: "return inWalkOrder(found).map(",
        replace: "return found.map(",
      },
    ],
  },
  {
    file: "lib/sources/archive/follow-links.ts",
    tests: ["test/unit/sources/follow-links.test.ts"],
    faults: [
      {
        what: "a link through one that points outside resolves to nothing",
        find: 'if (found.target.startsWith("/")) return outside;',
        replace: "",
      },
      {
        what: "a link to a folder with the same prefix counts as inside it",
        find: "entry.path.startsWith(`${end.path}/`)",
        replace: "entry.path.startsWith(end.path)",
      },
    ],
  },
];
