import { describe, expect, test } from "vitest";
import type { KustomizationStatus } from "../../../../lib/api/kustomization-status.ts";
import { isOlderInventory } from "../../../../lib/flows/kustomization/is-older-inventory.ts";

const inventory = { entries: [{ id: "apps_a__ConfigMap", v: "v1" }] };
/** Lists of about this many bytes: of 998,900 all there is, of 999,100 maybe not. */
const entries = (bytes: number) => Array.from({ length: bytes / 100 }, () => ({ id: "x".repeat(81), v: "v1" }));

describe("an inventory is older than the status", () => {
  const cases: readonly {
    readonly name: string;
    readonly savedUnder: number | undefined;
    readonly status: KustomizationStatus;
    readonly isOlder: boolean;
  }[] = [
    {
      name: "saved under an earlier generation",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory },
      isOlder: true,
    },
    { name: "saved under the same", savedUnder: 2, status: { observedGeneration: 2, inventory }, isOlder: false },
    { name: "saved ahead of the status", savedUnder: 3, status: { observedGeneration: 2, inventory }, isOlder: false },
    {
      name: "saved by an earlier release",
      savedUnder: undefined,
      status: { observedGeneration: 2, inventory },
      isOlder: false,
    },
    { name: "a status that nobody has made true", savedUnder: 1, status: { inventory }, isOlder: false },
    { name: "a status without an inventory", savedUnder: 1, status: { observedGeneration: 2 }, isOlder: false },
    {
      name: "a generation that never was",
      savedUnder: 1,
      status: { observedGeneration: 4, inventory },
      isOlder: false,
    },
    {
      name: "a status that has room for more",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory: { entries: entries(998_900) } },
      isOlder: true,
    },
    {
      name: "a status that may be cut off",
      savedUnder: 1,
      status: { observedGeneration: 2, inventory: { entries: entries(999_100) } },
      isOlder: false,
    },
  ];
  test.for(cases)("$name: $isOlder", ({ savedUnder, status, isOlder }) => {
    expect(isOlderInventory(savedUnder, status, 3)).toBe(isOlder);
  });
});
