import { expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import type { StoredArtifact } from "../../../../lib/core/ports/artifact-collection.ts";
import { maxUnnamed, type UnnamedSince } from "../../../../lib/core/unnamed-artifacts.ts";
import { collectArtifacts, graceMs } from "../../../../lib/sources/collect/collect-artifacts.ts";
import { never } from "../../../contract/state-back-end.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

test("if there are more unnamed artifacts than can be remembered, later collections delete the rest", async () => {
  let now = 10 * graceMs;
  const stored = new Map(
    Array.from({ length: maxUnnamed + 1 }, (_, number) => [digestOf(`${number}`), { storedAt: 0 }] as const),
  );
  let kept: UnnamedSince = new Map();
  const collect = () =>
    collectArtifacts(
      {
        artifacts: {
          async *list() {
            yield [...stored].map(([digest, { storedAt }]): StoredArtifact => ({ digest, storedAt }));
          },
          remove: async ({ digest }) => stored.delete(digest),
          unnamed: async () => kept,
          keepUnnamed: async (unnamed) => void (kept = unnamed),
        },
        records: { digests: async () => new Set([digestOf("named")]) },
        clock: { now: () => now },
        log: silentLog,
      },
      never,
    );
  const deleted: number[] = [];
  for (let day = 0; day < 4; day += 1) {
    deleted.push((await collect()).deleted);
    now += graceMs;
  }
  expect(deleted).toEqual([0, maxUnnamed, 0, 1]);
});
