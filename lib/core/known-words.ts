/** What of a text may be shown. */
export interface SafeText {
  readonly shown: string;
  /** Whether it is shown to its end. */
  readonly isWhole: boolean;
}

/** What may stand between the words of a form, as a regular expression, and what of it is shown. */
export interface Hole {
  readonly pattern: string;
  readonly show: (text: string) => string | SafeText;
}

/** Stands where a value was. */
export const hiddenValue = "*****";

/** What is shown as it is. */
export const asItIs = (pattern: string): Hole => ({ pattern, show: (text) => text });

/**
 * `<cut>` and `<cuts>` are not shown: up to the next, or the last, place where the form goes on. `<rest>` is not shown to the
 * end. `<quoted>` is a text in Go's quotes that is made of the same forms.
 */
const hidingHoles: Readonly<Record<"cut" | "cuts" | "rest", Hole>> = {
  cut: { pattern: "[^]*?", show: () => hiddenValue },
  cuts: { pattern: "[^]*", show: () => hiddenValue },
  rest: { pattern: "[^]*", show: () => ({ shown: "", isWhole: false }) },
};

/** The texts of another program that may be passed on. */
export interface KnownWords {
  /** Forms; a text is a chain of these. A form that begins as another does comes before it where it is longer. */
  readonly words: readonly string[];
  /** By the name that a form has for it, in angle brackets. */
  readonly holes: Readonly<Record<string, Hole>>;
  /** In place of those once a value was hidden: it may come again where it is not known for one. */
  readonly holesAfterCut?: Readonly<Record<string, Hole>>;
  /** Said in place of the rest from the first piece on that has no form. */
  readonly restHidden: string;
}

/** Of a longer text only so many characters are looked at: a patch in it may have megabytes. */
const maxChars = 16 * 1024;
/** And so many pieces, those in quotes too: each is compared with all forms. */
const maxPieces = 1_000;

/**
 * An allow-list of texts: the function shows of a text what has a known form, `*****` for values in it, and nothing from the
 * first unknown piece on. It reads at most 16,384 characters and 1,000 pieces. Pure.
 */
export function knownWords({ words, holes, holesAfterCut = {}, restHidden }: KnownWords): (text: string) => string {
  const all: Readonly<Record<string, Hole>> = {
    ...hidingHoles,
    quoted: { pattern: String.raw`"(?:[^"\\]|\\[^])*"`, show: (text) => safeQuoted(text, safe) },
    ...holes,
  };
  const forms = words.map((form) => formOf(form, all));
  const formsAfterCut = words.map((form) => formOf(form, { ...all, ...holesAfterCut }));
  let left = 0;
  const safe = (text: string): SafeText => {
    let shown = "";
    for (let at = 0; at < text.length; ) {
      if (left-- <= 0) return { shown, isWhole: false };
      const piece = pieceAt(text, at, shown.includes(hiddenValue) ? formsAfterCut : forms);
      if (piece === undefined) return { shown, isWhole: false };
      shown += piece.shown;
      if (!piece.isWhole) return { shown, isWhole: false };
      at = piece.end;
    }
    return { shown, isWhole: true };
  };
  return (text) => {
    left = maxPieces;
    const { shown, isWhole } = safe(text.slice(0, maxChars));
    return isWhole && text.length <= maxChars ? shown : `${shown.trimEnd()} ${restHidden}`.trimStart();
  };
}

interface Form {
  readonly pattern: RegExp;
  /** Words, and what stands between them. */
  readonly parts: readonly (string | Hole)[];
}

function formOf(words: string, holes: Readonly<Record<string, Hole>>): Form {
  const parts = words
    .split(new RegExp(`<(${Object.keys(holes).join("|")})>`))
    .map((part, index) => (index % 2 === 0 ? part : (holes[part] ?? part)));
  const patterns = parts.map((part) =>
    typeof part === "string" ? part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : `(${part.pattern})`,
  );
  return { pattern: new RegExp(patterns.join(""), "uy"), parts };
}

/** The piece that begins here, undefined where it has no known form. */
function pieceAt(text: string, at: number, forms: readonly Form[]): (SafeText & { readonly end: number }) | undefined {
  for (const { pattern, parts } of forms) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const [all, ...found] = match;
    const pieces = parts.map((part) => (typeof part === "string" ? part : part.show(found.shift() ?? "")));
    const shown = pieces.map((piece) => (typeof piece === "string" ? piece : piece.shown)).join("");
    return {
      shown,
      isWhole: pieces.every((piece) => typeof piece === "string" || piece.isWhole),
      end: at + all.length,
    };
  }
  return undefined;
}

/** Nothing of it where it has escapes that JSON does not have. */
function safeQuoted(quoted: string, safe: (text: string) => SafeText): SafeText {
  const text = unquoted(quoted);
  if (text === undefined) return { shown: "", isWhole: false };
  const inner = safe(text);
  const isSame = inner.isWhole && inner.shown === text;
  return { shown: isSame ? quoted : JSON.stringify(inner.shown), isWhole: inner.isWhole };
}

function unquoted(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
