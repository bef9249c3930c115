import { expect, test } from "vitest";
import { isAllowedBucket, isBucketName } from "../../../../functions/settings/allowed-buckets.ts";

test.each([
  ["apps", "team-manifests", true],
  ["apps", "team-manifests-2", false],
  ["apps", "team", false],
  ["other", "team-manifests", false],
  ["constructor", "team-manifests", false],
])("namespace %s and bucket %s: allowed is %s", (namespace, bucket, allowed) => {
  expect(isAllowedBucket({ apps: ["team-manifests"] }, namespace, bucket)).toBe(allowed);
});

test.each([
  ["team-manifests", true],
  ["team.manifests.1", true],
  ["team*", false],
  ["arn:aws:s3:::team", false],
  ["team/prefix", false],
  ["a..b", false],
  ["Team", false],
  ["ab", false],
  ["a".repeat(63), true],
  ["a".repeat(64), false],
])("%s is a valid bucket name: %s", (text, isOne) => {
  expect(isBucketName(text)).toBe(isOne);
});
