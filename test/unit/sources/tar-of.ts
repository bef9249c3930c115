/** One member of a tar that no tool writes. */
export interface Member {
  readonly name: string;
  /** The type flag; a file where absent. */
  readonly type?: string;
  readonly mode?: number;
  readonly content?: string;
  readonly link?: string;
  /** What the header says, where that is not the content's length. */
  readonly size?: number;
}

/** A tar of these members with headers as they are asked for, hostile or not. */
export function tarOf(members: readonly Member[]): Buffer {
  return Buffer.concat([...members.map(blocks), Buffer.alloc(1024)]);
}

function blocks({ name, type = "0", mode = 0o644, content = "", link = "", size }: Member): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  const bytes = size ?? body.length;
  header.write(name, 0, 100);
  header.write(mode.toString(8).padStart(7, "0"), 100);
  header.write("0000000", 108);
  header.write("0000000", 116);
  if (bytes < 8 ** 11) {
    header.write(bytes.toString(8).padStart(11, "0"), 124);
  } else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write("00000000000", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
