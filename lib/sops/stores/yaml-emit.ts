import { shortFloat } from "../go-values.ts";
import { SopsFault } from "../sops-fault.ts";
import { Branch, isList, OddKey, SopsComment, SopsTime, type Value } from "../tree.ts";
import { staysText } from "./yaml-scalar.ts";
import { YamlWriter } from "./yaml-writer.ts";

/** Each branch as a document. Equal to what sops prints, since a generated Secret is named for the digest of its bytes. */
export function emitYaml(branches: readonly Branch[]): string {
  const documents = branches.map((branch) => {
    const writer = new YamlWriter();
    const node = mappingOf(branch);
    writer.comment(node.head);
    writeNode(writer, node, { inSequence: false });
    return writer.end();
  });
  return documents.join("---\n");
}

/** A node with the comments that sops hangs on it. */
interface Comments {
  /** On lines in front of it. */
  head: string[];
  /** Behind it on its line. */
  line: string[];
  /** On lines behind it. */
  foot: string[];
}
interface Mapping extends Comments {
  readonly kind: "mapping";
  readonly entries: { readonly key: Scalar; readonly value: Node }[];
}
interface Sequence extends Comments {
  readonly kind: "sequence";
  readonly items: Node[];
}
interface Scalar extends Comments {
  readonly kind: "scalar";
  readonly value: Exclude<Value, Branch | readonly Value[] | SopsComment>;
}
type Node = Mapping | Sequence | Scalar;

function nodeOf(value: Value): Node {
  if (value instanceof Branch) return mappingOf(value);
  if (isList(value)) return sequenceOf(value);
  if (value instanceof SopsComment) throw new SopsFault("a decrypted value is a comment");
  return { kind: "scalar", value, head: [], line: [], foot: [] };
}

/** sops' `appendTreeBranch`. */
function mappingOf({ items }: Branch): Mapping {
  const mapping: Mapping = { kind: "mapping", entries: [], head: [], line: [], foot: [] };
  const pending = new Pending();
  for (const { key, value } of items) {
    if (key instanceof SopsComment) {
      pending.add(key);
      continue;
    }
    const keyNode: Scalar = {
      kind: "scalar",
      value: key instanceof OddKey ? key.text : key,
      head: [],
      line: [],
      foot: [],
    };
    const node = nodeOf(value);
    append((mapping.entries.length === 0 ? mapping : keyNode).head, pending.takeHead());
    addInline(node, pending.takeInline());
    mapping.entries.push({ key: keyNode, value: node });
  }
  const foot = mapping.entries.at(-1)?.key.foot ?? mapping.head;
  append(foot, pending.takeHead());
  append(foot, pending.takeInline());
  return mapping;
}

/** sops' `appendSequence`. */
function sequenceOf(list: readonly Value[]): Sequence {
  const sequence: Sequence = { kind: "sequence", items: [], head: [], line: [], foot: [] };
  const pending = new Pending();
  for (const value of list) {
    if (value instanceof SopsComment) {
      pending.add(value);
      continue;
    }
    const node = nodeOf(value);
    if (sequence.items.length === 0) append(sequence.head, pending.takeHead());
    else prepend(node.head, pending.takeHead());
    addInline(node, pending.takeInline());
    sequence.items.push(node);
  }
  const foot = sequence.items.at(-1)?.foot ?? sequence.head;
  append(foot, pending.takeHead());
  append(foot, pending.takeInline());
  return sequence;
}

/** There is no place behind a block, so the comment stands in front of it. */
function addInline(node: Node, lines: readonly string[]): void {
  append(node.kind === "scalar" ? node.line : node.head, lines);
}

/** Comments since the last entry. */
class Pending {
  #head: string[] = [];
  #inline: string[] = [];

  add({ text, inline }: SopsComment): void {
    (inline ? this.#inline : this.#head).push(text);
  }

  takeHead(): string[] {
    return this.#head.splice(0);
  }

  takeInline(): string[] {
    return this.#inline.splice(0);
  }
}

function writeNode(writer: YamlWriter, node: Node, place: { readonly inSequence: boolean }): void {
  switch (node.kind) {
    case "mapping":
      if (node.entries.length === 0) writer.indicator("{}", true);
      else writer.indented(place.inSequence, () => writeMapping(writer, node));
      break;
    case "sequence":
      if (node.items.length === 0) writer.indicator("[]", true);
      else writer.indented(place.inSequence, () => writeSequence(writer, node));
      break;
    case "scalar":
      writeScalar(writer, node, { isKey: false, ...place });
      break;
  }
}

function writeMapping(writer: YamlWriter, { entries }: Mapping): void {
  let tail: readonly string[] = [];
  for (const { key, value } of entries) {
    writer.foot(tail);
    writer.comment(key.head);
    writer.newLine();
    writeScalar(writer, key, { isKey: true, inSequence: false });
    writer.indicator(":", false);
    // The comment in front of the first entry of a block stands inside of it.
    const head = value.kind === "scalar" ? [] : value.head;
    writer.nextHead(head);
    writeNode(writer, value, { inSequence: false });
    tail = key.foot;
  }
  writer.foot(tail);
}

function writeSequence(writer: YamlWriter, { items }: Sequence): void {
  for (const item of items) {
    writer.comment(item.head);
    writer.newLine();
    writer.indicator("-", true, true);
    writeNode(writer, item, { inSequence: true });
    writer.foot(item.foot);
  }
}

function writeScalar(
  writer: YamlWriter,
  { value, line }: Scalar,
  place: { readonly isKey: boolean; readonly inSequence: boolean },
): void {
  if (value instanceof Uint8Array) writer.binary(value, { ...place, line });
  else if (typeof value === "string") writer.text(value, { ...place, staysText: staysText(value), line });
  else writer.constant(constantText(value), line);
}

function constantText(value: null | boolean | bigint | number | SopsTime): string {
  if (value instanceof SopsTime) return value.text;
  if (typeof value !== "number") return String(value);
  const text = shortFloat(value);
  if (Number.isFinite(value)) return text;
  return text === "NaN" ? ".nan" : text.replace("Inf", ".inf").replace("+", "");
}

/** One by one: as arguments of one call they would overflow the stack. */
function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}

function prepend<Item>(list: Item[], more: readonly Item[]): void {
  const own = list.splice(0);
  append(list, more);
  append(list, own);
}
