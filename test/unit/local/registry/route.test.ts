import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRoute } from "../../../../local/registry/route.ts";

test("a route contains the repository and its part, for any valid name", () => {
  const part = fc.constantFrom("a", "b1", "x-y", "m__n", "blobs", "manifests", "tags", "uploads", "v2", "referrers");
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const repository = parts.join("/");
      expect(parseRoute(`/v2/${repository}/tags/list`)).toEqual({ to: "tags", repository });
      expect(parseRoute(`/v2/${repository}/manifests/v1`)).toEqual({
        to: "manifest",
        repository,
        reference: { tag: "v1" },
      });
      expect(parseRoute(`/v2/${repository}/blobs/uploads/`)).toEqual({ to: "uploads", repository });
    }),
  );
});
