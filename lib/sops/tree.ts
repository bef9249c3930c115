/** A comment of the file. sops encrypts comments too, and leaves them out of the MAC. */
export class SopsComment {
  /** Without its `#`. */
  readonly text: string;
  /** Behind a value, on its line. */
  readonly inline: boolean;

  constructor(text: string, inline: boolean) {
    this.text = text;
    this.inline = inline;
  }
}

/** A time as Go prints it: RFC 3339 with as many digits of a second as it has. */
export class SopsTime {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A key of YAML that is not text. sops walks no tree that has one. */
export class OddKey {
  /** Go's word for its type: `int`, `bool`. */
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** One entry of a branch, or a comment between entries, which has no value. */
export interface Item {
  readonly key: string | SopsComment | OddKey;
  readonly value: Value;
}

/** A mapping in the order of the document. A key may be there twice. */
export class Branch {
  readonly items: readonly Item[];

  constructor(items: readonly Item[]) {
    this.items = items;
  }

  /** The value of the first entry with the key. */
  get(key: string): Value | undefined {
    return this.items.find((item) => item.key === key)?.value;
  }
}

/** Go's values: `bigint` is an `int`, `number` a `float64`, bytes are those of a value of the type `bytes`. */
export type Scalar = string | bigint | number | boolean | null | SopsTime | Uint8Array;
export type Value = Scalar | SopsComment | Branch | readonly Value[];

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/**
 * The limit for one file in YAML or JSON: values, ends of lists and mappings, and comments. Each takes time and memory, whatever its
 * length.
 */
export const maxParts = 200_000;

/** Deeper than any Kubernetes object, and far below the depth at which a recursive reader runs out of stack. */
export const maxDepth = 100;
