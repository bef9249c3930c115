import { type Document, dump, SCALAR_STYLE, visit } from "js-yaml";
import { escapedJson } from "./object-documents.ts";

/**
 * YAML that is the same to a program, and cannot move the cursor of a terminal or turn its text around: YAML prints characters that change
 * the direction of text as they are, and has escapes in double quotes only.
 */
export function safeYaml(value: unknown, { sortKeys = false }: { readonly sortKeys?: boolean } = {}): string {
  return escapedJson(dump(value, { sortKeys, lineWidth: -1, transform: quoteWhatIsEscaped }));
}

function quoteWhatIsEscaped(documents: Document[]): void {
  visit(documents, (node) => {
    if (node.kind === "scalar" && escapedJson(node.value) !== node.value) node.style = SCALAR_STYLE.DOUBLE_QUOTED;
  });
}
