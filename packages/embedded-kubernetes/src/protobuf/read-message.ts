import type { Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";

/** How a field is written: a scalar, a message, or a map whose values are one of these. */
export type FieldType =
  | "string"
  | "bytes"
  | "integer"
  | "boolean"
  /** `metav1.Time`: seconds and nanoseconds. */
  | "time"
  | { readonly message: Message }
  | { readonly map: "string" | "bytes" };

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly isList?: boolean;
}

/** The fields of a message by their numbers, from the `generated.proto` of its API group. */
export type Message = Readonly<Record<number, Field>>;

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** The message as the JSON of its Go type. Unknown fields are passed over. @throws {RangeError} for what is no message */
export function readMessage(bytes: Buffer, message: Message): Record<string, Json> {
  const result: Record<string, Json> = {};
  const lists = new Map<string, Json[]>();
  const maps = new Map<string, Record<string, Json>>();
  for (const { number, value } of fieldsOf(bytes)) {
    const field = message[number];
    if (field === undefined) continue;
    const { name, type, isList = false } = field;
    if (typeof type === "object" && "map" in type) {
      const entry = readMessage(asBytes(value), {
        1: { name: "key", type: "string" },
        2: { name: "value", type: type.map },
      });
      const map = maps.get(name) ?? {};
      maps.set(name, { ...map, [plainText(entry["key"])]: entry["value"] ?? "" });
      result[name] = maps.get(name) ?? {};
    } else if (isList) {
      const list = lists.get(name) ?? [];
      lists.set(name, [...list, readValue(value, type)]);
      result[name] = lists.get(name) ?? [];
    } else {
      result[name] = readValue(value, type);
    }
  }
  return result;
}

function readValue(value: Buffer | number, type: Exclude<FieldType, { readonly map: unknown }>): Json {
  if (type === "integer") return typeof value === "number" ? value : 0;
  if (type === "boolean") return value !== 0;
  const bytes = asBytes(value);
  if (type === "string") return bytes.toString();
  if (type === "bytes") return bytes.toString("base64");
  if (type === "time") return timeOf(bytes);
  return readMessage(bytes, type.message);
}

/** An empty message is the zero time, which JSON says as null. */
function timeOf(bytes: Buffer): Json {
  const { seconds } = readMessage(bytes, { 1: { name: "seconds", type: "integer" } });
  return typeof seconds === "number" ? `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z` : null;
}

function asBytes(value: Buffer | number): Buffer {
  return typeof value === "number" ? Buffer.alloc(0) : value;
}

function* fieldsOf(bytes: Buffer): Generator<{ readonly number: number; readonly value: Buffer | number }> {
  const reader: Reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const tag = readVarint(reader);
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        yield { number, value: readVarint(reader) };
        break;
      case 1:
        yield { number, value: take(reader, 8) };
        break;
      case 2:
        yield { number, value: take(reader, readVarint(reader)) };
        break;
      case 5:
        yield { number, value: take(reader, 4) };
        break;
      default:
        throw new RangeError("the body is no protobuf message");
    }
  }
}

function take(reader: Reader, length: number): Buffer {
  const end = reader.at + length;
  if (end > reader.bytes.length) throw new RangeError("the protobuf message breaks off");
  const part = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return part;
}

/** Negative numbers take all ten bytes; beyond 2^53 precision does not matter here. */
function readVarint(reader: Reader): number {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.bytes[reader.at];
    if (byte === undefined) throw new RangeError("the protobuf message breaks off");
    reader.at += 1;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return Number(BigInt.asIntN(64, value));
  }
  throw new RangeError("the body is no protobuf message");
}
