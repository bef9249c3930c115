import { describe, expect, test } from "vitest";
import {
  GitRepositorySpec,
  maxIncludes,
  maxSparsePaths,
  overGitRepositoryLimits,
} from "../../../lib/api/git-repository.ts";

const spec = { interval: "10m", url: "https://git.example.test/app.git" };
const faults = (more: object) =>
  GitRepositorySpec.safeParse({ ...spec, ...more }).error?.issues.map(({ message }) => message);

describe("the spec of a GitRepository", () => {
  test.each(["https://a/b", "http://a/b", "ssh://git@a/b"])("accepts the url %s", (url) => {
    expect(faults({ url })).toBeUndefined();
  });

  test.each(["git@a:b", "git://a/b", "file:///a", "oci://a/b"])("refuses the url %s", (url) => {
    expect(faults({ url })).toEqual(["must begin with http://, https:// or ssh://"]);
  });

  test("11.1/28: has a timeout in minutes, 60s by default, and not in hours", () => {
    expect(GitRepositorySpec.parse(spec).timeout).toBe("60s");
    expect(faults({ timeout: "60m" })).toBeUndefined();
    expect(faults({ timeout: "1h" })).toEqual(["must be a duration such as 30s or 1m30s, without hours"]);
  });

  test.each([
    { provider: "github", isRefused: true },
    { isRefused: true },
    { provider: "aws", isRefused: false },
    { provider: "azure", isRefused: false },
  ])("11.2/45: with a serviceAccountName and provider $provider is refused: $isRefused", ({ isRefused, ...more }) => {
    const message = "serviceAccountName can only be set when provider is 'azure' or 'aws'";
    expect(faults({ ...more, serviceAccountName: "a" })).toEqual(isRefused ? [message] : undefined);
  });

  test("has the verify mode HEAD by default", () => {
    const verify = { secretRef: { name: "keys" } };
    expect(GitRepositorySpec.parse({ ...spec, verify }).verify?.mode).toBe("HEAD");
  });

  test("has a limited number of includes and folders", () => {
    const over = (more: object) => overGitRepositoryLimits(GitRepositorySpec.parse({ ...spec, ...more }));
    const include = Array.from({ length: maxIncludes + 1 }, () => ({ repository: { name: "a" } }));
    const sparseCheckout = Array.from({ length: maxSparsePaths + 1 }, () => "a");
    expect(over({ include: include.slice(1), sparseCheckout: sparseCheckout.slice(1) })).toEqual([]);
    expect(over({ include, sparseCheckout })).toEqual([
      "spec.include: has 51 items, 50 are allowed",
      "spec.sparseCheckout: has 1001 items, 1000 are allowed",
    ]);
  });
});
