import { expect, test } from "vitest";
import { goTimeFault } from "../../../../lib/sources/helm/go-time-fault.ts";

const layout = '"2006-01-02T15:04:05Z07:00"';

test.each([
  ["yesterday", `parsing time "yesterday" as ${layout}: cannot parse "yesterday" as "2006"`],
  ["", `parsing time "" as ${layout}: cannot parse "" as "2006"`],
  ["2020", `parsing time "2020" as ${layout}: cannot parse "" as "-"`],
  ["2020-01-01", `parsing time "2020-01-01" as ${layout}: cannot parse "" as "T"`],
  ["2020-01-01 00:00:00Z", `parsing time "2020-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
  ["2020-01-01T00:00:00.5", `parsing time "2020-01-01T00:00:00.5" as ${layout}: cannot parse "" as "Z07:00"`],
  ["2020-13-01T00:00:00Z", 'parsing time "2020-13-01T00:00:00Z": month out of range'],
  ["2020-01-01T25:00:00Z", 'parsing time "2020-01-01T25:00:00Z": hour out of range'],
  ["2020-01-01T00:00:00Zx", 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'],
  ["2020-01-01T00:00:00.5Z", undefined],
])("the fault of the time %j is, in Go's words, %j", (text, words) => {
  expect(goTimeFault(text)).toBe(words);
});
