/** Texts of pages under names that always mean the same text. */
export interface PageCache {
  get(name: string): string | undefined;
  put(name: string, text: string): void;
}

/** Characters kept in all: about 30,000 entries. */
const maxChars = 8_000_000;

/** The latest pages that this process has read or written: a warm process finds an unchanged inventory here. */
export function newPageCache(): PageCache {
  const texts = new Map<string, string>();
  let chars = 0;
  return {
    get: (name) => texts.get(name),
    put(name, text) {
      if (texts.has(name)) return;
      texts.set(name, text);
      chars += text.length;
      for (const [oldest, { length }] of texts) {
        if (chars <= maxChars) break;
        texts.delete(oldest);
        chars -= length;
      }
    },
  };
}
