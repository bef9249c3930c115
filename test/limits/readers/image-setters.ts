import { messageOf } from "../../../lib/core/failure.ts";
import type { FileTree } from "../../../lib/image/setters/follow-path.ts";
import { maxMarkerChars } from "../../../lib/image/setters/marker.ts";
import { maxDocumentChars, maxDocuments, maxIndicators } from "../../../lib/image/setters/read-documents.ts";
import { maxChangesPerFile, maxSetterFileBytes } from "../../../lib/image/setters/set-images.ts";
import { setInTree } from "../../../lib/image/setters/set-in-tree.ts";
import type { WorstInput } from "../worst-input.ts";

const images = new Map([["n:p", { setter: "n:p", name: "registry.test/app", tag: "1.1.0" }]]);
const marked = 'a: old # {"$imagepolicy":"n:p"}\n';
const filled = (part: string, chars: number): string => part.repeat(Math.floor(chars / part.length));

/** One file in which markers are set. */
function setting(reader: string, name: string, text: () => string): WorstInput {
  return {
    reader: `lib/image/setters/${reader}`,
    name,
    memoryMiB: 400,
    make: async () => {
      const content = Buffer.from(text());
      const tree: FileTree = {
        async *files() {
          yield { path: "a.yaml", type: "file", read: async () => content };
        },
      };
      return () => setInTree(tree, "", images, new AbortController().signal).catch(messageOf);
    },
  };
}

const container = "  - name: a\n    image: registry.test/app:1.0.0\n";
const pod = `---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n${container.repeat(20)}`;

/** The worst inputs of what sets images in files. */
export const imageSetterReaders: readonly WorstInput[] = [
  setting("read-documents.ts", "a list of short values, as many as a document may have", () => {
    return `${marked}b: [${filled("1,", 2 * (maxIndicators - 20))}1]\n`;
  }),
  setting("read-documents.ts", "keys, as many as a document may have", () => {
    return `${marked}${filled("k: v\n", (maxIndicators / 2 - 20) * 5)}`;
  }),
  setting("read-documents.ts", "text of the greatest length", () => {
    return `${marked}b: |\n${filled(`  ${"word ".repeat(20)}\n`, maxDocumentChars - 100)}`;
  }),
  setting("read-documents.ts", "documents, as many as a file may have", () => {
    return `${marked}${filled("---\na: b\n", 9 * (maxDocuments - 2))}`;
  }),
  setting("read-documents.ts", "a file of the greatest size, of Pods", () => {
    return `${marked}${filled(pod, maxSetterFileBytes - 100)}`;
  }),
  setting("spaced-text.ts", "a list that is not indented, of as many lines as a document may have", () => {
    return `${marked}b: [${filled("1,\n", 3 * (maxIndicators / 2 - 20))}1\n]\n`;
  }),
  setting("spaced-text.ts", "a list whose last bracket is not indented", () => {
    return `${marked}b: [${filled("1,", 2 * (maxIndicators - 20))}1\n]\n`;
  }),
  setting("spaced-text.ts", "lists, as many as a document may have, the last one not indented", () => {
    return `${marked}${filled("k: []\n", 6 * (maxIndicators / 3 - 20))}b: [\n]\n`;
  }),
  setting("spaced-text.ts", "text of the greatest length in quotes, of lines that are not indented", () => {
    return `${marked}b: "${filled(`${"word ".repeat(4)}\n`, maxDocumentChars - 100)}"\n`;
  }),
  setting("marker.ts", "comments of the greatest length that are JSON", () => {
    const line = `b: old # {"a":"${filled("x", maxMarkerChars - 60)}"}\n`;
    return `${marked}${filled(line, maxDocumentChars - 100)}`;
  }),
  setting("marked-scalars.ts", "items below blank lines, as many as a document may have", () => {
    return `${marked}b:\n${filled("\n\n- c\n", 6 * (maxIndicators / 4 - 20))}`;
  }),
  setting("edit-scalar.ts", "markers, as many as a file may have", () =>
    filled(marked, maxChangesPerFile * marked.length),
  ),
  setting("set-images.ts", "bytes that are not YAML, of the greatest size", () => {
    return `${marked}${filled("@", maxSetterFileBytes - 100)}`;
  }),
];
