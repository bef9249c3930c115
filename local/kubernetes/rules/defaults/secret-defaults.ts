import type { Json, JsonObject } from "../../../../lib/core/json.ts";
import { objectOf, textOf, without } from "../json-fields.ts";

/** `stringData` is only ever written: each key becomes base64 in `data`, before anybody comes to own it. */
export function secretDefaults(secret: JsonObject): JsonObject {
  const typed = textOf(secret, "type") === "" ? { ...secret, type: "Opaque" } : secret;
  const texts = objectOf(typed, "stringData");
  if (texts === undefined) return typed;
  const encoded = Object.entries(texts).map(([key, text]) => [key, base64(text)] as const);
  const data = { ...objectOf(typed, "data"), ...Object.fromEntries(encoded) };
  const rest = without(typed, "stringData");
  return Object.keys(data).length > 0 ? { ...rest, data } : rest;
}

function base64(text: Json): string {
  return Buffer.from(typeof text === "string" ? text : "").toString("base64");
}
