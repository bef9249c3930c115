import type { Document } from "js-yaml";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { Terminal } from "./terminal.ts";

/** How `-o` prints objects for programs. */
export type DocumentFormat = "json" | "yaml" | "name";

/** Prints objects: a whole list, or one after another as a watch tells of them. */
export interface ObjectPrinter {
  all(objects: readonly LiveObject[]): void;
  next(object: LiveObject): void;
}

/**
 * Prints objects as kubectl does: a list as one `List`, also an empty one, a single object by itself, and those of a watch one after
 * another. `metadata.managedFields` is left out. `name` is `KIND.GROUP/NAME`, which kubectl takes in place of kind and name.
 *
 * @param isSingle whether the user named the object
 */
export async function documentPrinter(
  format: DocumentFormat,
  isSingle: boolean,
  terminal: Terminal,
): Promise<ObjectPrinter> {
  if (format === "name") {
    const next = (object: LiveObject) => terminal.out(`${nameOf(object)}\n`);
    return { all: (objects) => objects.forEach(next), next };
  }
  const write = await writerOf(format);
  let isFirst = true;
  const next = (object: LiveObject) => {
    if (!isFirst && format === "yaml") terminal.document("---\n");
    isFirst = false;
    terminal.document(write(withoutManagers(object)));
  };
  const all = (objects: readonly LiveObject[]) => {
    if (isSingle) objects.forEach(next);
    else terminal.document(write(listOf(objects)));
  };
  return { all, next };
}

function listOf(objects: readonly LiveObject[]): object {
  return { apiVersion: "v1", items: objects.map(withoutManagers), kind: "List", metadata: { resourceVersion: "" } };
}

function withoutManagers({ metadata, ...object }: LiveObject): object {
  const { apiVersion, kind, ...rest } = object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([field]) => field !== "managedFields"));
  return { apiVersion, kind, metadata: kept, ...rest };
}

function nameOf({ apiVersion, kind, metadata }: LiveObject): string {
  const [group = ""] = apiVersion.split("/");
  return `${kind.toLowerCase()}.${group}/${metadata.name}`;
}

async function writerOf(format: "json" | "yaml"): Promise<(value: object) => string> {
  if (format === "json") return (value) => `${escapedJson(JSON.stringify(value, undefined, 4))}\n`;
  const safeYaml = await yamlWriter();
  return (value) => safeYaml(value, { sortKeys: true });
}

/** JSON that is the same to a program, and cannot move the cursor of a terminal or turn its text around. */
export function escapedJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Writes YAML that is the same to a program, and cannot move the cursor of a terminal or turn its text around: YAML prints characters that
 * change the direction of text as they are, and has escapes in double quotes only. Loads js-yaml only when it is called.
 */
export async function yamlWriter(): Promise<(value: unknown, options?: { readonly sortKeys: boolean }) => string> {
  const { dump, SCALAR_STYLE, visit } = await import("js-yaml");
  const transform = (documents: Document[]) => {
    visit(documents, (node) => {
      if (node.kind === "scalar" && escapedJson(node.value) !== node.value) node.style = SCALAR_STYLE.DOUBLE_QUOTED;
    });
  };
  return (value, { sortKeys } = { sortKeys: false }) =>
    escapedJson(dump(value, { sortKeys, lineWidth: -1, transform }));
}
