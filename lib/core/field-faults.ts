import type { z } from "zod";

/** Of one value: each bad item of a list has some. */
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

/** What is wrong with a value, after the field's name: the `error` of a schema's `safeParse`. */
export const fieldFault: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.join(" or ")}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "invalid_union":
    case "custom":
      return "has an unknown form";
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
    case "too_big":
    case "unrecognized_keys":
      return undefined;
  }
};

/** The first few of what a schema found, for people: `layers[0].digest is missing; and 2 more`. */
export function fieldFaults(
  { issues }: z.ZodError,
  nameOf: (path: readonly PropertyKey[]) => string = pathText,
): string {
  const told = issues.slice(0, maxFaults).map(({ path, message }) => `${nameOf(path)} ${message}`);
  const others = issues.length - told.length;
  return [...told, ...(others > 0 ? [`and ${others} more`] : [])].join("; ");
}

/** `layers[0].digest`; `it` for the value itself. */
export function pathText([field, ...inside]: readonly PropertyKey[]): string {
  if (field === undefined) return "it";
  return inside.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`),
    String(field),
  );
}
