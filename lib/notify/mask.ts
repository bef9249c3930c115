import { maskSecrets } from "../manifests/secrets.ts";

/**
 * A text about a delivery, with `*****` in place of every value of the Secrets that it was made with: as it is, as a part of a URL, in base64
 * or in quotes. Flux hides the token only, and that only once everything is set up. Values of less than four characters stay.
 */
export function maskValues(text: string, values: readonly string[]): string {
  return maskSecrets(text, { manifests: [], secrets: values.flatMap(formsOf) });
}

function formsOf(value: string): readonly string[] {
  const text = value.trim();
  const own = [value, text, encodeURIComponent(text.toWellFormed())];
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return own;
  const { href, username, password, pathname, search } = new URL(text);
  // An error may name an address without its query, or without its host.
  return [...own, href, username, password, pathname, search, `${pathname}${search}`];
}
