import { describe, expect, test } from "vitest";
import { parseImageRepository } from "../../../lib/image/image-reference.ts";

describe("spec.image", () => {
  test.each([
    ["alpine", "index.docker.io", "library/alpine"],
    ["docker.io/alpine", "index.docker.io", "library/alpine"],
    ["org/app", "index.docker.io", "org/app"],
    ["ghcr.io/org/app", "ghcr.io", "org/app"],
    ["registry:5000/app", "registry:5000", "app"],
    ["localhost/app", "localhost", "app"],
    ["[::1]:5000/app", "[::1]:5000", "app"],
    ["host.test/app/", "host.test", "app/"],
  ])("%s is a repository of its registry", (image, host, repository) => {
    expect(parseImageRepository(image)).toEqual({ host, repository, canonical: `${host}/${repository}` });
  });

  const hex = "a".repeat(64);
  test.each([
    ["https://ghcr.io/a/b", "should not include URL scheme; remove 'https://'"],
    ["oci://a", "should not include URL scheme; remove 'oci://'"],
    ["ghcr.io/a/b:v1", "should not include a tag; remove ':v1'"],
    ["app:v1", "should not include a tag; remove ':v1'"],
    [`app@sha256:${hex}`, `should not include a tag; remove ':${hex}'`],
  ])("%s is refused with Flux's text", (image, why) => {
    expect(() => parseImageRepository(image)).toThrow(`image '${image}' ${why}`);
  });

  test.each(["", "A/b", " a", "app@sha256:abc", "a:b:c", "a.b:x/c", "app:", `a/${"b".repeat(256)}`, "ghcr.io/"])(
    "%s is not a reference",
    (image) => {
      expect(() => parseImageRepository(image)).toThrow(`could not parse reference: ${image}`);
    },
  );

  test.each(["ghcr.io/a/../secret", "ghcr.io/./a", "a/../b"])("%s cannot name another repository", (image) => {
    expect(() => parseImageRepository(image)).toThrow("has a part '.' or '..', which no repository has; remove it");
  });
});
