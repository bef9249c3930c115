const modulus = 65_521;

/**
 * The revision of a set of tags, as Flux's controller has it: Adler-32 of the JSON list of the tags in their order, in decimal digits.
 * JSON as Go's `json.Marshal` writes it.
 */
export function tagsRevision(tags: readonly string[]): string {
  let [a, b] = [1, 0];
  const add = (text: string): void => {
    for (const byte of Buffer.from(text)) {
      a = (a + byte) % modulus;
      b = (b + a) % modulus;
    }
  };
  for (const [index, tag] of tags.entries()) add(`${index === 0 ? "[" : ","}${quoted(tag)}`);
  add(tags.length === 0 ? "[]" : "]");
  return String(b * 65_536 + a);
}

function quoted(tag: string): string {
  return JSON.stringify(tag.toWellFormed()).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
