import { isUtf8 } from "node:buffer";
import { isJsonList, isJsonObject, type Json } from "../core/json.ts";
import { SopsFault } from "./sops-fault.ts";
import { Branch, type Scalar, SopsTime, type Value } from "./tree.ts";

/** A value of JSON in memory as a tree. */
export function branchOfJson(value: Json): Value {
  if (isJsonList(value)) return value.map(branchOfJson);
  if (!isJsonObject(value)) return value;
  return new Branch(Object.entries(value).map(([key, field]) => ({ key, value: branchOfJson(field) })));
}

/** A decrypted value as JSON, as sops prints it. Throws a {@link SopsFault} for what JSON has no form for. */
export function jsonOfScalar(value: Scalar): Json {
  if (value instanceof SopsTime) return value.text;
  if (value instanceof Uint8Array) return jsonText(value);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === "number" && !Number.isFinite(value)) throw new SopsFault("json: unsupported value of a float");
  return value;
}

/** Bytes: those of a value of the type `bytes` in base64; a text that is not UTF-8 loses what is not. */
export function jsonText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer) ? buffer.toString("base64") : buffer.toString("utf8");
}
