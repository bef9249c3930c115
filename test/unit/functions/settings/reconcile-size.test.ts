import { describe, expect, test } from "vitest";
import { neededFor, reconcileSize } from "../../../../functions/settings/reconcile-size.ts";
import { moduleMemoryMiB } from "../../../../lib/engine/module-memory.ts";
import { defaultArchiveLimits } from "../../../../lib/sources/archive/unpack.ts";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";

const mebibyte = 1024 * 1024;

describe("the size of a reconcile function", () => {
  test("is by default enough for its runs at their limits, next to kustomize and CEL at theirs", () => {
    const size = reconcileSize({});
    if ("faults" in size) throw new Error(size.faults.join());
    const archives = size.batchSize * (defaultArchiveLimits.maxPackedBytes + defaultArchiveLimits.maxBytes);
    const least = archives / mebibyte + moduleMemoryMiB.kustomize + moduleMemoryMiB.cel;
    expect(size.memoryMiB).toBeGreaterThan(least);
    expect(size.memoryMiB).toBeGreaterThanOrEqual(neededFor(size.batchSize).memoryMiB);
    expect(size.tmpMiB).toBeGreaterThanOrEqual((size.batchSize * defaultGitLimits.maxPackBytes) / mebibyte);
  });

  test("grows by the limits of a run for each concurrent run, up to Lambda's maximum", () => {
    for (let batchSize = 1; batchSize <= 10; batchSize++) {
      const [size, needed, less] = [reconcileSize({ batchSize }), neededFor(batchSize), neededFor(batchSize - 1)];
      expect(size).toEqual({ batchSize, memoryMiB: expect.any(Number), tmpMiB: Math.max(512, needed.tmpMiB) });
      expect(needed.memoryMiB - less.memoryMiB).toBeGreaterThanOrEqual(
        (defaultArchiveLimits.maxPackedBytes + defaultArchiveLimits.maxBytes) / mebibyte,
      );
    }
  });

  test("is refused if it is too small for its runs, with the size that they need", () => {
    const { memoryMiB, tmpMiB } = neededFor(10);
    expect(reconcileSize({ memoryMiB: 1_024, tmpMiB: 512, batchSize: 10 })).toEqual({
      faults: [
        `reconcile.memoryMiB is 1024, and the limits of 10 runs at the same time need ${memoryMiB} MiB of memory together (docs/limits.md): write memoryMiB: ${memoryMiB} or a smaller batchSize`,
        `reconcile.tmpMiB is 512, and the limits of 10 runs at the same time need ${tmpMiB} MiB of /tmp together (docs/limits.md): write tmpMiB: ${tmpMiB} or a smaller batchSize`,
      ],
    });
    expect(reconcileSize({ memoryMiB, tmpMiB, batchSize: 10 })).toEqual({ memoryMiB, tmpMiB, batchSize: 10 });
  });

  test.each([
    { given: { batchSize: 0 }, fault: "reconcile.batchSize must be a whole number from 1 to 10" },
    { given: { batchSize: 1.5 }, fault: "reconcile.batchSize must be a whole number from 1 to 10" },
    { given: { memoryMiB: 20_000 }, fault: "reconcile.memoryMiB must be a whole number from 128 to 10240" },
    { given: { tmpMiB: 100 }, fault: "reconcile.tmpMiB must be a whole number from 512 to 10240" },
  ])("that Lambda does not offer is refused: $given", ({ given, fault }) => {
    expect(reconcileSize(given)).toEqual({ faults: [fault] });
  });
});
