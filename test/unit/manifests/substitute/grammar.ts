/** The variables of the table; others are missing. */
export const variables = new Map(Object.entries({ foo: "bar", empty: "", path: "/a/b/c.tar.gz", m: "a.b.c" }));

const closing = "missing closing brace";
const name = "unable to parse variable name";
const bad = "bad substitution";
const notSet = (variable: string): string => `variable not set (strict mode): "${variable}"`;

/** The grammar table of the reference, section 3.11. */
export const grammar: readonly (readonly [template: string, answer: string | { readonly error: string }])[] = [
  ["$foo, $(foo), {{foo}}", "$foo, $(foo), {{foo}}"],
  ["${foo}", "bar"],
  ["${missing:-def}${missing:=def}${missing=def}", "defdefdef"],
  ["${empty:-def}${empty:=def}${empty=def}", "defdefdef"],
  ["${missing:=}", ""],
  ['${missing:="q"}', '"q"'],
  ["${missing:=a b:c/d}", "a b:c/d"],
  ["${missing:=x${foo}y}", "xbary"],
  ["${missing:+alt}", "alt"],
  ["${foo:+alt}", "bar"],
  ["${missing:?e}", "e"],
  ["${foo:?e}", "bar"],
  ...["${foo-def}", "${foo+x}", "${foo?x}", "${foo.bar}", "${foo[0]}", "${foo!}", "${foo-bar}", "${foo"].map(
    (template) => [template, { error: closing }] as const,
  ),
  ...["${}", "${", "${ foo }", "${.Values.x}"].map((template) => [template, { error: name }] as const),
  ["${#foo}", "3"],
  ["${#missing}", { error: notSet("missing") }],
  ["${missing}", { error: notSet("missing") }],
  ["${foo^} ${foo^^} ${foo,} ${foo,,}", "Bar BAR bar bar"],
  ["${foo:1} ${foo:1:1}", "ar a"],
  ["${foo: -1}${foo:9}${foo:x}", "barbar"],
  ["${foo:-1}", "bar"],
  ["${foo:0:-1}", { error: "foo: the length of a part must not be negative" }],
  ["${path#*/} ${path##*/}", "a/b/c.tar.gz c.tar.gz"],
  ["${path%.*} ${path%%.*}", "/a/b/c.tar /a/b/c"],
  ["${m/./-} ${m//./-}", "a-b.c a-b-c"],
  ["${path/#\\/a/Z} ${path/%gz/bz2}", "Z/b/c.tar.gz /a/b/c.tar.bz2"],
  ["${path//\\//-}", "-a-b-c.tar.gz"],
  ["${path//b}", { error: bad }],
  ["${path/b/}", "/a//c.tar.gz"],
  ["$${foo}", "${foo}"],
  ["a$$b $$", "a$b $"],
  ["$$${foo}", "$bar"],
  ["$$$${foo}", "$${foo}"],
  ["${missing:=$${foo}}", "$bar"],
  ["\\${foo}", "\\bar"],
  ["${foo}}", "bar}"],
  ["${missing:=a}b}", "ab}"],
];
