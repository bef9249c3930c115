import fc from "fast-check";
import { expect, test } from "vitest";
import { pageOfTags } from "../../../../local/registry/page-of-tags.ts";

test("pages of tags are the whole list, in order, whatever the page", () => {
  const tag = fc.string({ unit: fc.constantFrom("a", "B", "1", "-", "."), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.uniqueArray(tag, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (all, n) => {
      const tags = all.toSorted();
      const found: string[] = [];
      let query: URLSearchParams | undefined = new URLSearchParams({ n: String(n) });
      while (query !== undefined) {
        const page = pageOfTags(tags, { n: query.get("n"), last: query.get("last") });
        expect(page.tags.length).toBeLessThanOrEqual(n);
        found.push(...page.tags);
        query = page.next === undefined ? undefined : new URLSearchParams(page.next);
      }
      expect(found).toEqual(tags);
    }),
  );
});
