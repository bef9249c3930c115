import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob } from "../../../../lib/sources/generator/glob.ts";

/** What a glob of these characters means, by trying every way to match it. */
function matches(pattern: string, path: string): boolean {
  if (pattern === "") return path === "";
  const [first = ""] = pattern;
  if (first === "*") {
    if (matches(pattern.slice(1), path)) return true;
    return path !== "" && path[0] !== "/" && matches(pattern, path.slice(1));
  }
  if (path === "") return false;
  return (first === "?" ? path[0] !== "/" : first === path[0]) && matches(pattern.slice(1), path.slice(1));
}

/** The same with `**` as a whole part of the path. */
function matchesParts(parts: readonly string[], names: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return names.length === 0;
  if (part === "**") {
    if (rest.length === 0) return true;
    return names.some((_name, at) => matchesParts(rest, names.slice(at)));
  }
  const [name, ...others] = names;
  return name !== undefined && matches(part, name) && matchesParts(rest, others);
}

const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
const part = fc.oneof(
  fc.constant("**"),
  fc.string({ unit: fc.constantFrom("a", "b", "?", "*"), minLength: 1, maxLength: 4 }).filter((one) => one !== "**"),
);

test("a recursive glob matches the same as trying every possibility", () => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (parts, names) => {
        const found = compileGlob(parts.join("/"), "recursive")?.match(names.join("/")).isMatch;
        expect(found).toBe(matchesParts(parts, names));
      },
    ),
  );
});

test("a glob for names matches the same as trying every possibility", () => {
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "?", "*"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, name, (glob, text) => {
      expect(compileGlob(glob, "file")?.match(text).isMatch).toBe(matches(glob, text));
    }),
  );
});
