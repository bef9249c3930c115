/** Cuts commits and digests, runs of 40 to 128 hexadecimal digits, to their first eight, as flux does in its tables. */
export function shortenHashes(text: string): string {
  return text.replaceAll(/(?<![0-9a-fA-F])([0-9a-fA-F]{8})[0-9a-fA-F]{32,120}(?![0-9a-fA-F])/g, "$1");
}
