import type { FileFaults } from "./fault.ts";

const files = ["test/unit/image/setters/set-images.test.ts"];
const trees = ["test/unit/image/setters/set-in-tree.test.ts"];

/** Values that image policy markers name. */
export const imageSetterFaults: readonly FileFaults[] = [
  {
    file: "lib/image/setters/marker.ts",
    tests: files,
    faults: [
      {
        what: "an unknown part of an image counts as the full image",
        find: "    default:\n      return undefined;\n",
        replace: "    default:\n      return { setter, value: referenceTo(image) };\n",
      },
      {
        what: "a comment with other values than texts counts as a marker",
        find: "return areTexts && typeof name",
        replace: 'return (areTexts || name !== "") && typeof name',
      },
    ],
  },
  {
    file: "lib/image/setters/scalar-comment.ts",
    tests: files,
    faults: [
      {
        what: "the marker above an item counts before the one behind it",
        find: "return commentBehind(text, place.end) ?? commentAbove(text, place);",
        replace: "return commentAbove(text, place) ?? commentBehind(text, place.end);",
      },
      {
        what: "a marker above a nested list sets its first item",
        find: "  if (!isLineStart(text, line)) return undefined;\n  const maxColumn",
        replace: "  const maxColumn",
      },
      {
        what: "a marker that belongs to the item above sets the next one",
        find: "if (further !== undefined && isApart && !isFirst && !isBlank(further.text)) return undefined;",
        replace: "",
      },
    ],
  },
  {
    file: "lib/image/setters/edit-scalar.ts",
    tests: files,
    faults: [
      {
        what: "a tag such as 1.10 is written as a number",
        find: " && staysString(value) === true;",
        replace: " && (staysString(value) ?? true) !== undefined;",
      },
      {
        what: "the tag of a number stays before text",
        find: "return [...withoutOldType(text, event), ...editsOfValue(text, scalar, value)];",
        replace: "return [...withoutOldType(text, event).slice(1), ...editsOfValue(text, scalar, value)];",
      },
      {
        what: "a block keeps the line break behind its text",
        find: "text: `${indicators.slice(0, 1)}-` },",
        replace: "text: indicators },",
      },
    ],
  },
  {
    file: "lib/image/setters/marked-scalars.ts",
    tests: files,
    faults: [
      {
        what: "a key with a marker is set",
        find: "const comment = this.#isKey ? undefined : commentOf(",
        replace: "const comment = this.#isKey && place.isItem ? undefined : commentOf(",
      },
      {
        what: "a change in a List is reported for the List",
        find: "object: isList && item !== undefined ? item : scalar.object",
        replace: "object: isList || item !== undefined ? scalar.object : scalar.object",
      },
    ],
  },
  {
    file: "lib/image/setters/spaced-text.ts",
    tests: files,
    faults: [
      {
        what: "edits are misplaced if list lines are not indented",
        find: "placeOf: (offset) => offset - this.#shiftAt(offset) };",
        replace: "placeOf: (offset) => offset - Math.min(this.#shiftAt(offset), 0) };",
      },
    ],
  },
  {
    file: "lib/image/setters/follow-path.ts",
    tests: trees,
    faults: [
      {
        what: "a link out of the repository counts as one to its root",
        find: 'if (at.length === 0 && bounds === "inside") return undefined;',
        replace: "",
      },
      {
        what: "a link to an absolute path is followed from the root",
        find: 'if (bounds === "inside") return undefined;\n      at = [];',
        replace: "at = [];",
      },
    ],
  },
  {
    file: "lib/image/setters/set-in-tree.ts",
    tests: trees,
    faults: [
      {
        what: "a file with several links is changed more than once",
        find: "if (file === undefined || seen.has(file.path)) continue;",
        replace: "if (file === undefined) continue;",
      },
      {
        what: "a missing path changes nothing instead of failing",
        find: 'if (isEmpty && root !== "") {',
        replace: 'if (isEmpty && root === "") {',
      },
    ],
  },
];
