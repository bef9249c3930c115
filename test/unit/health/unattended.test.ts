import { describe, expect, test } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { refOf } from "../../../lib/core/manifest.ts";
import { checkHealth, type HealthTarget, unknownText, verdict } from "../../../lib/health/check-health.ts";
import { attendedWithinMs, isUnattended, lastChangeOf } from "../../../lib/health/unattended.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const created = "2026-11-28T12:00:00Z";
const release = (more: Partial<LiveObject> = {}, generation = 2): LiveObject => ({
  apiVersion: "helm.toolkit.fluxcd.io/v2",
  kind: "HelmRelease",
  metadata: { name: "web", namespace: "apps", uid: "u", generation, creationTimestamp: created },
  ...more,
});

describe("a status shows that a controller handles an object", () => {
  test.each([
    { name: "no status", status: undefined, isAlone: true },
    { name: "an empty one", status: {}, isAlone: true },
    { name: "the default of the definition", status: { observedGeneration: -1 }, isAlone: true },
    {
      name: "one of an earlier generation",
      status: { observedGeneration: 1, conditions: [{ type: "Ready" }] },
      isAlone: true,
    },
    { name: "one of this generation", status: { observedGeneration: 2 }, isAlone: false },
    {
      name: "a condition of this generation, while the status has an earlier one",
      status: { observedGeneration: 1, conditions: [{ type: "Reconciling", observedGeneration: 2 }] },
      isAlone: false,
    },
    {
      name: "conditions of an earlier generation",
      status: { observedGeneration: -1, conditions: [{ type: "Reconciling", observedGeneration: 1 }] },
      isAlone: true,
    },
    { name: "Flagger's, which names no generation", status: { phase: "Initialized" }, isAlone: false },
  ])("unless it has $name: $isAlone", ({ status, isAlone }) => {
    expect(isUnattended(release({ status }))).toBe(isAlone);
  });
});

test("the last change of an object is its creation, or the last write of anything but its status", () => {
  const entry = { manager: "m", operation: "Apply", apiVersion: "v1" } as const;
  const metadata = {
    ...release().metadata,
    managedFields: [
      { ...entry, time: "2026-11-28T13:00:00Z" },
      { ...entry, time: "2026-11-28T14:00:00Z", subresource: "status" },
      entry,
    ],
  };
  expect(lastChangeOf(release())).toBe(Date.parse(created));
  expect(lastChangeOf(release({ metadata }))).toBe(Date.parse("2026-11-28T13:00:00Z"));
});

describe("the health of an object that Sluice does not reconcile", () => {
  const at = Date.parse(created);
  const check = async (live: LiveObject, now: number, since?: number, isUnreconciled = true) => {
    const target: HealthTarget = { ref: refOf(live), mayVanish: false };
    const rules = { ruleOf: () => undefined, isUnreconciled: () => isUnreconciled };
    const cluster = { ...noTarget, get: async () => live };
    return checkHealth([target], { cluster, now, rules, ...(since === undefined ? {} : { since }) }, signal);
  };
  const behind = release({ status: { observedGeneration: -1 } });

  test.each([
    { name: "before a controller has had time to start on it", now: at + attendedWithinMs - 1, status: "InProgress" },
    { name: "after that", now: at + attendedWithinMs, status: "Unknown" },
    {
      name: "by our clock, where that of the API server is ahead",
      now: at - 5_000,
      since: at - 30_000,
      status: "Unknown",
    },
  ])("is $status $name", async ({ now, since, status }) => {
    expect(await check(behind, now, since)).toMatchObject([{ status }]);
  });

  test("is kstatus' result for a kind that Sluice reconciles, however long that takes", async () => {
    expect(await check(behind, at + 3_600_000, undefined, false)).toMatchObject([{ status: "InProgress" }]);
  });

  test("is unknown at once for a kind without a status, which kstatus considers Current", async () => {
    const [seen] = await check(release({ apiVersion: "notification.toolkit.fluxcd.io/v1beta3", kind: "Alert" }), at);
    const error =
      "Sluice does not reconcile Alert (notification.toolkit.fluxcd.io), and no other controller has worked on this object";
    expect(seen).toMatchObject({ status: "Unknown", error, isUnattended: true });
  });

  test.each(["Terminating", "Failed"])("is %s in that case", async (status) => {
    const metadata = { ...release().metadata, deletionTimestamp: created };
    const stalled = [{ type: "Stalled", status: "True", reason: "x", message: "" }];
    const live =
      status === "Failed" ? release({ status: { observedGeneration: 2, conditions: stalled } }) : release({ metadata });
    expect(await check(live, at + 3_600_000)).toMatchObject([{ status }]);
  });

  test("blocks no verdict, and is named in it", async () => {
    const [alone] = await check(behind, at + attendedWithinMs);
    if (alone === undefined) throw new Error("nothing seen");
    const other = { ref: { ...alone.ref, name: "db" }, status: "Current" } as const;
    expect(verdict([alone, other])).toEqual({ kind: "healthy", unknown: [alone] });
    const pending = { ...other, status: "InProgress" } as const;
    expect(verdict([alone, pending])).toMatchObject({
      kind: "waiting",
      message: "timeout waiting for: [HelmRelease/apps/db status: 'InProgress']",
    });
    const failed = { ...other, status: "Failed" } as const;
    expect(verdict([alone, failed], { isFailFast: false })).toMatchObject({ kind: "failed", unhealthy: [failed] });
  });

  test("is reported for ten objects, and the rest are counted", async () => {
    const [alone] = await check(behind, at + attendedWithinMs);
    if (alone === undefined) throw new Error("nothing seen");
    const many = Array.from({ length: 12 }, (_, index) => ({ ...alone, ref: { ...alone.ref, name: `r${index}` } }));
    const text = unknownText(many) ?? "";
    expect(text).toContain("HelmRelease/apps/r9 status: 'Unknown'");
    expect(text).not.toContain("HelmRelease/apps/r10");
    expect(text).toMatch(/ and 2 more\]$/);
    expect(unknownText([])).toBeUndefined();
  });
});
