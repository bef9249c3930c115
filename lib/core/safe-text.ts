import { cutMessage } from "./cut-text.ts";
import { hiddenValue } from "./known-words.ts";

/**
 * A text from a tenant, a server or a file that may be shown to people: in a condition, an event, a line of a log, a table or an answer.
 *
 * - Secrets whose form gives them away are hidden: private keys in PEM, identities of age, JSON Web Tokens, the password in a URL. Other
 *   secrets are hidden by the code that read them.
 * - Control characters other than tab and line feed, separators of lines, and characters that change the direction of text are shown as
 *   JSON escapes them (`\u001b`). So a name or a message cannot clear the screen, overwrite a line or look like other output. `\r\n`
 *   becomes a line feed.
 *
 * Applied twice it changes nothing more, and JSON stays the same JSON. Takes time in proportion to the text. Pure.
 */
export function safeText(text: string): string {
  return secretForms
    .reduce((masked, [form, shown]) => masked.replaceAll(form, shown), text)
    .replaceAll("\r\n", "\n")
    .replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** {@link safeText}, cut to the 32,768 bytes that a condition or an event may have. */
export function safeMessage(text: string): string {
  // Twice: what is escaped is longer, and what is cut off need not be read.
  return cutMessage(safeText(cutMessage(text)));
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * A match begins only where none has begun before, so no text is read more than once. No match goes past a quote, and in JSON none
 * takes half an escape: a line feed is `\n` there.
 */
const secretForms: readonly (readonly [form: RegExp, shown: string])[] = [
  [/(-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)(?:[^-"\\*]|\\[nrt]|-(?!----))+/g, `$1${hiddenValue}`],
  [/AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}/g, hiddenValue],
  [/(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, hiddenValue],
  // Go shows a password as `xxxxx` itself.
  [/(:\/\/[^\s/:@"\\]*:)(?!xxxxx@)[^\s/@"\\]+@/g, `$1${hiddenValue}@`],
];
