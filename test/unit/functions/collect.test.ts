import { expect, test } from "vitest";
import { collectHandler } from "../../../functions/collect.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { graceMs } from "../../../lib/sources/collect/collect-artifacts.ts";
import { never } from "../../contract/state-back-end.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";

const digest = digestOf("old");

function collector() {
  const log = recordedLog();
  const handle = collectHandler({
    artifacts: {
      async *list() {
        yield [{ digest, storedAt: 0 }];
      },
      remove: async () => true,
      unnamed: async () => new Map([[digest, 0]]),
      keepUnnamed: async () => undefined,
    },
    records: { digests: async () => new Set([digestOf("named")]) },
    clock: { now: () => 2 * graceMs },
    log,
  });
  return { handle, log };
}

test("an event of the schedule starts a collection, and the log has the number of deleted artifacts", async () => {
  const { handle, log } = collector();
  await handle({}, never);
  expect(log.infos).toEqual([{ message: "artifacts deleted that no source names", stored: 1, unnamed: 1, deleted: 1 }]);
});

test("an event of another shape is refused, and nothing is deleted", async () => {
  const { handle, log } = collector();
  await expect(handle({ detail: {} }, never)).rejects.toThrow("detail");
  expect(log.infos).toEqual([]);
});
