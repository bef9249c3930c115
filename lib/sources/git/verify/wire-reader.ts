import { GitSignatureFault } from "./git-signature-fault.ts";

/** Reads the data types of SSH (RFC 4251, section 5) one after the other. Throws a {@link GitSignatureFault} at the end of the bytes. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The next `count` bytes. */
  take(count: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + count);
    if (part.length < count) throw new GitSignatureFault("ssh: short read");
    this.#at += count;
    return part;
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }

  /** A `string`: its length, then its bytes. */
  bytes(): Buffer {
    return this.take(this.uint32());
  }

  /** A `string` of text; each byte is a character. */
  text(): string {
    return this.bytes().toString("latin1");
  }

  /** An `mpint` that is above zero, without leading zeros. */
  positive(): Buffer {
    const bytes = this.bytes();
    const first = bytes[0] ?? 0;
    const digits = first === 0 ? bytes.subarray(1) : bytes;
    // Below zero, zero itself, or written with more zeros than needed.
    if (first > 127 || (first === 0 && (digits[0] ?? 0) <= 127)) throw new GitSignatureFault("ssh: invalid number");
    return digits;
  }
}
