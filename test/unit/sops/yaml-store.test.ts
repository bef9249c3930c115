import { expect, test } from "vitest";
import { atOnce } from "../../../lib/sops/steps.ts";
import { emitYaml } from "../../../lib/sops/stores/yaml-emit.ts";
import { loadYaml, maxIndicators } from "../../../lib/sops/stores/yaml-load.ts";

const rewritten = (text: string): string => emitYaml(atOnce(loadYaml(text)));

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["0777", "511"],
  ["-0o17", "-15"],
  ["0x1F", "31"],
  ["1_000", "1000"],
  ["-5", "-5"],
  ["+.inf", ".inf"],
  ["-.Inf", "-.inf"],
  [".NaN", ".nan"],
  ["!!float 3", "3"],
  ["!!binary aGk=", "hi"],
  ["!!binary /w==", "!!binary /w=="],
  ["1:30", '"1:30"'],
  ['"12"', '"12"'],
  ["'it''s ''it'' #'", "'it''s ''it'' #'"],
  [String.raw`"\x85\e\u2028"`, String.raw`"\N\e\L"`],
  ['"y"', '"y"'],
  ['"NO"', '"NO"'],
  ['"on"', '"on"'],
  ['"Off"', '"Off"'],
  ['"<<"', "!!merge <<"],
])("the value %s is printed as %s, as in go-yaml", (value, written) => {
  expect(rewritten(`a: ${value}\n`)).toBe(`a: ${written}\n`);
});

test.each([
  ["a: |-\n  x\n  y\n", "a: |-\n    x\n    y\n"],
  ["a: |+\n\n\n", "a: |4+\n\n\n"],
  ['a: "\\n"\n', "a: |4+\n\n"],
  ['a: "\\nx\\n"\n', "a: |4\n\n    x\n"],
  ['a: "  x\\n\\n"\n', "a: |4+\n      x\n\n"],
])("a multi-line text in %j is printed as %j", (text, written) => {
  expect(rewritten(text)).toBe(written);
});

test("binary data is printed in lines of 70 characters", () => {
  const long = Buffer.alloc(60, 0xff).toString("base64");
  expect(rewritten(`a: !!binary ${long}\n`)).toBe(`a: !!binary |\n    ${long.slice(0, 70)}\n    ${long.slice(70)}\n`);
});

test.each([
  [
    "# one\na: # two\n  # three\n  b: 1 # four\n  # five\n# six\n",
    "# one\n# two\na:\n    # three\n    b: 1 # four\n    # five\n# six\n",
  ],
  ["l:\n  - x # a\n  # b\n  - z\n# c\nm: 1\n", "l:\n    - x # a\n    # b\n    - z\n# c\nm: 1\n"],
  ["l:\n- 1\n# before\n- # inside\n  b: 2\n", "l:\n    - 1\n    # before\n    # inside\n    - b: 2\n"],
  ["a:\t# tab\n  b: 1\n", "# tab\na:\n    b: 1\n"],
  ["a: x#y\nb: '#z' # w\n", "a: x#y\nb: '#z' # w\n"],
])("the comments of %j stay where sops leaves them", (text, written) => {
  expect(rewritten(text)).toBe(written);
});

test("CRLF line ends and a byte order mark are dropped", () => {
  expect(rewritten("\ufeff# x\r\na: 1\r\nb: 2 # y\r\n# z\r\n")).toBe("# x\na: 1\nb: 2 # y\n# z\n");
});

test("each document has its own anchors", () => {
  expect(rewritten("a: &x 1\nb: *x\n---\na: &x 2\nb: *x\n")).toBe("a: 1\nb: 1\n---\na: 2\nb: 2\n");
  expect(() => rewritten("a: &x 1\n---\nb: *x\n")).toThrow(
    "line 3: an alias of an unknown anchor, or of one that contains it",
  );
});

test("an alias of an alias counts its content each time", () => {
  const text = "x".repeat(100_000);
  const levels = Array.from({ length: 4 }, (_, at) => `l${at + 1}: &l${at + 1} [*l${at}, *l${at}, *l${at}, *l${at}]\n`);
  expect(() => rewritten(`l0: &l0 ${text}\n${levels.join("")}`)).toThrow("excessive aliasing");
});

test("a file may have as many characters that may start a value as the limit, and no more", () => {
  // Beside them stand a colon and a line break.
  const file = (count: number): string => `a: "${"-".repeat(count - 2)}"\n`;
  expect(rewritten(file(maxIndicators)).length).toBeGreaterThan(maxIndicators);
  expect(() => rewritten(file(maxIndicators + 1))).toThrow(`more than ${maxIndicators} line breaks`);
});
