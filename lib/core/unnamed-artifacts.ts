import { Digest } from "./digest.ts";

/** The artifacts that no source names, by digest, each with the time at which that was first seen: milliseconds since 1970. */
export type UnnamedSince = ReadonlyMap<Digest, number>;

/** The most unnamed artifacts that are remembered from one collection to the next; further ones wait for their turn. */
export const maxUnnamed = 50_000;

/** The limit for the largest text of {@link formatUnnamed}: 71 bytes of a digest, a blank, up to 16 digits, a line feed. */
export const maxUnnamedBytes = maxUnnamed * 89;

/** One line for each artifact: `<digest> <milliseconds since 1970>`. */
export function formatUnnamed(unnamed: UnnamedSince): string {
  return [...unnamed].map(([digest, since]) => `${digest} ${since}\n`).join("");
}

/** Reads what {@link formatUnnamed} has written. An invalid line is left out: that only costs a day. */
export function parseUnnamed(text: string): UnnamedSince {
  const unnamed = new Map<Digest, number>();
  for (const line of text.split("\n").slice(0, maxUnnamed)) {
    const [, named = "", since = ""] = /^(\S+) (\d{1,16})$/.exec(line) ?? [];
    const digest = Digest.safeParse(named);
    if (digest.success) unnamed.set(digest.data, Number(since));
  }
  return unnamed;
}
