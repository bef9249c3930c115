import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { goJsonProblem } from "../../../src/server/go-json-problem.ts";

describe("Go's error for text that is not JSON", () => {
  // As kube-apiserver v1.35.4 answered them.
  test.each([
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a"', "unexpected end of JSON input"],
    ['"a', "unexpected end of JSON input"],
    ["nul", "invalid character ' ' in literal null (expecting 'l')"],
    ["tru1", "invalid character '1' in literal true (expecting 'e')"],
    ["1.", "invalid character ' ' after decimal point in numeric literal"],
    ["-", "invalid character ' ' in numeric literal"],
    ["01", "invalid character '1' after top-level value"],
    ["{} x", "invalid character 'x' after top-level value"],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ["'", "invalid character '\\'' looking for beginning of value"],
    ['{"a":{]', "invalid character ']' looking for beginning of object key string"],
  ])("%j: %s", (text, problem) => {
    expect(goJsonProblem(text)).toBe(problem);
  });

  test("is undefined for valid JSON, and defined otherwise", () => {
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", "}", "]", ",", ":", '"', "\\", "1", "e", "."))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged), (text) => {
        expect(goJsonProblem(text) === undefined).toBe(isJson(text));
      }),
    );
  });
});
