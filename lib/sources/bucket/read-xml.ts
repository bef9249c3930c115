/** An element of a document: what Google, Amazon and Microsoft answer has no mixed content that counts. */
export interface XmlElement {
  /** Without its namespace prefix. */
  readonly name: string;
  /** The text directly in it, joined. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** Elements of a document. A page of a listing has 1,000 objects of some 30 elements at most. */
export const maxXmlElements = 50_000;
/** Entities and character references of a document. */
export const maxXmlEntities = 100_000;
/** Elements inside each other. */
export const maxXmlDepth = 32;

interface Open {
  readonly name: string;
  readonly texts: string[];
  readonly children: XmlElement[];
}

/**
 * The root of an XML document. Reads what services answer: elements, texts, the five entities, character references, CDATA;
 * attributes, comments and processing instructions are skipped. A document type is refused, so nothing can be declared that grows.
 * One pass, in time and memory proportional to the text. Throws a `RangeError` for anything else, without any text of the document.
 */
export function readXml(text: string): XmlElement {
  const root: Open = { name: "", texts: [], children: [] };
  const open: Open[] = [root];
  let elements = 0;
  let found = 0;
  const countEntity = (): void => {
    if (++found > maxXmlEntities) throw notXml(`it has more than ${maxXmlEntities} entities`);
  };
  let at = text.startsWith("\ufeff") ? 1 : 0;
  while (at < text.length) {
    const inside = open.at(-1) ?? root;
    const tag = text.indexOf("<", at);
    const before = text.slice(at, tag === -1 ? text.length : tag);
    if (open.length > 1) inside.texts.push(unescaped(before, countEntity));
    else if (before.trim() !== "") throw notXml("it has text outside of its root");
    if (tag === -1) break;
    if (text.startsWith("<!--", tag)) at = after(text, "-->", tag + 4);
    else if (text.startsWith("<?", tag)) at = after(text, "?>", tag + 2);
    else if (text.startsWith("<![CDATA[", tag)) {
      at = after(text, "]]>", tag + 9);
      inside.texts.push(text.slice(tag + 9, at - 3));
    } else if (text.startsWith("<!", tag)) throw notXml("it has a document type");
    else if (text.startsWith("</", tag)) {
      at = after(text, ">", tag + 2);
      close(open, nameOf(text.slice(tag + 2, at - 1)));
    } else {
      const end = endOfTag(text, tag + 1);
      at = end + 1;
      const isEmpty = text[end - 1] === "/";
      if (++elements > maxXmlElements) throw notXml(`it has more than ${maxXmlElements} elements`);
      if (open.length > maxXmlDepth) throw notXml(`it has elements more than ${maxXmlDepth} deep`);
      const name = nameOf(text.slice(tag + 1, isEmpty ? end - 1 : end));
      open.push({ name, texts: [], children: [] });
      if (isEmpty) close(open, name);
    }
  }
  const [only, ...others] = root.children;
  if (open.length > 1 || only === undefined || others.length > 0) throw notXml("it has no end or not one root");
  return only;
}

/** The first child of this name. */
export function childOf({ children }: XmlElement, name: string): XmlElement | undefined {
  return children.find((child) => child.name === name);
}

/** The text of the first child of this name; empty if there is none. */
export function textOf(element: XmlElement, name: string): string {
  return childOf(element, name)?.text ?? "";
}

function close(open: Open[], name: string): void {
  const { texts, ...element } = open.pop() ?? { name: "", texts: [], children: [] };
  const parent = open.at(-1);
  if (parent === undefined || element.name !== name) throw notXml("its tags do not match");
  parent.children.push({ ...element, text: texts.join("") });
}

/** The `>` of a tag, which may also stand in the value of an attribute. */
function endOfTag(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return at;
  }
  throw notXml("a tag has no end");
}

function nameOf(tag: string): string {
  const [name = ""] = tag.trimEnd().split(/\s/, 1);
  const local = name.slice(name.indexOf(":") + 1);
  if (local === "") throw notXml("a tag has no name");
  return local;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  if (found === -1) throw notXml(`it has no ${mark}`);
  return found + mark.length;
}

const entities: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** Not by a pattern: V8 looks for all matches of a text before it replaces the first. */
function unescaped(text: string, countEntity: () => void): string {
  const parts: string[] = [];
  let at = 0;
  for (let begin = text.indexOf("&"); begin !== -1; begin = text.indexOf("&", at)) {
    countEntity();
    const [name = "", ...rest] = text.slice(begin + 1, begin + 1 + maxReferenceChars).split(";", 2);
    if (rest.length === 0) throw notXml("it has an unknown entity");
    parts.push(text.slice(at, begin), characterOf(name));
    at = begin + name.length + 2;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

const maxReferenceChars = 10;

function characterOf(name: string): string {
  const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
  if (known !== undefined) return known;
  const [, hexadecimal, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name) ?? [];
  const code = hexadecimal === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hexadecimal, 16);
  if (code <= 0x10ffff) return String.fromCodePoint(code);
  throw notXml("it has an unknown entity");
}

function notXml(why: string): RangeError {
  return new RangeError(`the answer is not XML: ${why}`);
}
