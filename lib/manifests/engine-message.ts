import { isJsonObject, type Json } from "../core/json.ts";
import { asItIs, type Hole, hiddenValue, knownWords, type SafeText } from "../core/known-words.ts";
import { subject } from "../core/object-ref.ts";
import { engineWords } from "./engine-words.ts";

const named = String.raw`[\w.[\]-]{1,512}\/[\w.:[\]-]{1,512}`;
const typed = String.raw`[\w.[\]-]{1,512}`;
const field = String.raw`(?:[\w.~*/-]|\[[\w.=-]{0,253}\]){1,1024}`;
/** A text whose ending shows that it is a file, even if it stands where a literal belongs. */
const file = String.raw`[\p{L}\p{N}._@+~/-]{1,512}\.(?:cfg|cnf|conf|crt|env|html|ini|js|json|key|lua|md|pem|properties|sh|sql|toml|tpl|txt|xml|ya?ml)`;
const pathChars = String.raw`\p{L}\p{N}._@+~/*=-`;
/** For the files of a generator, where a literal may stand by mistake: a text after a key, or one with digits, is not taken for a file unless its ending is one. */
const isPath = new RegExp(
  String.raw`^(?:(?:[\w.-]+=)?${file}|[\p{L}._@+~/*-]{1,253}|[\p{L}\p{N}_@+~/*-][\p{L}\p{N}._@+~/*-]{0,251}\.[a-z]{1,5})$`,
  "u",
);
/** The name of a file of a generator as it may be shown. */
export function shownSource(name: string): string {
  return isPath.test(name) ? name : hiddenValue;
}

/** The address of a remote base is shown without user and query. A path may have blanks if it ends as manifests do. */
const path = [
  String.raw`(?:[\p{L}\p{N}._+~-]{1,253}\/){0,16}(?:git::)?(?:(?:https?|ssh|git|oci|file):\/{1,3})?(?:[Gg][Ii][Tt]@)?[\w.-]+(?::[\w.~/-]*)?(?:\/[\w.~/-]*)?(?:\?[\w=&.~/-]*)?`,
  String.raw`[\p{L}\p{N}._@+~/*-]{0,1024}`,
  String.raw`[\p{L}\p{N}._@+~/ -]{1,1024}\.ya?ml`,
].join("|");

const holes: Readonly<Record<string, Hole>> = {
  path: { pattern: path, show: (text) => text.replace(/\?.*$/, "?...") },
  files: {
    pattern: `[${pathChars}]{1,512}(?: [${pathChars}]{1,512})*`,
    show: (text) => (text.split(" ").every((one) => isPath.test(one)) ? text : hiddenValue),
  },
  unshown: { pattern: "[^'\\n]{0,1024}?", show: () => hiddenValue },
  objects: { pattern: String.raw`\[\{[^]*`, show: conflictingObjects },
  // Selectors are plain words; a text with digits or capitals may stand there by mistake.
  regexp: asItIs(String.raw`[a-z.^$()[\]{}?:*+|\\-]{0,253}`),
  regexpfault: asItIs(
    "invalid character class(?: range)?|invalid escape sequence|invalid named capture|invalid nested repetition operator|" +
      "invalid or unsupported Perl syntax|invalid repeat count|invalid UTF-8|missing closing [)\\]]|" +
      "missing argument to repetition operator|trailing backslash at end of expression|unexpected \\)|" +
      "expression nests too deeply|expression too large",
  ),
  token: asItIs("[a-z=!,()<>-]{0,63}"),
  tokens: asItIs(
    [
      "identifier after ','",
      "identifier",
      "!, identifier, or 'end of string'",
      "',' or 'end of string'",
      "',' or '\\)'",
      "',', or identifier",
      "',', '\\)' or identifier",
      "'\\)'",
      "in, notin, =, ==, !=, gt, lt",
      "'=', '!=', '==', 'in', '?notin'",
    ].join("|"),
  ),
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
    pattern: String.raw`\{\{[\w./-]* [\w.-]*\} \{\{[\w.:-]* [\w.-]*\} map\[[^]{0,4096}?\] map\[[^]{0,4096}?\]\}\}`,
    show: (text) =>
      text.replace(
        /map\[([^]*?)\] map\[([^]*)\]\}\}$/,
        (_all, labels: string, annotations: string) =>
          `map[${labels && hiddenValue}] map[${annotations && hiddenValue}]}}`,
      ),
  },
  config: { pattern: String.raw`[^]*\n`, show: safeConfig },
};

/**
 * A message of the engine as a status, an event and a log may show it. The engine quotes what it cannot use: whole patches,
 * literals of generators, values that a replacement reads. Any of these may be a secret.
 *
 * Only texts of the forms in {@link engineWords} are shown, with their paths, kinds, names, fields and line numbers. Values in
 * them are replaced by `*****`. From the first piece on that has no known form nothing is shown.
 *
 * A text in the place of a path is shown, even the bare word `prod` among `envs`: kustomize reads it as a path, and a message
 * about a missing file is of no use without its name. Among the files of a generator, and in the path of a patch, only names
 * that end as files do and words without digits are shown. Pure.
 */
export const safeEngineMessage: (message: string) => string = knownWords({
  words: engineWords,
  holes,
  // A literal or a patch in the place of a file is quoted twice: as it is, and then as the path of a missing file.
  holesAfterCut: { path: asItIs(`(?:${file})?`) },
  restHidden: '(the rest is not shown, as it may hold a secret: "kustomize build" shows it)',
});

/** What kustomize refuses in a build, and what is possible instead. Its own texts say neither, or name a flag that no user of Flux can set. */
const mends: readonly (readonly [refusal: string, mend: string])[] = [
  [
    "must specify --enable-helm",
    "; Sluice runs no Helm in a build: use a HelmRelease, or render the chart in CI and commit the manifests",
  ],
  [
    "external plugins disabled",
    "; Sluice runs no plugins in a build: run them in CI and commit the manifests that they make",
  ],
  ["fs-security-constraint ", "; a build reads no files outside of the artifact: put a copy into it"],
];

/** What follows the message of a refused build; empty where the message says it itself. Pure. */
export function mendOf(message: string): string {
  return mends.find(([refusal]) => message.includes(refusal))?.[1] ?? "";
}

/**
 * The configuration of a built-in transformer, as YAML: the names of its fields, and its target with the values. Only fields at
 * the beginning of a line are read, where no line of a longer text can stand.
 */
function safeConfig(config: string): string {
  let isTarget = false;
  const lines = config.split("\n").flatMap((line) => {
    if (isTarget && /^ {2}(?:group|version|kind|name|namespace): [\w.-]+$/.test(line)) return [line];
    isTarget = line === "target:";
    const path = /^(?:- )?path: (.*)$/.exec(line)?.[1];
    // Only a list stands below `Replacements:`.
    if (isTarget || line === "{}" || line === "Replacements:" || (path !== undefined && isPath.test(path)))
      return [line];
    const name = /^(?:- )?([A-Za-z]+):/.exec(line)?.[0];
    return name === undefined ? [] : [`${name} ${hiddenValue}`];
  });
  return lines.map((line) => `${line}\n`).join("");
}

const previously = "internal.config.kubernetes.io/previousNamespaces";

/**
 * A list of objects that Go has printed, `[{...} {...}]`, with only their kinds and names: `[ConfigMap/apps/a (of namespace x)]`.
 * Nothing is shown from the first item on that is not a JSON object. Pure.
 */
function conflictingObjects(printed: string): SafeText {
  const shown: string[] = [];
  for (let at = 1; ; ) {
    const end = endOfObject(printed, at);
    const id = end === undefined ? undefined : idOf(printed.slice(at, end));
    if (end === undefined || id === undefined) return { shown: `[${shown.join(" ")}`, isWhole: false };
    shown.push(id);
    if (printed.slice(end) === "]") return { shown: `[${shown.join(" ")}]`, isWhole: true };
    at = end + 1;
  }
}

/** The end of the object that begins at `from`; braces in strings do not count. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  const marks = /"(?:[^"\\]|\\[^])*"|["{}]/g;
  marks.lastIndex = from;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    // A string without an end: the rest cannot be parsed.
    if (mark[0] === '"') return undefined;
    if (mark[0] === "{") depth += 1;
    if (mark[0] === "}") depth -= 1;
    if (depth <= 0) return marks.lastIndex;
  }
  return undefined;
}

function idOf(text: string): string | undefined {
  const { kind, metadata } = fieldsOf(text) ?? {};
  const { name, namespace = "", annotations = {} } = isJsonObject(metadata) ? metadata : {};
  if (!isPlain(kind) || !isPlain(name) || !isPlain(namespace)) return undefined;
  const before = isJsonObject(annotations) ? annotations[previously] : undefined;
  return `${subject({ kind, namespace, name })}${isPlain(before) && before !== "" ? ` (of namespace ${before})` : ""}`;
}

function fieldsOf(text: string): { readonly [field: string]: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPlain(value: Json | undefined): value is string {
  return typeof value === "string" && /^[\w.:,-]{0,512}$/.test(value);
}
