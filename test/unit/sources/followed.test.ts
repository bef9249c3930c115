import { describe, expect, test } from "vitest";
import type { Follows } from "../../../lib/core/follows.ts";
import { type Change, concernedBy } from "../../../lib/sources/followed.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;

async function isWoken(change: Change, follows: Follows | undefined): Promise<boolean> {
  const follower = { key: keyOf("web"), follows };
  return (await concernedBy(change, [follower], never)).includes(follower);
}

describe("which followers of a topic a change concerns", () => {
  const tag: Follows = { kind: "names", names: ["v1"] };
  const pinned: Follows = { kind: "digest", digest };
  const range = (semver: string, more: object = {}): Follows => ({ kind: "range", semver, ...more });

  test.each<{ name: string; follows: Follows | undefined; change: Change; woken: boolean }>([
    { name: "a tag by its name", follows: tag, change: { name: "v1", digest }, woken: true },
    { name: "not another tag", follows: tag, change: { name: "v2", digest }, woken: false },
    { name: "not a tag that starts with the same text", follows: tag, change: { name: "v10", digest }, woken: false },
    { name: "a tag by an event that names none", follows: tag, change: { digest }, woken: true },
    { name: "a digest", follows: pinned, change: { name: "v1", digest }, woken: true },
    {
      name: "not another digest, whatever its tag is",
      follows: pinned,
      change: { name: "v1", digest: other },
      woken: false,
    },
    { name: "a digest by an event that names none", follows: pinned, change: { name: "v1" }, woken: true },
    { name: "everything", follows: undefined, change: { name: "v1", digest }, woken: true },
    { name: "a version in a range", follows: range("1.x"), change: { name: "v1.5.0" }, woken: true },
    { name: "not a version out of it", follows: range("1.x"), change: { name: "v2.0.0" }, woken: false },
    { name: "not a tag that is not a version", follows: range("*"), change: { name: "latest" }, woken: false },
    {
      name: "no pre-release by a range without one",
      follows: range(">=1.0.0"),
      change: { name: "1.1.0-rc.1" },
      woken: false,
    },
    {
      name: "a pre-release by a range with one",
      follows: range(">=1.0.0-0"),
      change: { name: "1.1.0-rc.1" },
      woken: true,
    },
    {
      name: "not a tag that a filter excludes",
      follows: range("*", { filter: "-ee$" }),
      change: { name: "1.1.0" },
      woken: false,
    },
    {
      name: "a tag that a filter includes",
      follows: range(">=0-0", { filter: "-ee$" }),
      change: { name: "1.1.0-ee" },
      woken: true,
    },
    { name: "a range by an event that names no tag", follows: range("1.x"), change: { digest }, woken: true },
    {
      name: "the build metadata of a chart",
      follows: range("1.x", { isChart: true }),
      change: { name: "1.1.0_b1" },
      woken: true,
    },
    {
      name: "not build metadata of another artifact",
      follows: range("1.x"),
      change: { name: "1.1.0_b1" },
      woken: false,
    },
    {
      name: "a version among the tags of git",
      follows: range("1.x", { after: "refs/tags/" }),
      change: { name: "refs/tags/v1.2.0" },
      woken: true,
    },
    {
      name: "not a branch of the same name",
      follows: range("1.x", { after: "refs/tags/" }),
      change: { name: "refs/heads/v1.2.0" },
      woken: false,
    },
    {
      name: "not another ref of the same name",
      follows: range("1.x", { after: "refs/tags/" }),
      change: { name: "refs/pull/v1.2.0" },
      woken: false,
    },
    { name: "everything for an invalid range", follows: range("one"), change: { name: "v2" }, woken: true },
    {
      name: "everything for an invalid filter",
      follows: range("*", { filter: "(" }),
      change: { name: "v2" },
      woken: true,
    },
    { name: "a key under its prefix", follows: { kind: "prefix", prefix: "a/" }, change: { name: "a/b" }, woken: true },
    { name: "no other key", follows: { kind: "prefix", prefix: "a/" }, change: { name: "b/a/" }, woken: false },
  ])("$name", async ({ follows, change, woken }) => {
    expect(await isWoken(change, follows)).toBe(woken);
  });

  test("followers stay in their order", async () => {
    const followers = [
      { key: keyOf("c"), follows: undefined },
      { key: keyOf("a"), follows: range("2.x") },
      { key: keyOf("b"), follows: range("1.x") },
    ];
    const found = await concernedBy({ name: "1.0.0" }, followers, never);
    expect(found.map(({ key }) => key.name)).toEqual(["c", "b"]);
  });
});
