/** One field of a message: its number and its bytes on the wire. */
export type ProtobufField = Uint8Array;

const [fixed64Type, bytesType, fixed32Type] = [1, 2, 5];

/** A text. An empty one is left out, as it is the default. */
export function textField(number: number, text: string): ProtobufField {
  return text === "" ? new Uint8Array() : bytesField(number, Buffer.from(text.toWellFormed()));
}

/** An embedded message with these fields. */
export function messageField(number: number, fields: readonly ProtobufField[]): ProtobufField {
  return bytesField(number, Buffer.concat(fields));
}

export function bytesField(number: number, bytes: Uint8Array): ProtobufField {
  return Buffer.concat([varint((number << 3) | bytesType), varint(bytes.length), bytes]);
}

/** A small whole number, for example of an enumeration. Zero is left out, as it is the default. */
export function numberField(number: number, value: number): ProtobufField {
  return value === 0 ? new Uint8Array() : Buffer.concat([varint(number << 3), varint(value)]);
}

export function fixed64Field(number: number, value: bigint): ProtobufField {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint((number << 3) | fixed64Type), bytes]);
}

export function fixed32Field(number: number, value: number): ProtobufField {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Buffer.concat([varint((number << 3) | fixed32Type), bytes]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.from([...bytes, rest]);
}
