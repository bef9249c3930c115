import { describe, expect, test } from "vitest";
import { maxDepth, maxExpandedBytes, parseYamlBody } from "../../../src/server/parse-body.ts";

describe("limits on a YAML body", () => {
  const nodeBytes = 8;
  /** A text and 16 aliases of it: seventeen texts, their list and the mapping around. */
  const aliased = (bytes: number): string => {
    const text = (bytes - 19 * nodeBytes) / 17;
    return `text: &x "${"x".repeat(text)}"\nall: [${"*x, ".repeat(16)}]\n`;
  };

  test("apply to the expanded aliases", () => {
    const fits = maxExpandedBytes - ((maxExpandedBytes - 19 * nodeBytes) % 17);
    expect(parseYamlBody(aliased(fits)).value).toMatchObject({ all: { length: 16 } });
    expect(() => parseYamlBody(aliased(fits + 17))).toThrow("yaml: document contains excessive aliasing");
  });

  test("apply to its depth", () => {
    const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(() => parseYamlBody(deep(maxDepth))).not.toThrow();
    expect(() => parseYamlBody(deep(maxDepth + 2))).toThrow("exceeded max depth");
  });
});
