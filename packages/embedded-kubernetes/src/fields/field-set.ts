/**
 * A set of field paths as a tree, keyed as fieldsV1 writes path elements: `f:NAME`, `k:{"name":"app"}`, `v:"x"`.
 * A node is a member where `isMember`; the root never is. Built once, never changed afterwards.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const noChildren: ReadonlyMap<string, FieldSet> = new Map();

export const emptySet: FieldSet = { isMember: false, children: noChildren };
export const leaf: FieldSet = { isMember: true, children: noChildren };

export function fieldSet(isMember: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  if (children.size === 0) return isMember ? leaf : emptySet;
  return { isMember, children };
}

export function isEmpty(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const children = new Map(a.children);
  for (const [key, child] of b.children) {
    const own = children.get(key);
    children.set(key, own === undefined ? child : union(own, child));
  }
  return fieldSet(a.isMember || b.isMember, children);
}

/** The members of `a` that are not members of `b`; `b`'s member takes only itself out, not what lies below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  const children = new Map<string, FieldSet>();
  for (const [key, child] of a.children) {
    const other = b.children.get(key);
    const rest = other === undefined ? child : difference(child, other);
    if (!isEmpty(rest)) children.set(key, rest);
  }
  return fieldSet(a.isMember && !b.isMember, children);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, child] of a.children) {
    const other = b.children.get(key);
    if (other === undefined) continue;
    const common = intersection(child, other);
    if (!isEmpty(common)) children.set(key, common);
  }
  return fieldSet(a.isMember && b.isMember, children);
}

/** Whether every member of `part` is one of `whole`. */
export function isSubset(part: FieldSet, whole: FieldSet): boolean {
  if (part.isMember && !whole.isMember) return false;
  for (const [key, child] of part.children) {
    const other = whole.children.get(key);
    if (other === undefined || !isSubset(child, other)) return false;
  }
  return true;
}

/** Every member's path, fields before list items and set values, each in the order of their texts. */
export function memberPaths(set: FieldSet, path: readonly string[] = []): readonly (readonly string[])[] {
  const own = set.isMember ? [path] : [];
  return [...own, ...sortedKeys(set).flatMap((key) => memberPaths(set.children.get(key) ?? emptySet, [...path, key]))];
}

export function sortedKeys(set: FieldSet): readonly string[] {
  return [...set.children.keys()].sort();
}
