/** The longest message that the API allows in a condition. Messages of events and errors keep to it too. */
export const maxMessageBytes = 32_768;

/** The text, unless it has more than `maxBytes`: then it is cut between two characters and ends with `...`. */
export function cutText(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  // A character that is cut in half decodes to U+FFFD.
  return `${bytes
    .subarray(0, maxBytes - 3)
    .toString()
    .replace(/\uFFFD+$/, "")}...`;
}

/** {@link cutText} to {@link maxMessageBytes}. */
export function cutMessage(message: string): string {
  return cutText(message, maxMessageBytes);
}

/** `a, b, c and 2 more`: the first names of a list and the number of the others. Pure. */
export function someOf(names: readonly string[], maxNamed = 3): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}
