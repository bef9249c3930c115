import { asItIs, type Hole, hiddenValue, knownWords } from "../core/known-words.ts";
import { conflictingObjects } from "./conflicting-objects.ts";
import { engineWords } from "./engine-words.ts";

const named = String.raw`[\w.[\]-]{1,512}\/[\w.:[\]-]{1,512}`;
const typed = String.raw`[\w.[\]-]{1,512}`;
const field = String.raw`(?:[\w.~*/-]|\[[\w.=-]{0,253}\]){1,1024}`;
/** By its ending it is plainly a file, also where a literal belongs. */
const file = String.raw`[\p{L}\p{N}._@+~/-]{1,512}\.(?:cfg|cnf|conf|crt|env|html|ini|js|json|key|lua|md|pem|properties|sh|sql|toml|tpl|txt|xml|ya?ml)`;
const pathChars = String.raw`\p{L}\p{N}._@+~/*=-`;
/** Of a generator's files, where a literal may stand by mistake: a value after a key, or one with digits, is no file by itself. */
const isPath = new RegExp(
  String.raw`^(?:(?:[\w.-]+=)?${file}|[\p{L}._@+~/*-]{1,253}|[\p{L}\p{N}_@+~/*-][\p{L}\p{N}._@+~/*-]{0,251}\.[a-z]{1,5})$`,
  "u",
);
/** An address of a remote base is shown without a user and a query, and a path may have blanks where it ends as manifests do. */
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
  // Selectors are plain words; what has digits or capitals may have got there by mistake.
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
 * A refusal of the engine as a status, an event and a log may show it. The engine quotes what it cannot use: whole patches,
 * literals of generators, values that a replacement reads. Any of these may be a secret.
 *
 * Only the forms of {@link engineWords} are passed on, with paths, kinds, names, fields and line numbers. Values in them are
 * replaced by `*****`, and from the first piece on that has no known form nothing is shown.
 *
 * What stands where a path belongs is shown as one, also the bare word `prod` among `envs`: kustomize has no other meaning for
 * it, and a message about a file that is not there is no help without its name. Among the files of a generator, and where a
 * patch has its path, that is so for names that end as files do and for words without digits only. Pure.
 */
export const safeEngineMessage: (message: string) => string = knownWords({
  words: engineWords,
  holes,
  // A literal or a patch that stands where a file belongs is quoted as one, and then as a path that is not there.
  holesAfterCut: { path: asItIs(`(?:${file})?`) },
  restHidden: '(the rest is not shown, as it may hold a secret: "kustomize build" shows it)',
});

/**
 * What a built-in transformer was given, as YAML: the names of its fields, and whole what says which objects it is for. Only
 * fields that begin a line are read, where no text of several lines can have one.
 */
function safeConfig(config: string): string {
  let isTarget = false;
  const lines = config.split("\n").flatMap((line) => {
    if (isTarget && /^ {2}(?:group|version|kind|name|namespace): [\w.-]+$/.test(line)) return [line];
    isTarget = line === "target:";
    const path = /^(?:- )?path: (.*)$/.exec(line)?.[1];
    // `Replacements:` has only a list below it.
    if (isTarget || line === "Replacements:" || (path !== undefined && isPath.test(path))) return [line];
    const name = /^(?:- )?([A-Za-z]+):/.exec(line)?.[0];
    return name === undefined ? [] : [`${name} ${hiddenValue}`];
  });
  return lines.map((line) => `${line}\n`).join("");
}
