import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  defaultBatchSize,
  neededFor,
  processPartsMiB,
  reconcileSize,
} from "../../../../functions/settings/reconcile-size.ts";
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

  test("is documented with the numbers of the code, in docs/limits.md and at the property of the construct", () => {
    const root = join(import.meta.dirname, "../../../..");
    const text = (file: string) => readFileSync(join(root, file), "utf8");
    const [, section = ""] = /## A reconcile function\n(.*?)\n## /s.exec(text("docs/limits.md")) ?? [];
    const [one, two] = [neededFor(1), neededFor(2)];
    const rows = [...section.matchAll(/^\| .* \| (\d+) \|$/gm)].map(([, mebibytes]) => Number(mebibytes));
    expect(rows).toEqual([...Object.values(processPartsMiB), two.memoryMiB - one.memoryMiB, one.tmpMiB]);
    const told = (mebibytes: number) => mebibytes.toLocaleString("en-US");
    const size = (batchSize: number) => {
      const given = reconcileSize({ batchSize });
      if ("faults" in given) throw new Error(given.faults.join());
      return { needed: told(neededFor(batchSize).memoryMiB), memory: told(given.memoryMiB), tmp: told(given.tmpMiB) };
    };
    const [normal, ten] = [size(defaultBatchSize), size(10)];
    const sentences = section.replaceAll(/\s+/g, " ");
    expect(sentences).toContain(`(${defaultBatchSize} by default, 10 at most`);
    expect(sentences).toContain(`The sum for two runs is ${normal.needed} MiB.`);
    expect(sentences).toContain(`The default is the next multiple of 64: ${normal.memory} MiB`);
    expect(sentences).toContain(
      `For ten runs the sum is ${ten.needed} MiB and the default ${ten.memory} MiB, with ${ten.tmp} MiB of \`/tmp\``,
    );
    expect(text("infra/lib/sluice.ts")).toContain(`at the same time, 1 to 10; default: ${defaultBatchSize}.`);
  });
});
