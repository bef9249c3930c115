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

  const only = "repository can only contain the characters `abcdefghijklmnopqrstuvwxyz0123456789_-./`";
  const long = "a".repeat(256);

  test.each([
    ["oci://r.example/app:1.0", `${only}: app:1.0`],
    ["oci://r.example:5000/org/app:1.0", `${only}: org/app:1.0`],
    ["oci://r.example/app@sha256:00", `${only}: app@sha256:00`],
    ["oci://r.example/UP", `${only}: UP`],
    ["oci://r.example/a?x=1", `${only}: a?x=1`],
    ["oci://r.example/", "repository must be between 2 and 255 characters in length: "],
    [`oci://r.example/${long}`, `repository must be between 2 and 255 characters in length: ${long}`],
    ["oci://r.example", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["https://r.example/app", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://user:pw@r.example/app", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://r.example/a", "repository must be between 2 and 255 characters in length: a"],
    ["oci://", "a repository name must be specified"],
    ["oci://127.0.0.1:5000", `${only}: 127.0.0.1:5000`],
    ["oci://a b/c", `${only}: a b/c`],
    ["oci://team/app", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
    ["oci://r.example/a/../b", "URL must be in format 'oci://<domain>/<org>/<repo>'"],
  ])("11.3/60: %s is refused", (url, why) => {
    const message = `URL validation failed for '${url}': ${why}`;
    expect(() => parseRepositoryUrl(url)).toThrow(expect.objectContaining({ reason: "URLInvalid", message }));
  });

  test("of a push has a tag, latest by default", () => {
    expect(parsePushUrl("oci://r:5000/app:v1")).toEqual({ host: "r:5000", repository: "app", tag: "v1" });
    expect(parsePushUrl("oci://r:5000/app")).toMatchObject({ tag: "latest" });
    expect(() => parsePushUrl("oci://r/app:.bad")).toThrow("'.bad' is not a valid tag");
    expect(() => parsePushUrl("oci://r/app:v1@sha256:00")).toThrow("remove '@sha256:00'");
    expect(() => parsePushUrl("oci://r/UP:v1")).toThrow("URL must be in format 'oci://<domain>/<org>/<repo>'");
  });
});
