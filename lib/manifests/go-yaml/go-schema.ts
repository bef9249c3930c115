import { CORE_SCHEMA, defineScalarTag, mergeTag, NOT_RESOLVED, YAMLException } from "js-yaml";
import { goFloat, goInteger } from "./number.ts";

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
export const goSchema = CORE_SCHEMA.withTags(boolTag, intTag, floatTag, mergeTag);

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
