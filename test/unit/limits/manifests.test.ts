import { describe, expect, test } from "vitest";
import { buildPlain } from "../../../lib/manifests/build-plain.ts";
import { maxStringChars, renderScalar } from "../../../lib/manifests/go-yaml/emit-string.ts";
import { maxDepth as maxPrintedDepth, parseOutput } from "../../../lib/manifests/parse-output.ts";
import { maxDepth, readDocument } from "../../../lib/manifests/read-document.ts";
import { maxObjects } from "../../../lib/manifests/read-failure.ts";

function nested(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}\n`;
}

describe("the nesting limit of a YAML document applies", () => {
  test("in an artifact", () => {
    const read = (levels: number) => readDocument({ text: `a: ${nested(levels - 1)}`, line: 1 });
    expect(read(maxDepth - 1)).toHaveProperty("a");
    expect(read(maxDepth)).toHaveProperty("a");
    expect(() => read(maxDepth + 1)).toThrow(`nested deeper than ${maxDepth} levels`);
  });

  test("in the output of kustomize", () => {
    const parse = (levels: number) => parseOutput(`a: ${nested(levels - 1)}`);
    expect(parse(maxPrintedDepth - 1).kind).toBe("parsed");
    expect(parse(maxPrintedDepth).kind).toBe("parsed");
    expect(parse(maxPrintedDepth + 1)).toMatchObject({ kind: "unacceptable" });
  });
});

test("a string has a limit of characters, above which kustomize prints it", () => {
  const place = { indent: 0, column: 0, isKey: false };
  const printed = (length: number) => renderScalar("a".repeat(length), place)?.length;
  expect(printed(maxStringChars - 1)).toBe(maxStringChars - 1);
  expect(printed(maxStringChars)).toBe(maxStringChars);
  expect(printed(maxStringChars + 1)).toBeUndefined();
});

describe("the limit of objects in a Kustomization applies", () => {
  const text = (count: number): string =>
    Array.from({ length: count }, (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c${index}\n`).join(
      "---\n",
    );

  test("in plain files, in total", () => {
    const build = (...counts: readonly number[]) => {
      const files = counts.map((count, index) => ({
        path: `${index}.yaml`,
        content: Buffer.from(text(count).replaceAll("name: c", `name: f${index}-`)),
      }));
      return buildPlain(files, {}).objects.length;
    };
    expect(build(maxObjects - 1)).toBe(maxObjects - 1);
    expect(build(maxObjects - 10, 10)).toBe(maxObjects);
    expect(() => build(maxObjects - 10, 11)).toThrow(`more than ${maxObjects} objects`);
  });

  test("in the output of kustomize", () => {
    expect(parseOutput(text(maxObjects))).toMatchObject({ kind: "parsed" });
    expect(parseOutput(text(maxObjects + 1))).toMatchObject({
      kind: "unacceptable",
      why: expect.stringContaining(`more than ${maxObjects} objects`),
    });
  });
});
