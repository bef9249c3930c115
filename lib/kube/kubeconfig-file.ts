import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "../core/failure.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { readLimitedFile } from "./read-limited-file.ts";

export const maxKubeconfigBytes = 4 * 1024 * 1024;

/** One kubeconfig file. Relative paths in it are relative to its folder. */
export interface KubeconfigFile {
  readonly path: string;
  readonly currentContext: string | undefined;
  readonly clusters: readonly NamedEntry[];
  readonly users: readonly NamedEntry[];
  readonly contexts: readonly NamedEntry[];
}

/** One named entry of `clusters`, `users` or `contexts`. */
export interface NamedEntry {
  readonly name: string;
  readonly fields: Fields;
}

/** Typed access to one YAML mapping; every error names the file and the field. */
export interface Fields {
  /** The text of a field; undefined if it is missing or, as for kubectl, empty. */
  text(key: string): string | undefined;
  flag(key: string): boolean;
  /** Whether it says nothing: no field has a value. */
  isEmpty(): boolean;
  texts(key: string): readonly string[];
  nested(key: string): Fields | undefined;
  list(key: string): readonly Fields[];
  /** The content of `<key>-data` (base64), or of the file that `<key>` names. */
  material(key: string): Promise<string | undefined>;
  path(key: string): string | undefined;
  fault(key: string, reason: string): Error;
}

/** Undefined if the file does not exist. Throws an error that names the file and, for invalid YAML, the line. */
export async function readKubeconfigFile(path: string): Promise<KubeconfigFile | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  const content = await parseYaml(text);
  if (content instanceof Error) throw new Error(`kubeconfig ${path} is not YAML: ${content.message}`);
  if (!isJsonObject(content)) throw new Error(`kubeconfig ${path} is not a kubeconfig: it must hold a mapping`);
  return kubeconfigOf(content, path);
}

/** The content of a kubeconfig. `path`: what errors call it, and what its relative paths are relative to. */
export function kubeconfigOf(content: JsonObject, path: string): KubeconfigFile {
  const root = fieldsOf(content, path, "");
  const named = (list: string, key: string): NamedEntry[] =>
    root.list(list).map((entry) => {
      const name = entry.text("name");
      if (name === undefined) throw entry.fault("name", "is required");
      return { name, fields: entry.nested(key) ?? fieldsOf({}, path, `${list}[${name}].${key}`) };
    });
  return {
    path,
    currentContext: root.text("current-context"),
    clusters: named("clusters", "cluster"),
    users: named("users", "user"),
    contexts: named("contexts", "context"),
  };
}

/** Parses the file. Its error quotes nothing, since the parser's own would quote lines that may hold a token. */
export async function parseYaml(text: string): Promise<unknown> {
  const { load, YAMLException } = await import("js-yaml");
  try {
    return load(text) ?? {};
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return new Error(`line ${(error.mark?.line ?? 0) + 1}: ${error.reason}`);
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readLimitedFile(path, maxKubeconfigBytes);
  } catch (error) {
    if (isJsonObject(error) && error["code"] === "ENOENT") return undefined;
    throw new Error(`kubeconfig ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function fieldsOf(entry: Readonly<Record<string, unknown>>, file: string, at: string): Fields {
  const where = (key: string) => (at === "" ? key : `${at}.${key}`);
  const fault = (key: string, reason: string) => new Error(`kubeconfig ${file}: ${where(key)} ${reason}`);
  const items = (key: string): readonly unknown[] => {
    const value = entry[key] ?? [];
    if (!Array.isArray(value)) throw fault(key, "must be a list");
    return value;
  };
  const text = (key: string): string | undefined => {
    const value = entry[key] ?? "";
    if (typeof value !== "string") throw fault(key, "must be a text");
    return value === "" ? undefined : value;
  };
  const path = (key: string): string | undefined => {
    const value = text(key);
    return value === undefined || isAbsolute(value) ? value : join(dirname(file), value);
  };
  const nested = (key: string): Fields | undefined => {
    const value = entry[key] ?? undefined;
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw fault(key, "must be a mapping");
    return fieldsOf(value, file, where(key));
  };
  return {
    text,
    path,
    nested,
    fault,
    isEmpty: () => Object.values(entry).every((value) => [undefined, null, "", false].some((none) => value === none)),
    flag(key) {
      const value = entry[key] ?? false;
      if (typeof value !== "boolean") throw fault(key, "must be true or false");
      return value;
    },
    texts: (key) =>
      items(key).map((item) => {
        if (typeof item !== "string") throw fault(key, "must be a list of texts");
        return item;
      }),
    list: (key) =>
      items(key).map((item, index) => {
        if (!isJsonObject(item)) throw fault(`${key}[${index}]`, "must be a mapping");
        const name = item["name"];
        return fieldsOf(item, file, `${where(key)}[${typeof name === "string" ? name : index}]`);
      }),
    async material(key) {
      const data = text(`${key}-data`);
      if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
      const source = path(key);
      if (source === undefined) return undefined;
      try {
        return await readLimitedFile(source, maxKubeconfigBytes);
      } catch (error) {
        throw new Error(
          `kubeconfig ${file}: ${where(key)} names ${source}, which cannot be read: ${messageOf(error)}`,
          {
            cause: error,
          },
        );
      }
    },
  };
}
