import { asItIs, type Hole, hiddenValue, knownWords } from "../core/known-words.ts";
import { engineWords } from "./engine-words.ts";

const named = String.raw`[\w.[\]-]{1,512}\/[\w.:[\]-]{1,512}`;
const typed = String.raw`[\w.[\]-]{1,512}`;
const field = String.raw`(?:[\w.~*/-]|\[[\w.=-]{0,253}\]){1,1024}`;
/** By its ending it is plainly a file, also where a literal belongs. */
const file = String.raw`[\p{L}\p{N}._@+~/-]{1,512}\.(?:cfg|cnf|conf|crt|env|html|ini|js|json|key|lua|md|pem|properties|sh|sql|toml|tpl|txt|xml|ya?ml)`;
/** An address of a remote base is shown without a user and a query, and a path may have blanks where it ends as manifests do. */
const path = [
  String.raw`(?:[\p{L}\p{N}._+~-]{1,253}\/){0,16}(?:git::)?(?:(?:https?|ssh|git|oci|file):\/{1,3})?(?:[Gg][Ii][Tt]@)?[\w.-]+(?::[\w.~/-]*)?(?:\/[\w.~/-]*)?(?:\?[\w=&.~/-]*)?`,
  String.raw`[\p{L}\p{N}._@+~/-]{0,1024}`,
  String.raw`[\p{L}\p{N}._@+~/ -]{1,1024}\.ya?ml`,
].join("|");

const holes: Readonly<Record<string, Hole>> = {
  path: { pattern: path, show: (text) => text.replace(/\?.*$/, "?...") },
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
 * replaced by `*****`, and from the first piece on that has no known form nothing is shown. Pure.
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
  const isPath = new RegExp(`^(?:- )?path: ${file}$`, "u");
  let isTarget = false;
  const lines = config.split("\n").flatMap((line) => {
    if (isTarget && /^ {2}(?:group|version|kind|name|namespace): [\w.-]+$/.test(line)) return [line];
    isTarget = line === "target:";
    if (isTarget || isPath.test(line)) return [line];
    const name = /^(?:- )?([A-Za-z]+):/.exec(line)?.[0];
    return name === undefined ? [] : [`${name} ${hiddenValue}`];
  });
  return lines.map((line) => `${line}\n`).join("");
}
