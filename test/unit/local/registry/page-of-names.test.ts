import fc from "fast-check";
import { expect, test } from "vitest";
import { pageOfNames, repositoryPaging, tagPaging } from "../../../../local/registry/page-of-names.ts";

function pagesOf(names: readonly string[], n: number, paging: typeof tagPaging): readonly string[] {
  const found: string[] = [];
  let query: URLSearchParams | undefined = new URLSearchParams({ n: String(n) });
  while (query !== undefined) {
    const page = pageOfNames(names, { n: query.get("n"), last: query.get("last") }, paging);
    expect(page.names.length).toBeLessThanOrEqual(n);
    found.push(...page.names);
    query = page.next === undefined ? undefined : new URLSearchParams(page.next);
  }
  return found;
}

test("pages of tags add up to the whole list, in order, for any page size", () => {
  const tag = fc.string({ unit: fc.constantFrom("a", "B", "1", "-", "."), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.uniqueArray(tag, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (all, n) => {
      const tags = all.toSorted();
      expect(pagesOf(tags, n, tagPaging)).toEqual(tags);
    }),
  );
});

test("pages of repositories add up to the whole list, sorted by the parts of their names", () => {
  const names = ["a", "a/b", "a/b/c", "a-b", "a.b", "b"];
  for (const n of [1, 2, 3, 6, 7]) expect(pagesOf(names, n, repositoryPaging)).toEqual(names);
});

test.each(["-1", "1.5", "abc", "1001"])("a page of %s repositories is refused", (n) => {
  expect(() => pageOfNames([], { n, last: null }, repositoryPaging)).toThrow("invalid number of results requested");
});

test("a page of 1001 tags is cut to 1000", () => {
  const tags = Array.from({ length: 1001 }, (_, index) => String(index).padStart(4, "0"));
  expect(pageOfNames(tags, { n: "1001", last: null }, tagPaging).names).toHaveLength(1000);
});
