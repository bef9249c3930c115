import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { z } from "zod";

/** Faults that a message names; a list may have one for each of its items. */
const maxFaults = 3;

const types: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a text",
};

/** The fault of a value, to follow the field's name in a message. For the `error` option of a schema's `safeParse`. */
export const fieldFault: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.join(" or ")}`;
    case "too_small":
      return boundText("at least", Number(issue.minimum), issue.origin);
    case "too_big":
      return boundText("at most", Number(issue.maximum), issue.origin);
    case "invalid_union":
    case "custom":
      return "has an unknown form";
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
    case "unrecognized_keys":
      return undefined;
  }
};

function boundText(bound: "at least" | "at most", count: number, origin: string): string {
  if (origin === "string") return `must have ${bound} ${count} ${count === 1 ? "character" : "characters"}`;
  if (origin === "array") return `must have ${bound} ${count} ${count === 1 ? "entry" : "entries"}`;
  return `must be ${bound} ${count}`;
}

/** The first faults that a schema found, for people: `layers[0].digest is missing; and 2 more`. */
export function fieldFaults(
  { issues }: z.ZodError,
  nameOf: (path: readonly PropertyKey[]) => string = pathText,
): string {
  const named = issues.slice(0, maxFaults).map(({ path, message }) => `${nameOf(path)} ${message}`);
  const others = issues.length - named.length;
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}

/** The path of a field as `layers[0].digest`; `it` for the value itself. */
export function pathText([field, ...inside]: readonly PropertyKey[]): string {
  if (field === undefined) return "it";
  return inside.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`),
    String(field),
  );
}

/**
 * A list of at most `max` items. A longer list is refused before its items are checked, since each bad item makes an issue and
 * a list of one megabyte would make a message of many.
 */
export function limitedList<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max, `has more than ${max} items`).pipe(z.array(item));
}

/** A mapping of at most `max` entries, for the same reason. */
export function limitedMap<Value extends z.ZodType>(value: Value, max: number) {
  return z
    .record(z.string(), z.unknown())
    .refine((entries) => Object.keys(entries).length <= max, `has more than ${max} entries`)
    .pipe(z.record(z.string(), value));
}

/** Whether a text begins with a readable certificate in PEM. If there are several certificates, only the first is checked. */
export function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem).toString();
    return true;
  } catch {
    return false;
  }
}

/** Go's error for a certificate and key that do not match; undefined for a usable pair. */
export function keyPairFault(cert: string, key: string): string | undefined {
  if (!/-----BEGIN CERTIFICATE-----/.test(cert)) return "tls: failed to find any PEM data in certificate input";
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) return "tls: failed to find any PEM data in key input";
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      // It refuses more: a damaged certificate behind the first, and keys and signatures that are too weak.
      createSecureContext({ cert, key });
      return undefined;
    }
  } catch {
    return "tls: failed to parse certificate or private key";
  }
  return "tls: private key does not match public key";
}
