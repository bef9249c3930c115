import {
  CORE_SCHEMA,
  constructFromEvents,
  defineScalarTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { goFloat, goInteger } from "./go-yaml/number.ts";
import { maxObjects, tooManyObjects, yamlFault } from "./read-failure.ts";

/** Deeper than any object that the API server accepts. */
export const maxDepth = 200;

/** The objects in the output of the engine, or why Sluice refuses them. */
export type ParsedOutput =
  | { readonly kind: "parsed"; readonly objects: readonly JsonObject[] }
  | { readonly kind: "unacceptable"; readonly why: string };

/** @param what is read, for the message of what is no YAML */
export function parseOutput(text: string, what = "what kustomize printed"): ParsedOutput {
  try {
    const objects: JsonObject[] = [];
    // kustomize prints no aliases: it has expanded those that it read.
    const options = { source: text, schema: goSchema, maxAliases: 0 };
    for (const value of constructFromEvents(parseEvents(text, { maxDepth }), options)) {
      if (value === null) continue;
      if (objects.length >= maxObjects) return { kind: "unacceptable", why: tooManyObjects };
      if (isJsonObject(value)) objects.push(value);
    }
    return { kind: "parsed", objects };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { kind: "unacceptable", why: `${what} cannot be read: ${yamlFault(error)}` };
  }
}

const booleans = {
  true: /^(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/,
  false: /^(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
};
const boolTag = defineScalarTag("tag:yaml.org,2002:bool", {
  implicit: true,
  resolve: (source) => (booleans.true.test(source) ? true : booleans.false.test(source) ? false : NOT_RESOLVED),
  identify: (value) => typeof value === "boolean",
});
const intTag = defineScalarTag("tag:yaml.org,2002:int", {
  implicit: true,
  resolve: readInteger,
  identify: () => false,
});

const floatTag = defineScalarTag("tag:yaml.org,2002:float", {
  implicit: true,
  resolve: readFloat,
  identify: () => false,
});

/** The rules of go-yaml v2 for plain scalars, which are neither YAML 1.1's nor 1.2's. */
const goSchema = CORE_SCHEMA.withTags(boolTag, intTag, floatTag, mergeTag);

function readInteger(source: string): number | bigint | typeof NOT_RESOLVED {
  if (!/^[-+0-9]/.test(source)) return NOT_RESOLVED;
  const digits = source.replaceAll("_", "");
  const match = /^([-+]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))$/.exec(digits);
  if (match === null) return NOT_RESOLVED;
  const [, sign, hex, binary, octal, decimal] = match;
  const prefixed = [hex && `0x${hex}`, binary && `0b${binary}`, octal && `0o${octal}`, decimal].find((text) => text);
  return goInteger(BigInt(prefixed ?? "0") * (sign === "-" ? -1n : 1n));
}

function readFloat(source: string): number | bigint | typeof NOT_RESOLVED {
  if (/^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/.test(source)) {
    throw new YAMLException("a number is .inf or .nan, which JSON does not have");
  }
  // go-yaml looks at the first character before it leaves out underscores.
  const digits = /^[-+0-9]/.test(source) ? source.replaceAll("_", "") : source;
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(digits)) return NOT_RESOLVED;
  const value = Number(digits);
  return Number.isFinite(value) ? goFloat(value) : NOT_RESOLVED;
}
