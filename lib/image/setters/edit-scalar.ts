import { SCALAR_STYLE, type ScalarEvent, type ScalarStyle } from "js-yaml";
import { staysString } from "../../manifests/go-yaml/scalar.ts";

/** Text to put in place of a part of another text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A scalar of a text; `header` is where its `|` or `>` is, if it is a block. */
export interface FoundScalar {
  readonly event: ScalarEvent;
  readonly header: number;
}

/**
 * What makes this value of a scalar: in its quotes, or its block, and plain only if every reader takes that for text. A tag that
 * makes it something else than text goes.
 */
export function editsOf(text: string, scalar: FoundScalar, value: string): readonly Edit[] {
  const { event } = scalar;
  return [...withoutOldType(text, event), ...editsOfValue(text, scalar, value)];
}

function editsOfValue(text: string, scalar: FoundScalar, value: string): readonly Edit[] {
  const { valueStart, valueEnd, style } = scalar.event;
  switch (style) {
    case SCALAR_STYLE.LITERAL_BLOCK:
    case SCALAR_STYLE.FOLDED_BLOCK:
      return editsOfBlock(text, scalar, value);
    case SCALAR_STYLE.PLAIN:
      return [{ start: valueStart, end: valueEnd, text: written(value, style) }];
    case SCALAR_STYLE.SINGLE_QUOTED:
    case SCALAR_STYLE.DOUBLE_QUOTED:
      return [{ start: valueStart - 1, end: valueEnd + 1, text: written(value, style) }];
  }
}

const oldTypes = ["int", "float", "bool", "null", "timestamp", "binary"].flatMap((type) => [
  `!!${type}`,
  `!<tag:yaml.org,2002:${type}>`,
]);

/** Flux writes `!!float 1.1.0` where a number was before, which no reader takes. */
function withoutOldType(text: string, { tagStart, tagEnd }: ScalarEvent): readonly Edit[] {
  if (tagStart === -1 || !oldTypes.includes(text.slice(tagStart, tagEnd))) return [];
  const blanks = /[ \t]*/y;
  blanks.lastIndex = tagEnd;
  const length = blanks.exec(text)?.[0].length ?? 0;
  return [{ start: tagStart, end: tagEnd + length, text: "" }];
}

/** A block of one line, which begins where the first line of the old one did. */
function editsOfBlock(text: string, { event, header }: FoundScalar, value: string): readonly Edit[] {
  const old = text.slice(event.valueStart, event.valueEnd);
  const lastLine = old.trimEnd();
  const indicators = /^[|>][-+0-9]*/.exec(text.slice(header, header + 4))?.[0] ?? "";
  const ofHeader = { start: header, end: header + indicators.length };
  if (lastLine === "") return [{ ...ofHeader, text: written(value, SCALAR_STYLE.PLAIN) }];
  const end = event.valueStart + lastLine.length;
  if (/^[!-~]([ -~]*[!-~])?$/.test(value)) {
    const indentation = /^(?:[ \t]*\r?\n)*( *)/.exec(old)?.[1] ?? "";
    return [
      { ...ofHeader, text: `${indicators.slice(0, 1)}-` },
      { start: event.valueStart, end, text: `${indentation}${value}` },
    ];
  }
  const lineBreak = /^\r?\n/.exec(text.slice(end, end + 2))?.[0].length ?? 0;
  return [
    { ...ofHeader, text: written(value, SCALAR_STYLE.PLAIN) },
    { start: event.valueStart, end: end + lineBreak, text: "" },
  ];
}

function written(value: string, style: ScalarStyle): string {
  const isPrintable = /^[ -~]*$/.test(value);
  if (style === SCALAR_STYLE.SINGLE_QUOTED && isPrintable) return `'${value.replaceAll("'", "''")}'`;
  if (style === SCALAR_STYLE.PLAIN && isPlain(value)) return value;
  return doubleQuoted(value);
}

/** Whether it is text without quotes, in a flow collection too. */
function isPlain(value: string): boolean {
  return /^[\w./][\w.:/@+-]*$/.test(value) && !value.endsWith(":") && staysString(value) === true;
}

/** JSON is YAML, if only characters that no reader breaks a line at stand as they are. */
function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
