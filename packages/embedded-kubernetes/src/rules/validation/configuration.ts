import { forbidden, invalidValue, required, tooLong } from "../../core/field-errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../../core/json.ts";
import { objectOf, textOf } from "../../core/json-fields.ts";
import { type Errors, named, none } from "./checks.ts";
import { configMapKey } from "./name-rules.ts";

const maxBytes = 1024 * 1024;

export function configMapErrors(map: JsonObject): Errors {
  const data = objectOf(map, "data") ?? {};
  const binaryData = objectOf(map, "binaryData") ?? {};
  const bytes = sizeOf(data) + sizeOf(binaryData) * 0.75;
  return [
    ...keys(data).flatMap((key) => [
      ...named(`data[${key}]`, key, configMapKey),
      ...(binaryData[key] === undefined
        ? none
        : [invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData")]),
    ]),
    ...keys(binaryData).flatMap((key) => named(`binaryData[${key}]`, key, configMapKey)),
    ...(bytes > maxBytes ? [tooLong("[]", maxBytes)] : none),
  ];
}

/** What each type of Secret must hold. */
const secretTypes: Readonly<Record<string, (secret: JsonObject) => Errors>> = {
  "kubernetes.io/service-account-token": (secret) =>
    textOf(objectOf(objectOf(secret, "metadata"), "annotations"), "kubernetes.io/service-account.name") === ""
      ? [required("metadata.annotations[kubernetes.io/service-account.name]")]
      : none,
  "kubernetes.io/dockercfg": (secret) => jsonKey(secret, ".dockercfg"),
  "kubernetes.io/dockerconfigjson": (secret) => jsonKey(secret, ".dockerconfigjson"),
  "kubernetes.io/basic-auth": (secret) =>
    has(secret, "username") || has(secret, "password")
      ? none
      : [required("data[username]"), required("data[password]")],
  "kubernetes.io/ssh-auth": (secret) => {
    const key = textOf(objectOf(secret, "data"), "ssh-privatekey");
    return key === "" ? [required("data[ssh-privatekey]")] : none;
  },
  "kubernetes.io/tls": (secret) =>
    ["tls.crt", "tls.key"].filter((key) => !has(secret, key)).map((key) => required(`data[${key}]`)),
};

export function secretErrors(secret: JsonObject): Errors {
  const data = objectOf(secret, "data") ?? {};
  return [
    ...keys(data).flatMap((key) => named(`data[${key}]`, key, configMapKey)),
    ...(sizeOf(data) * 0.75 > maxBytes ? [tooLong("data", maxBytes)] : none),
    ...(secretTypes[textOf(secret, "type")]?.(secret) ?? none),
  ];
}

function has(secret: JsonObject, key: string): boolean {
  return objectOf(secret, "data")?.[key] !== undefined;
}

function jsonKey(secret: JsonObject, key: string): Errors {
  if (!has(secret, key)) return [required(`data[${key}]`)];
  try {
    JSON.parse(Buffer.from(textOf(objectOf(secret, "data"), key), "base64").toString());
    return none;
  } catch (error) {
    // The content stays out of the answer; only that it is no JSON is said.
    if (!(error instanceof SyntaxError)) throw error;
    return [
      invalidValue(`data[${key}]`, "<secret contents redacted>", jsonProblem(textOf(objectOf(secret, "data"), key))),
    ];
  }
}

/** Go's words for the two usual cases: nothing there, or text that is not JSON from its first letter on. */
function jsonProblem(base64: string): string {
  const text = Buffer.from(base64, "base64").toString().trim();
  return text === ""
    ? "unexpected end of JSON input"
    : `invalid character '${text.charAt(0)}' looking for beginning of value`;
}

/** Once `immutable` is set it stays, and so does what it protects. */
export function immutableErrors(object: JsonObject, old: JsonObject, fields: readonly string[]): Errors {
  if (old["immutable"] !== true) return none;
  const text = "field is immutable when `immutable` is set";
  return [
    ...(object["immutable"] === true ? none : [forbidden("immutable", text)]),
    ...fields
      .filter((field) => canonicalJson(orEmpty(object[field])) !== canonicalJson(orEmpty(old[field])))
      .map((field) => forbidden(field, text)),
  ];
}

function orEmpty(value: Json | undefined): Json {
  return value ?? {};
}

function keys(data: JsonObject): readonly string[] {
  return Object.keys(data).toSorted();
}

function sizeOf(data: JsonObject): number {
  return Object.values(data).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? Buffer.byteLength(value) : 0),
    0,
  );
}
