import { expect, test } from "vitest";
import { parseTemplate } from "../../../../lib/image/choose/expand-template.ts";

const groups = ["main-abc-17", "abc", "17", null];

// Answers of Go's `Regexp.ExpandString` for `main-([a-z]+)-(?P<ts>[0-9]+)(x)?` on main-abc-17.
test.each([
  ["$ts", "17"],
  ["${ts}", "17"],
  ["$1", "abc"],
  ["${1}", "abc"],
  ["$0", "main-abc-17"],
  ["$1-$2", "abc-17"],
  ["$1x", ""],
  ["${1}x", "abcx"],
  ["$01", ""],
  ["$3", ""],
  ["$4", ""],
  ["$100000000000", ""],
  ["$other", ""],
  ["$$ts", "$ts"],
  ["$$$ts", "$17"],
  ["$", "$"],
  ["$-", "$-"],
  ["${ts", "${ts"],
  ["${}", "${}"],
  ["${t-s}", "${t-s}"],
  ["a${ts}b", "a17b"],
  ["$é", ""],
  ["", ""],
])("the template %s of a tag gives %j, as in Go", (template, expanded) => {
  const expand = parseTemplate(template, { count: 3, named: { ts: 2 } });
  expect(expand((index) => groups[index] ?? null)).toBe(expanded);
});
