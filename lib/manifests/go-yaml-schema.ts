import { CORE_SCHEMA, defineScalarTag, mergeTag, NOT_RESOLVED } from "js-yaml";

const words = {
  true: /^(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/,
  false: /^(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
};
const boolTag = defineScalarTag("tag:yaml.org,2002:bool", {
  implicit: true,
  resolve: (source) => (words.true.test(source) ? true : words.false.test(source) ? false : NOT_RESOLVED),
  identify: (value) => typeof value === "boolean",
});
const intTag = defineScalarTag("tag:yaml.org,2002:int", {
  implicit: true,
  resolve: goInteger,
  identify: () => false,
});

/** go-yaml v2's reading of plain scalars: neither YAML 1.1's nor 1.2's. */
export const goSchema = CORE_SCHEMA.withTags(boolTag, intTag, mergeTag);

/** A `bigint` where a number would lose digits, so that the caller can refuse it. */
function goInteger(source: string): number | bigint | typeof NOT_RESOLVED {
  if (!/^[-+0-9]/.test(source)) return NOT_RESOLVED;
  const digits = source.replaceAll("_", "");
  const match = /^([-+]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))$/.exec(digits);
  if (match === null) return NOT_RESOLVED;
  const [, sign, hex, binary, octal, decimal] = match;
  const prefixed = [hex && `0x${hex}`, binary && `0b${binary}`, octal && `0o${octal}`, decimal].find((text) => text);
  const value = BigInt(prefixed ?? "0") * (sign === "-" ? -1n : 1n);
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
