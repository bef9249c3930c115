import fc from "fast-check";
import type { DialectCase } from "../unit/sources/our-verdict.ts";

const few = fc.integer({ min: 0, max: 3 }).map(String);
const oddNumber = fc.constantFrom("12", "007", "99999999999999999999", "18446744073709551615", "18446744073709551616");
const oddPre = fc.constantFrom(
  "-alpha.beta",
  "-1.2",
  "-01",
  "-a-b",
  "-",
  "-rc..1",
  "-é",
  "-alpha+build",
  "+7",
  "+a.b-c",
  "+",
  "+01",
);

const soundPart = fc.oneof({ weight: 6, arbitrary: few }, { weight: 1, arbitrary: fc.constantFrom("x", "X", "*") });
const soundBound = fc
  .tuple(
    fc.constantFrom("", "", "", "v"),
    fc.array(soundPart, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "", "", "-0", "-rc.1"),
  )
  .map(([v, parts, pre]) => `${v}${parts.join(".")}${pre}`);
const part = fc.oneof(soundPart, oddNumber, fc.constantFrom("xx", "1x", "x|1"));
const oddBound = fc
  .tuple(fc.constantFrom("", "v", "V", "vv"), fc.array(part, { minLength: 1, maxLength: 4 }), oddPre)
  .map(([v, parts, pre]) => `${v}${parts.join(".")}${pre}`);

const operator = fc.constantFrom("", "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^");
const oddOperator = fc.constantFrom("==", "><", "! =", "-");
const space = fc.constantFrom("", "", "", " ", "  ", "\t");
const between = fc.constantFrom(" ", ",", ", ", " , ", " - ", " || ", "||", "  ");
const oddBetween = fc.constantFrom("", " | ", "-", "&&", "\u00a0", " -", "- ");

function rangesOf(...[ofOperator, ofBound, ofBetween]: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  const comparator = fc.tuple(ofOperator ?? operator, space, ofBound ?? soundBound).map((texts) => texts.join(""));
  return fc
    .tuple(comparator, fc.array(fc.tuple(ofBetween ?? between, comparator), { maxLength: 3 }))
    .map(([first, others]) => `${first}${others.flat().join("")}`);
}

const soundRange = rangesOf(operator, soundBound, between);
const oddRange = rangesOf(
  fc.oneof({ weight: 9, arbitrary: operator }, { weight: 1, arbitrary: oddOperator }),
  fc.oneof({ weight: 3, arbitrary: soundBound }, { weight: 1, arbitrary: oddBound }),
  fc.oneof({ weight: 9, arbitrary: between }, { weight: 1, arbitrary: oddBetween }),
);
const soup = fc.string({ unit: fc.constantFrom(...Array.from("0123.x*vX<>=!~^-+|, ab\n\u00a0")), maxLength: 24 });
const long = fc
  .tuple(soundRange, fc.integer({ min: 20, max: 90 }))
  .map(([range, count]) => Array.from({ length: count }, () => range).join(" || "));
const range = fc.oneof(
  { weight: 30, arbitrary: soundRange },
  { weight: 14, arbitrary: oddRange },
  { weight: 5, arbitrary: soup },
  { weight: 1, arbitrary: long },
);
const sound = fc
  .tuple(few, few, few, fc.constantFrom("", "", "", "-0", "-rc.1", "-alpha", "-1.2", "+7"))
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`);
const odd = fc
  .tuple(fc.constantFrom("", "v", "V"), fc.array(fc.oneof(few, oddNumber), { minLength: 1, maxLength: 4 }), oddPre)
  .map(([v, parts, pre]) => `${v}${parts.join(".")}${pre}`);

/** Ranges, valid and invalid, and tags to match with them. */
const rangeCase = fc
  .tuple(range, fc.oneof({ weight: 6, arbitrary: sound }, { weight: 1, arbitrary: odd }))
  .map(([pattern, tag]): DialectCase => ["range", pattern, tag]);

const atom = fc.constantFrom(
  ..."abrc019.-+_^$|()[]{}*?\\".split(""),
  ..."\\. \\d \\D \\w \\W \\s \\S \\b \\B \\A \\z \\Z \\pL \\p{Greek} \\PN \\x41 \\x{61} \\Qa.c\\E \\C \\1 \\u0061 \\- \\/".split(
    " ",
  ),
  ..."[a-c] [^0-9] [[:alpha:]] [[:^digit:]] [\\d-] [-a] []a] [a [z-a] (?i) (?s:.) (?i:RC) (?-i) (?U) (?x)".split(" "),
  ..."(?P<n>a) (?<n>b) (?:rc) (?=a) (?!a) (?<=a) (?>a) (a|b) () (|a) a* a+? a?? a{2} a{1,3} a{,3} a{3,1} a{1001} a** a*+".split(
    " ",
  ),
  ..."rc alpha 1\\.0 ^1 ^v?1\\. [0-9]+$ .* .+".split(" "),
);
/** Without two groups of one name, which Go accepts and Sluice refuses. */
const expression = fc
  .array(atom, { maxLength: 6 })
  .map((atoms) =>
    atoms.filter((one, index) => !one.includes("<n>") || index === atoms.findIndex((other) => other.includes("<n>"))),
  )
  .map((atoms) => atoms.join(""));
const taggedText = fc.string({ unit: fc.constantFrom(...Array.from("abrcRC019.-")), maxLength: 12 });
/** Regular expressions, valid and invalid, and tags that are versions. */
const expressionCase = fc
  .tuple(expression, sound, taggedText)
  .map(([pattern, tag, text]): DialectCase => ["expression", pattern, withText(tag, text)]);

function withText(tag: string, text: string): string {
  const clean = text
    .split(".")
    .filter((one) => one !== "" && !/^0\d+$/.test(one))
    .join(".");
  const [numbers = ""] = tag.split("-");
  return clean === "" ? tag : `${numbers}-${clean}`;
}

const letter = fc.constantFrom(...Array.from("abc.-é *?[]\\!#"));
const known = fc.constantFrom("a", "b", "a.md", "docs");
const name = fc.oneof(
  { weight: 8, arbitrary: known },
  { weight: 1, arbitrary: fc.string({ unit: letter, minLength: 1, maxLength: 3 }) },
);
const glob = fc.oneof(
  { weight: 4, arbitrary: name },
  { weight: 3, arbitrary: fc.constantFrom("*", "**", "*.md", "?", "[ab]", "[^a]", "[a-c]*", "a*") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("\\a", "**a", "a**", "***", "[", "[]a]", "[a", "d?cs", "", "[b-a]", "[a\\-c]", "\\"),
  },
);
const line = fc
  .tuple(
    fc.constantFrom("", "", "", "", "!", "#", "\\!", " "),
    fc.constantFrom("", "", "/"),
    fc.array(glob, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "", "", "/", "/**", " ", "\\ ", "\t", "\r"),
  )
  .map(([mark, root, globs, end]) => `${mark}${root}${globs.join("/")}${end}`);
const pathName = name.filter((one) => one !== "." && one !== "..");
const path = fc
  .tuple(fc.array(pathName, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "", "/"))
  .map(([names, end]) => `${names.join("/")}${end}`);
/** Lines of an ignore file, and paths. */
const ignoreCase = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 3 }), path)
  .map(([lines, text]): DialectCase => ["ignore", lines.join("\n"), text]);

const variables = { foo: "bar", empty: "", path: "/a/b/c.tar.gz", m: "a.b.c", uni: "éß€aZ" };
const variable = fc.constantFrom("foo", "foo", "path", "path", "m", "uni", "empty", "missing");
const word = fc.constantFrom(
  ..."a b c / * ? . é € [a-z] [^a/] \\/ \\\\ $$ $ 2 -1 : [ ] tar ${foo} ${missing:=z} } # % = ^ , { ( ' \"".split(" "),
  " ",
  "\n",
);
const words = fc.array(word, { maxLength: 4 }).map((parts) => parts.join(""));
const offset = fc.integer({ min: -4, max: 8 }).map(String);
const operation = fc.oneof(
  fc.constant(""),
  fc.tuple(fc.constantFrom(":=", ":-", "=", ":+", ":?", "-", "+"), words).map((texts) => texts.join("")),
  fc.oneof(offset, words).map((at) => `:${at}`),
  fc.tuple(offset, offset).map(([at, length]) => `:${at}:${length}`),
  fc.tuple(fc.constantFrom("#", "##", "%", "%%"), words).map((texts) => texts.join("")),
  fc
    .tuple(fc.constantFrom("/", "//", "/#", "/%"), words, fc.constantFrom("/", "/", "/", ""), words)
    .map((texts) => texts.join("")),
  fc.constantFrom("^", "^^", ",", ",,", "^,"),
);
const templateExpression = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(variable, operation).map(([of, does]) => `\${${of}${does}}`) },
  { weight: 1, arbitrary: variable.map((of) => `\${#${of}}`) },
);
/** Templates, valid and invalid, and variables. */
const templateCase = fc
  .array(fc.oneof({ weight: 2, arbitrary: templateExpression }, { weight: 1, arbitrary: words }), { maxLength: 3 })
  .map((parts): DialectCase => ["template", parts.join(""), JSON.stringify(variables)]);

const cases = { range: rangeCase, expression: expressionCase, ignore: ignoreCase, template: templateCase };

/** That many cases of a dialect, the same for the same seed. */
export function generatedCases(dialect: DialectCase[0], count: number, seed: number): readonly DialectCase[] {
  return fc.sample(cases[dialect], { numRuns: count, seed });
}
