/** The part of a text that may be shown. */
export interface SafeText {
  readonly shown: string;
  /** Whether `shown` reaches to the end of the text. */
  readonly isWhole: boolean;
}

/** A variable part of a form: a regular expression for it, and how a match is shown. */
export interface Hole {
  readonly pattern: string;
  readonly show: (text: string) => string | SafeText;
}

/** Shown in place of a value. */
export const hiddenValue = "*****";

/** A hole whose match is shown unchanged. */
export const asItIs = (pattern: string): Hole => ({ pattern, show: (text) => text });

/**
 * Holes of every list of forms. `<cut>` hides the text up to the next place where the form continues, `<cuts>` up to the last
 * such place, `<rest>` up to the end. `<quoted>` is a text in Go's quotes that itself consists of the same forms.
 */
const hidingHoles: Readonly<Record<"cut" | "cuts" | "rest", Hole>> = {
  cut: { pattern: "[^]*?", show: () => hiddenValue },
  cuts: { pattern: "[^]*", show: () => hiddenValue },
  rest: { pattern: "[^]*", show: () => ({ shown: "", isWhole: false }) },
};

/** The texts of another program that may be shown. */
export interface KnownWords {
  /** Forms; a text is a sequence of these. If two forms have the same beginning, the longer one comes first. */
  readonly words: readonly string[];
  /** By the name that stands in angle brackets in the forms. */
  readonly holes: Readonly<Record<string, Hole>>;
  /** Replaces `holes` once a value was hidden, since the same value may follow in a place where it is not recognised. */
  readonly holesAfterCut?: Readonly<Record<string, Hole>>;
  /** Shown in place of the rest of a text, from the first piece on that no form matches. */
  readonly restHidden: string;
}

/** Characters of a text that are read: a patch in it may have megabytes. */
const maxChars = 16 * 1024;
/** Pieces of a text that are read, those in quotes included: each is compared with all forms. */
const maxPieces = 1_000;

/**
 * An allow-list of texts. The function shows the parts of a text that have a known form, with `*****` for the values in them; from the
 * first unknown part on it shows nothing. It reads at most 16,384 characters and 1,000 pieces. Pure.
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
  /** Fixed words and the holes between them. */
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

/** The piece that begins at `at`; undefined if no form matches. */
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

/** A quoted text with escapes that JSON does not know is hidden as a whole. */
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
