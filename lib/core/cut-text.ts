/** What a condition may say by its API, and the most that any text of ours says: in a status, an event or an error. */
export const maxMessageBytes = 32_768;

/** The text where it has at most so many bytes; a longer one is cut between two characters and ends with `...`. */
export function cutText(text: string, maxBytes: number): string {
  // No character has more than three bytes for each of its units.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  // Half a character at the cut would print as U+FFFD.
  return `${bytes
    .subarray(0, maxBytes - 3)
    .toString()
    .replace(/\uFFFD+$/, "")}...`;
}

/** {@link cutText} to {@link maxMessageBytes}. */
export function cutMessage(message: string): string {
  return cutText(message, maxMessageBytes);
}
