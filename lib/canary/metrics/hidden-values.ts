import { hiddenValue } from "../../core/known-words.ts";

const minHiddenChars = 4;

/** A text with `*****` in place of each value of a Secret: as it is, encoded for a URL, or as a login in base64. Values of less than four characters stay. */
export function withoutValues(text: string, secret: ReadonlyMap<string, string> | undefined): string {
  if (secret === undefined) return text;
  const login = `${secret.get("username") ?? ""}:${secret.get("password") ?? ""}`;
  const values = [...secret.values(), login].flatMap((value) => [value, value.trim()]);
  const forms = values
    .filter((value) => value.length >= minHiddenChars)
    .flatMap((value) => [value, encodeURIComponent(value.toWellFormed()), Buffer.from(value).toString("base64")]);
  // A long one first: a shorter one may be a part of it.
  const sorted = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return sorted.reduce((masked, form) => masked.replaceAll(form, hiddenValue), text);
}
