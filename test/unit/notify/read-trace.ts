/** A message of protobuf by the numbers of its fields, in order. Numbers are as they are, and bytes are not read further. */
function fieldsOf(bytes: Uint8Array): readonly (readonly [number: number, value: Buffer | bigint])[] {
  const message = Buffer.from(bytes);
  const fields: [number, Buffer | bigint][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) fields.push([number, BigInt(varint())]);
    else if (type === 2) {
      const length = varint();
      fields.push([number, message.subarray(at, at + length)]);
      at += length;
    } else {
      fields.push([number, type === 1 ? message.readBigUInt64LE(at) : BigInt(message.readUInt32LE(at))]);
      at += type === 1 ? 8 : 4;
    }
  }
  return fields;
}

function all(bytes: Buffer, number: number): readonly Buffer[] {
  return fieldsOf(bytes).flatMap(([one, value]) => (one === number && Buffer.isBuffer(value) ? [value] : []));
}

function only(bytes: Buffer, number: number): Buffer {
  return all(bytes, number)[0] ?? Buffer.alloc(0);
}

function numberAt(bytes: Buffer, number: number): bigint | undefined {
  const [, value] = fieldsOf(bytes).find(([one]) => one === number) ?? [];
  return typeof value === "bigint" ? value : undefined;
}

function attributes(bytes: Buffer, number: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    all(bytes, number).map((pair) => [only(pair, 1).toString(), only(only(pair, 2), 1).toString()]),
  );
}

/** The body of a request for a trace, in the words of the recordings. */
export function traceOf(body: string | Uint8Array = "") {
  const resourceSpans = only(typeof body === "string" ? Buffer.from(body) : Buffer.from(body), 1);
  const scopeSpans = only(resourceSpans, 2);
  const span = only(scopeSpans, 2);
  const status = only(span, 15);
  return {
    resource: attributes(only(resourceSpans, 1), 1),
    schemaUrl: only(resourceSpans, 3).toString(),
    scope: only(only(scopeSpans, 1), 1).toString(),
    traceId: only(span, 1).toString("hex"),
    spanId: only(span, 2).toString("hex"),
    name: only(span, 5).toString(),
    kind: numberAt(span, 6),
    startTimeUnixNano: numberAt(span, 7),
    endTimeUnixNano: numberAt(span, 8),
    attributes: attributes(span, 9),
    status: { message: only(status, 2).toString(), code: numberAt(status, 3) },
    flags: numberAt(span, 16),
  };
}
