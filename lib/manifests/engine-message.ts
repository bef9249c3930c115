import { engineWords } from "./engine-words.ts";

const hidden = "*****";
const restHidden = '(the rest is not shown, as it may hold a secret: "kustomize build" shows it)';

/** Of a longer message only so many characters are looked at: a patch in it may have megabytes. */
const maxChars = 64 * 1024;

/**
 * A refusal of the engine as a status, an event and a log may show it. The engine quotes what it cannot use: whole patches,
 * literals of generators, values that a replacement reads. Any of these may be a secret.
 *
 * Only the forms of {@link engineWords} are passed on, with paths, kinds, names, fields and line numbers. Values in them are
 * replaced by `*****`, and from the first piece on that has no known form nothing is shown. Pure.
 */
export function safeEngineMessage(message: string): string {
  const { shown, isWhole } = safeText(message.slice(0, maxChars));
  if (isWhole && message.length <= maxChars) return shown;
  return `${shown.trimEnd()} ${restHidden}`.trimStart();
}

interface SafeText {
  readonly shown: string;
  /** Whether it is shown to its end. */
  readonly isWhole: boolean;
}

function safeText(text: string): SafeText {
  let shown = "";
  for (let at = 0; at < text.length; ) {
    // A literal or a patch that stands where a file belongs is quoted as one, and then as a path that is not there.
    const piece = pieceAt(text, at, shown.includes(hidden) ? formsWithFiles : forms);
    if (piece === undefined) return { shown, isWhole: false };
    shown += piece.shown;
    if (!piece.isWhole) return { shown, isWhole: false };
    at = piece.end;
  }
  return { shown, isWhole: true };
}

/** The piece that begins here, undefined where it has no known form. */
function pieceAt(text: string, at: number, known: readonly Form[]): (SafeText & { readonly end: number }) | undefined {
  for (const { pattern, parts } of known) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const pieces = parts.map((part, index) =>
      index % 2 === 0 ? part : holes[part]?.show(match[(index + 1) / 2] ?? ""),
    );
    const shown = pieces.map((piece) => (typeof piece === "string" ? piece : (piece?.shown ?? ""))).join("");
    const isWhole = pieces.every((piece) => typeof piece !== "object" || piece.isWhole);
    return { shown, isWhole, end: at + match[0].length };
  }
  return undefined;
}

interface Hole {
  readonly pattern: string;
  /** What of it is shown. */
  readonly show: (text: string) => string | SafeText;
}

const named = String.raw`[\w.[\]-]{1,512}\/[\w.:[\]-]{1,512}`;
const typed = String.raw`[\w.[\]-]{1,512}`;
const field = String.raw`(?:[\w.~*/-]|\[[\w.=-]{0,253}\]){1,1024}`;
/** By its ending it is plainly a file, also where a literal belongs. */
const file = String.raw`[\p{L}\p{N}._@+~/-]{1,512}\.(?:cfg|cnf|conf|crt|env|html|ini|js|json|key|lua|md|pem|properties|sh|sql|toml|tpl|txt|xml|ya?ml)`;
/** A URL is shown without a user and a query, and a path may have blanks where it ends as manifests do. */
const path = [
  String.raw`(?:https?|ssh|git):\/{1,2}[\w.-]+(?::\d+)?(?:\/[\w.~/-]*)?`,
  String.raw`[\p{L}\p{N}._@+~/-]{0,1024}`,
  String.raw`[\p{L}\p{N}._@+~/ -]{1,1024}\.ya?ml`,
].join("|");

const asItIs = (pattern: string): Hole => ({ pattern, show: (text) => text });

/** What may stand in a form between its words. */
const holes: Readonly<Record<string, Hole>> = {
  path: asItIs(path),
  files: asItIs(String.raw`(?:[\w.-]+=)?${file}(?: (?:[\w.-]+=)?${file})*`),
  word: asItIs(String.raw`[\w./-]{1,253}`),
  number: asItIs(String.raw`-?\d{1,9}`),
  field: asItIs(field),
  fields: asItIs(`${field}(?: ${field})*`),
  id: asItIs(named),
  types: asItIs(`${typed}(?: ${typed})*`),
  selector: asItIs(`${named}(?::${field})?`),
  pointer: asItIs("0x[0-9a-f]+"),
  resid: asItIs(
    String.raw`resid\.ResId\{Gvk:resid\.Gvk\{Group:"[\w.-]*", Version:"\w*", Kind:"\w*", isClusterScoped:(?:true|false)\}, Name:"[\w.:-]*", Namespace:"[\w.-]*"\}`,
  ),
  variable: asItIs(String.raw`\{[\w.-]+ ${typed}(?:\/[\w.:[\]-]+)? \{[\w.[\]-]*\}\}`),
  gotype: asItIs(String.raw`[\w.[\]*{}]{1,253}`),
  jsontype: asItIs("array|bool|number|object|string"),
  meta: {
    pattern: String.raw`\{\{[\w./-]* [\w.-]*\} \{\{[\w.:-]* [\w.-]*\} map\[[^]*?\] map\[[^]*?\]\}\}`,
    show: (text) =>
      text.replace(
        /map\[([^]*?)\] map\[([^]*)\]\}\}$/,
        (_all, labels: string, annotations: string) => `map[${labels && hidden}] map[${annotations && hidden}]}}`,
      ),
  },
  quoted: { pattern: String.raw`"(?:[^"\\]|\\[^])*"`, show: safeQuoted },
  config: { pattern: String.raw`[^]*\n`, show: safeConfig },
  cut: { pattern: "[^]*?", show: () => hidden },
  cuts: { pattern: "[^]*", show: () => hidden },
  rest: { pattern: "[^]*", show: () => ({ shown: "", isWhole: false }) },
};

/** A text in Go's quotes that is a message itself. */
function safeQuoted(quoted: string): SafeText {
  const text = unquoted(quoted);
  if (text === undefined) return { shown: "", isWhole: false };
  const inner = safeText(text);
  if (inner.isWhole && inner.shown === text) return { shown: quoted, isWhole: true };
  return { shown: `${JSON.stringify(inner.shown)}`, isWhole: inner.isWhole };
}

/** Undefined where it has escapes that JSON does not have, which no form of the engine needs. */
function unquoted(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What a built-in transformer was given, as YAML: the names of its fields, and whole what says which objects it is for. Only
 * fields that begin a line are read, where no text of several lines can have one.
 */
function safeConfig(config: string): string {
  let isTarget = false;
  const lines = config.split("\n").flatMap((line) => {
    if (isTarget && /^ {2}(?:group|version|kind|name|namespace): [\w.-]+$/.test(line)) return [line];
    isTarget = line === "target:";
    if (isTarget || isPath.test(line)) return [line];
    const name = /^(?:- )?([A-Za-z]+):/.exec(line)?.[0];
    return name === undefined ? [] : [`${name} ${hidden}`];
  });
  return lines.map((line) => `${line}\n`).join("");
}
const isPath = new RegExp(`^(?:- )?path: ${file}$`, "u");

interface Form {
  readonly pattern: RegExp;
  /** Words at even places, the names of holes at odd ones. */
  readonly parts: readonly string[];
}

/** Any path is shown in the first, in the second only one that is plainly a file. */
const forms = engineWords.map((words) => formOf(words));
const formsWithFiles = engineWords.map((words) => formOf(words, { path: asItIs(`(?:${file})?`) }));

function formOf(words: string, others: Readonly<Record<string, Hole>> = {}): Form {
  const parts = words.split(new RegExp(`<(${Object.keys(holes).join("|")})>`));
  const patterns = parts.map((part, index) => {
    return index % 2 === 0
      ? part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
      : `(${(others[part] ?? holes[part])?.pattern})`;
  });
  return { pattern: new RegExp(patterns.join(""), "uy"), parts };
}
