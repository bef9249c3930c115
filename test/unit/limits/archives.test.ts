import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxHeaderBytes } from "../../../lib/sources/archive/read-tar.ts";
import { type ArchiveLimits, defaultArchiveLimits, unpack } from "../../../lib/sources/archive/unpack.ts";
import { type Member, tarOf } from "../sources/tar-of.ts";

const forever = new AbortController().signal;

/** `unpacked`, or why not. */
function outcome(tar: Uint8Array, limits: Partial<ArchiveLimits> = {}): Promise<string> {
  return unpack(gzipSync(tar), { ...defaultArchiveLimits, ...limits }, forever).then(() => "unpacked", messageOf);
}

describe("an archive has limits", () => {
  const two = tarOf([{ name: "a", content: "a" }, { name: "d/b" }]);

  test.each<{ what: keyof ArchiveLimits; at: number; tar: Uint8Array; message: string }>([
    { what: "maxBytes", at: two.length, tar: two, message: "tar is bigger than max archive size of" },
    // The folder counts, although no member tells of it.
    { what: "maxEntries", at: 3, tar: two, message: "tar has more than 2 entries" },
    { what: "maxPathBytes", at: 7, tar: tarOf([{ name: "ä/öü" }]), message: "tar has a path of more than 6 bytes" },
    { what: "maxDepth", at: 4, tar: tarOf([{ name: "a/b/c/d" }]), message: "tar has folders more than 3 deep" },
  ])("$what", async ({ what, at, tar, message }) => {
    expect(await outcome(tar, { [what]: at + 1 })).toBe("unpacked");
    expect(await outcome(tar, { [what]: at })).toBe("unpacked");
    expect(await outcome(tar, { [what]: at - 1 })).toContain(message);
  });

  test("on maxRatio, which valid YAML of 10 MiB may exceed", async () => {
    const ofZeros = (mebibytes: number) => tarOf([{ name: "a", content: "\0".repeat(mebibytes * 1024 ** 2) }]);
    expect(await outcome(ofZeros(9), { maxRatio: 2 })).toBe("unpacked");
    const large = ofZeros(12);
    const ratio = large.length / gzipSync(large).length;
    expect(await outcome(large, { maxRatio: Math.ceil(ratio) })).toBe("unpacked");
    expect(await outcome(large, { maxRatio: Math.floor(ratio / 2) })).toContain("times its packed size");
  });

  test("on maxPackedBytes, checked before a layer is requested: see the pulling of artifacts", () => {
    expect(defaultArchiveLimits.maxPackedBytes).toBeLessThan(defaultArchiveLimits.maxBytes);
  });

  test("on a long name", async () => {
    const named = (bytes: number): Member[] => [{ name: "long", type: "K", content: "x".repeat(bytes) }, { name: "a" }];
    expect(await outcome(tarOf(named(maxHeaderBytes - 1)))).toBe("unpacked");
    expect(await outcome(tarOf(named(maxHeaderBytes)))).toBe("unpacked");
    expect(await outcome(tarOf(named(maxHeaderBytes + 1)))).toContain("invalid tar header");
  });
});
