import { someOf } from "../core/cut-text.ts";
import type { JsonObject } from "../core/json.ts";
import { hiddenValue } from "../core/known-words.ts";
import { pathTo, type ValueLeaf, valueLeaves } from "./value-origins.ts";
import { isElsewhere, type NamedLayer, originOf } from "./values-layers.ts";

/** The values that a schema has refused, and where they come from. */
export interface RefusedValues {
  /** The name of the chart; other names in the message are those of subcharts. */
  readonly chart: string;
  readonly namespace: string;
  readonly merged: JsonObject;
  readonly layers: readonly NamedLayer[];
  /** Whether the values of the former release are kept (`upgrade.preserveValues`): they may come from a Secret. */
  readonly keepsFormer: boolean;
}

const beginning = "values don't meet the specifications of the schema(s) in the following chart(s):\n";
/** Lines that are read and shown: each is looked up among all values. */
const maxFaults = 100;

/** Whether a message of Helm says that values do not fit the schemas of a chart. */
export function isSchemaFault(message: string): boolean {
  return message.startsWith(beginning);
}

/**
 * Helm's message about values that do not fit the schemas of a chart, where each line says also where the value comes from. What Helm
 * quotes of a value that may come from a Secret is hidden. Pure.
 */
export function explainSchemaFault(message: string, refused: RefusedValues): string {
  const explain = explaining(refused);
  let within: readonly string[] = [];
  const all = message.slice(beginning.length).trimEnd().split("\n");
  const lines = all.slice(0, maxFaults).flatMap((line): readonly string[] => {
    const heading = /^([\w.-]+):$/.exec(line)?.[1];
    if (heading !== undefined) within = heading === refused.chart ? [] : [heading];
    return heading === undefined ? explain(line, within) : [line];
  });
  const more = all.length > maxFaults ? [`... and ${all.length - maxFaults} more`] : [];
  return `${beginning}${[...lines, ...more].join("\n")}`;
}

function explaining(refused: RefusedValues): (line: string, within: readonly string[]) => readonly string[] {
  const { keepsFormer, layers, merged, namespace } = refused;
  const leaves = valueLeaves(merged, layers);
  const hasSecrets = keepsFormer || layers.some(isSecret);
  const hidesPaths = layers.some((layer, place) => isSecret(layer) && setsElsewhere(layer, place, leaves));
  const secret = leaves.filter((leaf) =>
    leaf.layers.some((place) => layers[place] !== undefined && isSecret(layers[place])),
  );
  /** Whether a Secret sets a value at this path of any subchart. */
  const mayBeOf = (tokens: readonly string[]): boolean => {
    // Without values to look at, an index is written as a key.
    const path = `.${pathTo(tokens, {})}`;
    return secret.some((leaf) => `.${leaf.path.replaceAll(/\[(\d+)\]/g, ".$1")}`.includes(path));
  };
  return (line, within) => {
    const [, indent = "", pointer, text = ""] = /^( *)- at '((?:[^'\\]|\\.)*)': (.*)$/.exec(line) ?? [];
    if (pointer === undefined) return hasSecrets && !isAboutNoValue.test(line) ? [] : [line];
    const at = tokensOf(pointer);
    // Helm copies global values into each subchart.
    const whole = at && (at[0] === "global" ? at : [...within, ...at]);
    const origins = whole === undefined ? [] : originsOf(whole, text, leaves, refused);
    // Helm names a subchart without those above it, so a line about one may be about another of the same name.
    const isUnsure = keepsFormer || (at !== undefined && mayBeOf(at));
    const isHidden = hasSecrets && (isUnsure || origins.length === 0 || origins.some(isSecret));
    const shownPath = isHidden && hidesPaths ? hiddenValue : pointer;
    const shownText = isHidden ? withoutValue(text, hidesPaths) : text;
    const from = isAboutOthers.test(text) ? "" : ` (from ${namesOf(origins, namespace, keepsFormer)})`;
    return [`${indent}- at '${shownPath}': ${shownText}${from}`];
  };
}

function isSecret({ reference }: NamedLayer): boolean {
  return reference?.kind === "Secret";
}

/** Whether the text of a Secret names keys, which are then as secret as the text. */
function setsElsewhere({ reference }: NamedLayer, place: number, leaves: readonly ValueLeaf[]): boolean {
  return leaves.some(
    ({ layers, path }) => layers.includes(place) && reference !== undefined && isElsewhere(path, reference),
  );
}

const isAboutNoValue = /^(?:invalid type for values: |failing loading )/;
/** The value itself is not at fault: others are, in lines of their own, or it lacks something. */
const isAboutOthers = /^(?:validation failed$|missing propert|'(?:allOf|anyOf|oneOf)' failed)/;
const additional = /^additional properties (.*) not allowed$/;
const quoted = /'((?:[^'\\]|\\.)*)'/g;

/** The keys and indexes of a JSON pointer in Go's quotes; undefined if it has characters that only Go escapes so. */
function tokensOf(pointer: string): readonly string[] | undefined {
  const text = unquoted(pointer);
  if (text === undefined) return undefined;
  return text
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function unquoted(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(`"${text.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`);
    return typeof parsed === "string" ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The layers of the values at or below this place; of those that are not allowed, if the message is about them. */
function originsOf(
  tokens: readonly string[],
  text: string,
  leaves: readonly ValueLeaf[],
  { layers, merged }: RefusedValues,
): readonly NamedLayer[] {
  const names = [...(additional.exec(text)?.[1] ?? "").matchAll(quoted)].flatMap(
    ([, name = ""]) => unquoted(name) ?? [],
  );
  const paths = names.length === 0 ? [pathTo(tokens, merged)] : names.map((name) => pathTo([...tokens, name], merged));
  const isBelow = (path: string): boolean =>
    paths.some((at) => at === "" || path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));
  const places = new Set(leaves.filter(({ path }) => isBelow(path)).flatMap((leaf) => leaf.layers));
  return layers.filter((_, place) => places.has(place));
}

function namesOf(origins: readonly NamedLayer[], namespace: string, keepsFormer: boolean): string {
  if (origins.length === 0) return keepsFormer ? "the former release or the chart" : "the chart";
  return someOf(origins.map((layer) => (layer.reference === undefined ? "spec.values" : originOf(layer, namespace))));
}

/** Forms of the validator that quote nothing but the schema, and those that quote keys of the value. */
const ofSchema =
  /^(?:got \w+, want [\w ]+|missing propert.*|validation failed|'\w+' failed(?:, [\w ,]+)?|false schema|value must be .*)$/;
const ofKeys =
  /^(?:additional properties .* not allowed|invalid propertyName .*|properties .* required, if .* exists)$/;
const withValue: readonly (readonly [RegExp, string])[] = [
  [/^'(?:[^'\\]|\\.)*' does not match pattern ('.*')$/, `${hiddenValue} does not match pattern $1`],
  [/^'(?:[^'\\]|\\.)*' is not valid ([\w-]+): .*$/, `${hiddenValue} is not valid $1`],
  [/^(\w+): got \S+, want (\S+)$/, `$1: got ${hiddenValue}, want $2`],
];

function withoutValue(text: string, hidesPaths: boolean): string {
  if (ofSchema.test(text) || (!hidesPaths && ofKeys.test(text))) return text;
  const [form, shown] = withValue.find(([each]) => each.test(text)) ?? [];
  return form === undefined || shown === undefined ? hiddenValue : text.replace(form, shown);
}
