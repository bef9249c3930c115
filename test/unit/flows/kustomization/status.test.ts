import { describe, expect, test } from "vitest";
import type { Condition } from "../../../../lib/api/condition.ts";
import { statusInventory } from "../../../../lib/apply/status-inventory.ts";
import { keyedDigest } from "../../../../lib/core/digest.ts";
import { backOffMs } from "../../../../lib/core/failure.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { removeCondition, setCondition } from "../../../../lib/flows/conditions.ts";
import { nextDeletionLookMs, nextLookMs, readCarriedState } from "../../../../lib/flows/kustomization/attempt.ts";
import { withSnapshot } from "../../../../lib/flows/kustomization/status.ts";

const now = Date.parse("2026-01-01T00:00:00.900Z");
const ready = {
  type: "Ready",
  status: "True",
  reason: "ReconciliationSucceeded",
  message: "ok",
  observedGeneration: 1,
} as const;

describe("conditions of a Kustomization", () => {
  test("times are whole seconds and change with status, reason or message, not with the generation", () => {
    const first = setCondition([], ready, now);
    expect(first).toEqual([{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }]);
    const later = now + 60_000;
    expect(setCondition(first, { ...ready, observedGeneration: 2 }, later)[0]?.lastTransitionTime).toBe(
      "2026-01-01T00:00:00Z",
    );
    expect(setCondition(first, { ...ready, message: "other" }, later)[0]?.lastTransitionTime).toBe(
      "2026-01-01T00:01:00Z",
    );
  });

  test("are in Flux's order", () => {
    const types = ["Healthy", "Ready", "Stalled", "ArtifactInStorage", "Reconciling"];
    const all = types.reduce<readonly Condition[]>((list, type) => setCondition(list, { ...ready, type }, now), []);
    expect(all.map(({ type }) => type)).toEqual(["Stalled", "Reconciling", "Ready", "ArtifactInStorage", "Healthy"]);
    expect(removeCondition(all, "Ready").map(({ type }) => type)).not.toContain("Ready");
  });

  test("a message is cut at 32768 bytes, never inside a character", () => {
    const [cut] = setCondition([], { ...ready, message: "é".repeat(20_000) }, now);
    expect(Buffer.byteLength(cut?.message ?? "")).toBeLessThanOrEqual(32_768);
    expect(cut?.message).toMatch(/^é+\.\.\.$/);
  });
});

describe("history of a Kustomization (115 to 117)", () => {
  const finished = {
    digest: "sha256:a",
    key: undefined,
    status: "ReconciliationSucceeded",
    durationMs: 1500,
    revision: "v1",
    originRevision: "o",
  };

  test("a repeated digest and status increments the entry and moves it to the front", () => {
    const first = withSnapshot([], finished, now);
    const second = withSnapshot(first, { ...finished, status: "HealthCheckFailed" }, now);
    const third = withSnapshot(second, { ...finished, revision: "v2" }, now + 1_000);
    expect(third).toHaveLength(2);
    expect(third[0]).toEqual({
      digest: "sha256:a",
      firstReconciled: "2026-01-01T00:00:00Z",
      lastReconciled: "2026-01-01T00:00:01Z",
      lastReconciledDuration: "1.5s",
      lastReconciledStatus: "ReconciliationSucceeded",
      totalReconciliations: 2,
      metadata: { revision: "v2", originRevision: "o" },
    });
  });

  test("digests of a build with a Secret are keyed by the installation", () => {
    const before = withSnapshot(withSnapshot([], finished, now), { ...finished, digest: "sha256:b" }, now);
    const key = new Secret("0".repeat(64));
    const once = withSnapshot(before, { ...finished, key }, now);
    const [front, former] = withSnapshot(once, { ...finished, key }, now);
    expect(front).toMatchObject({ digest: keyedDigest(key, "sha256:a"), totalReconciliations: 3 });
    expect(former).toMatchObject({ digest: keyedDigest(key, "sha256:b"), totalReconciliations: 1 });
    expect(front?.digest).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(front?.digest).not.toBe(keyedDigest(new Secret("1".repeat(64)), "sha256:a"));
  });

  test("the newest five entries are kept", () => {
    const digests = ["a", "b", "c", "d", "e", "f"];
    const history = digests.reduce<ReturnType<typeof withSnapshot>>(
      (list, digest) => withSnapshot(list, { ...finished, digest }, now),
      [],
    );
    expect(history.map(({ digest }) => digest)).toEqual(["f", "e", "d", "c", "b"]);
  });
});

describe("the inventory in the status", () => {
  const entry = (id: string, state: InventoryEntry["state"] = "live"): InventoryEntry => ({ id, version: "v1", state });

  test("lists existing objects, not planned, terminating or kept ones", () => {
    const entries = [entry("a"), entry("b", "planned"), entry("c", "deleting"), entry("d", "retained")];
    expect(statusInventory(entries, undefined)).toEqual({ entries: [{ id: "a", v: "v1" }] });
  });

  test("lists a planned object that it listed before, because Flux has applied it", () => {
    const before = { entries: ["a", "b", "c"].map((id) => ({ id, v: "v1" })) };
    const entries = [entry("a", "planned"), entry("b", "deleting"), entry("c", "retained"), entry("d", "planned")];
    expect(statusInventory(entries, before)).toEqual({ entries: [{ id: "a", v: "v1" }] });
  });

  test("lists as many of 20,000 entries as fit into an object", () => {
    const entries = Array.from({ length: 20_000 }, (_, index) =>
      entry(`namespace-of-the-team_object-${index}_apps_Deployment`),
    );
    const bytes = JSON.stringify(statusInventory(entries, undefined)).length;
    expect(bytes).toBeGreaterThan(900_000);
    expect(bytes).toBeLessThan(1_050_000);
  });
});

describe("the state that a run carries over", () => {
  test("health checks follow after 1, 2, 3, 5, 5 seconds; failures back off from 750 ms to 15 minutes", () => {
    expect([0, 1, 2, 3, 4, 50].map(nextLookMs)).toEqual([1_000, 2_000, 3_000, 5_000, 5_000, 5_000]);
    expect([0, 1, 2, 40].map((failures) => backOffMs(failures))).toEqual([750, 1_500, 3_000, 900_000]);
  });

  test("objects that a finalizer may hold for long are checked less and less often, down to once a minute", () => {
    const seconds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 500].map((looks) => nextDeletionLookMs(looks) / 1_000);
    expect(seconds).toEqual([1, 2, 3, 5, 10, 20, 40, 60, 60, 60]);
  });

  test("carried state of another release of Sluice is ignored", () => {
    expect(readCarriedState(undefined)).toEqual({ failures: 0 });
    expect(readCarriedState({ wait: "of old" })).toEqual({ failures: 0 });
  });
});
