import { expect, test } from "vitest";
import { maxShownBytes, statusInventory } from "../../../lib/apply/status-inventory.ts";
import { maxSnapshots, withSnapshot } from "../../../lib/flows/kustomization/status.ts";

test("the inventory in a status has a limit of bytes", () => {
  const line = { id: "x".repeat(1_000 - '{"id":"","v":"v1"},'.length), version: "v1", state: "live" } as const;
  const shown = (count: number) =>
    statusInventory(
      Array.from({ length: count }, () => line),
      undefined,
    ).entries.length;
  const fits = maxShownBytes / 1_000;
  expect([shown(fits - 1), shown(fits), shown(fits + 1)]).toEqual([fits - 1, fits, fits]);
});

test("the history in a status has a limit of attempts", () => {
  let history: ReturnType<typeof withSnapshot> = [];
  for (let index = 1; index <= maxSnapshots + 1; index++) {
    const finished = {
      key: undefined,
      digest: `d${index}`,
      status: "s",
      durationMs: 1,
      revision: "r",
      originRevision: undefined,
    };
    history = withSnapshot(history, finished, 0);
    expect(history).toHaveLength(Math.min(index, maxSnapshots));
  }
  expect(history.map(({ digest }) => digest)).not.toContain("d1");
});
