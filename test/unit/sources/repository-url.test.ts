import { describe, expect, test } from "vitest";
import { parsePushUrl, parseRepositoryUrl } from "../../../lib/sources/oci/repository-url.ts";

describe("the URL of a repository", () => {
  test.each([
    ["oci://ghcr.io/org/app", "ghcr.io", "org/app"],
    ["oci://127.0.0.1:5000/app", "127.0.0.1:5000", "app"],
    ["oci://[::1]:5000/a/b", "[::1]:5000", "a/b"],
    [
      "oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app",
      "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
      "team/app",
    ],
  ])("%s", (url, host, repository) => {
    expect(parseRepositoryUrl(url)).toEqual({ host, repository });
  });

  test.each([
    ["oci://r.example/app:1.0", "URL must not contain a tag; remove ':1.0'"],
    ["oci://r.example:5000/app:1.0", "URL must not contain a tag; remove ':1.0'"],
    ["oci://r.example/app@sha256:00", "URL must not contain a digest; remove '@sha256:00'"],
    ["oci://r.example", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://r.example/", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["https://r.example/app", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://r.example/UP", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://user:pw@r.example/app", "URL must"],
    ["oci://r.example/a/../b", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://r.example/a?x=1", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
  ])("11.3/60: %s is refused", (url, why) => {
    expect(() => parseRepositoryUrl(url)).toThrow(`URL validation failed for '${url}': ${why}`);
  });

  test("of a push has a tag, latest where none is given", () => {
    expect(parsePushUrl("oci://r:5000/app:v1")).toEqual({ host: "r:5000", repository: "app", tag: "v1" });
    expect(parsePushUrl("oci://r:5000/app")).toMatchObject({ tag: "latest" });
    expect(() => parsePushUrl("oci://r/app:.bad")).toThrow("'.bad' is no tag");
  });
});
