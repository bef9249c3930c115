import { SopsFault } from "../sops-fault.ts";
import { Branch, type Item, type Value } from "../tree.ts";

/** Levels of the metadata: a list of groups with a list of keys with a mapping. */
const maxLevels = 16;

/**
 * Metadata whose levels stand in the names of its keys, as formats with one level hold it:
 * `age__list_0__map_enc` is `age[0].enc`. Throws a {@link SopsFault}.
 */
export function unflatten(items: readonly Item[]): Branch {
  const root: Node = {};
  for (const { key, value } of items) {
    if (typeof key !== "string") continue;
    const tokens = key.split(/(?=__map_|__list_)/);
    if (tokens.length > maxLevels) throw fault(`a key has more than ${maxLevels} levels`);
    let node = root;
    for (const token of tokens) node = below(node, token);
    if (node.value !== undefined) throw fault("Duplicate value");
    node.value = value;
  }
  const value = valueOf(root);
  if (value instanceof Branch) return value;
  throw fault("cannot find root");
}

interface Node {
  value?: Value;
  fields?: Map<string, Node>;
  items?: Map<number, Node>;
}

function below(node: Node, token: string): Node {
  if (token.startsWith("__list_")) {
    const digits = token.slice("__list_".length);
    node.items ??= new Map();
    return entry(node.items, /^[0-9]{1,3}$/.test(digits) ? Number(digits) : 0);
  }
  node.fields ??= new Map();
  return entry(node.fields, token.startsWith("__map_") ? token.slice("__map_".length) : token);
}

function entry<Key>(entries: Map<Key, Node>, key: Key): Node {
  const node = entries.get(key) ?? {};
  entries.set(key, node);
  return node;
}

function valueOf({ value, fields, items }: Node): Value {
  if ([value, fields, items].filter((part) => part !== undefined).length > 1) throw fault("Type mismatch");
  if (value !== undefined) return value;
  if (items === undefined) {
    return new Branch([...(fields ?? [])].map(([key, node]) => ({ key, value: valueOf(node) })));
  }
  return Array.from({ length: items.size }, (_, index) => {
    const node = items.get(index);
    if (node === undefined) throw fault("Incomplete list");
    return valueOf(node);
  });
}

function fault(text: string): SopsFault {
  return new SopsFault(`Error while unflattening: ${text}`);
}
