import { createHash } from "node:crypto";
import { cutText } from "../core/cut-text.ts";
import { decryptValue, notAuthentic, notEncrypted } from "./cipher.ts";
import { encryptionTest, type IsEncrypted } from "./encryption-rule.ts";
import { plainFloat } from "./go-values.ts";
import type { SopsMetadata } from "./metadata.ts";
import { SopsFault } from "./sops-fault.ts";
import { pace, type Steps } from "./steps.ts";
import { Branch, type Item, isList, OddKey, type Scalar, SopsComment, SopsTime, type Value } from "./tree.ts";

/** `sha256("sops")`: a MAC over encrypted values alone never equals one over all of them. */
const macOnlyEncryptedSeed = Buffer.from("8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69", "hex");

/**
 * Decrypts all documents of a file in the order of the document, as sops walks them, and computes their MAC: SHA-512 over the
 * plaintext of all values, comments left out, as upper-case hex.
 */
export function* decryptTree(
  branches: readonly Branch[],
  metadata: SopsMetadata,
  dataKey: Uint8Array,
): Steps<{ readonly branches: readonly Branch[]; readonly mac: string }> {
  const walk = new Walk(metadata, dataKey);
  const plain: Branch[] = [];
  for (const branch of branches) plain.push(yield* walk.branch(branch, [], []));
  return { branches: plain, mac: walk.mac() };
}

/** Throws unless the file's MAC is the one that its values have. */
export function checkMac({ mac, lastModified }: SopsMetadata, computed: string, dataKey: Uint8Array): void {
  // What the two are is not said: they are digests of the plaintext.
  if (decryptValue(mac, dataKey, lastModified) !== computed) throw new SopsFault("MAC mismatch");
}

/** Lines are added to a list, and none is taken away: the rule remembers which it has looked at. */
type Comments = readonly string[][];

class Walk {
  readonly #isEncrypted: IsEncrypted;
  readonly #macOnlyEncrypted: boolean;
  readonly #dataKey: Uint8Array;
  readonly #hash = createHash("sha512");
  readonly #isLong = pace();

  constructor({ rule, macOnlyEncrypted }: SopsMetadata, dataKey: Uint8Array) {
    this.#isEncrypted = encryptionTest(rule);
    this.#macOnlyEncrypted = macOnlyEncrypted;
    this.#dataKey = dataKey;
    if (macOnlyEncrypted) this.#hash.update(macOnlyEncryptedSeed);
  }

  mac(): string {
    return this.#hash.digest("hex").toUpperCase();
  }

  /** `comments`: for each level above, the comments in front of the value that the level is at. */
  *branch(branch: Branch, path: readonly string[], comments: Comments): Steps<Branch> {
    let lines: string[] = [];
    const stack = [...comments, lines];
    const items: Item[] = [];
    for (const { key, value } of branch.items) {
      if (this.#isLong()) yield;
      if (key instanceof OddKey) {
        throw new SopsFault(
          `Tree contains a non-string key (type ${key.type}): ${key.text}. Only string keys are supported`,
        );
      }
      if (key instanceof SopsComment) {
        lines.push(key.text);
        items.push({ key: this.#commentKey(key, path, stack), value: null });
        continue;
      }
      items.push({ key, value: yield* this.#value(value, [...path, key], stack) });
      lines = [];
      stack[comments.length] = lines;
    }
    return new Branch(items);
  }

  #commentKey(comment: SopsComment, path: readonly string[], stack: Comments): SopsComment {
    const plain = this.#comment(comment, path, stack);
    if (plain instanceof SopsComment) return plain;
    if (typeof plain === "string") return new SopsComment(plain, comment.inline);
    throw new SopsFault("walkValue of Comment should be either Comment or string");
  }

  *#value(value: Value, path: readonly string[], comments: Comments): Steps<Value> {
    if (value instanceof Branch) return yield* this.branch(value, path, comments);
    if (isList(value)) return yield* this.#list(value, path, comments);
    if (value instanceof SopsComment) return this.#comment(value, path, comments);
    // sops neither encrypts nothing nor puts it into the MAC.
    return value === null ? null : this.#scalar(value, path, comments);
  }

  /** A list adds nothing to the path. */
  *#list(list: readonly Value[], path: readonly string[], comments: Comments): Steps<readonly Value[]> {
    let lines: string[] = [];
    const stack = [...comments, lines];
    const items: Value[] = [];
    for (const value of list) {
      if (this.#isLong()) yield;
      if (value instanceof SopsComment) {
        lines.push(value.text);
        items.push(this.#comment(value, path, stack));
        continue;
      }
      items.push(yield* this.#value(value, path, stack));
      lines = [];
      stack[comments.length] = lines;
    }
    return items;
  }

  #scalar(value: Scalar, path: readonly string[], comments: Comments): Value {
    const encrypted = this.#isEncrypted(path, comments, false);
    const plain = encrypted ? decryptScalar(value, this.#dataKey, path) : value;
    if (encrypted || !this.#macOnlyEncrypted) this.#hash.update(macBytes(plain));
    return plain;
  }

  #comment(comment: SopsComment, path: readonly string[], comments: Comments): Scalar | SopsComment {
    if (!this.#isEncrypted(path, comments, true)) return comment;
    try {
      return decryptValue(comment.text, this.#dataKey, boundTo(path));
    } catch (error) {
      if (!(error instanceof SopsFault)) throw error;
      // Older releases of sops left comments as they were.
      return comment;
    }
  }
}

/** Decrypts a value that has to be encrypted. Throws a {@link SopsFault} in the words of sops. */
export function decryptScalar(value: Scalar, dataKey: Uint8Array, path: readonly string[]): Scalar | SopsComment {
  if (typeof value !== "string") {
    const words = `Expected encrypted value as string, but got ${goType(value)}`;
    throw new SopsFault(`${words}${plainValue(path)}`);
  }
  try {
    return decryptValue(value, dataKey, boundTo(path));
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`Could not decrypt value: ${error.message}${mendOf(error, path)}`, { cause: error });
  }
}

/** What follows the words of sops: the value by its name, which sops leaves in the open, and what to do. */
function mendOf({ message }: SopsFault, path: readonly string[]): string {
  if (message === notAuthentic) return `: '${nameOf(path)}' was changed, moved or renamed after its encryption`;
  return message === notEncrypted ? plainValue(path) : "";
}

function plainValue(path: readonly string[]): string {
  return `: '${nameOf(path)}' is not encrypted. Restore the file, and change it with sops edit`;
}

function nameOf(path: readonly string[]): string {
  return cutText(path.join("."), 200);
}

function boundTo(path: readonly string[]): string {
  return `${path.join(":")}:`;
}

function goType(value: Scalar): string {
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float64";
  return typeof value === "boolean" ? "bool" : "time.Time";
}

function macBytes(value: Scalar | SopsComment): string | Uint8Array {
  if (value instanceof SopsComment || value instanceof SopsTime) return value.text;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return plainFloat(value);
  return typeof value === "bigint" ? value.toString() : (value ?? "");
}
