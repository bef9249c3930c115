import { describe, expect, test } from "vitest";
import { progressOf } from "../../../cli/progress.ts";
import { condition, kustomization } from "./cluster-objects.ts";

describe("the progress of an object of generation 2", () => {
  const of = (status: object, metadata: object = {}) => {
    const made = kustomization("web", {}, status);
    return progressOf({ ...made, metadata: { ...made.metadata, generation: 2, ...metadata } });
  };
  const stalled = condition("Stalled", "True", "bad spec");
  const failed = { kind: "failed", message: "bad spec" };
  const inProgress = { kind: "in progress" };

  test.each([
    {
      name: "ready",
      status: { observedGeneration: 2, conditions: [condition("Ready", "True", "")] },
      is: { kind: "current" },
    },
    {
      name: "ready at generation 1",
      status: { observedGeneration: 1, conditions: [condition("Ready", "True", "")] },
      is: inProgress,
    },
    {
      name: "not ready",
      status: { observedGeneration: 2, conditions: [condition("Ready", "False", "")] },
      is: inProgress,
    },
    {
      name: "reconciling though ready",
      status: {
        observedGeneration: 2,
        conditions: [condition("Ready", "True", ""), condition("Reconciling", "True", "")],
      },
      is: inProgress,
    },
    { name: "stalled", status: { observedGeneration: 2, conditions: [stalled] }, is: failed },
    { name: "stalled at generation 1", status: { observedGeneration: 1, conditions: [stalled] }, is: inProgress },
    {
      name: "stalled at generation 2, which is not observed",
      status: { observedGeneration: 1, conditions: [{ ...stalled, observedGeneration: 2 }] },
      is: failed,
    },
    { name: "stalled without a generation", status: { conditions: [stalled] }, is: failed },
    {
      name: "stalled for a reason that only Ready has",
      status: { observedGeneration: 2, conditions: [stalled, condition("Ready", "False", "the port is invalid\n")] },
      is: { kind: "failed", message: "bad spec: the port is invalid" },
    },
    {
      name: "no longer stalled",
      status: { observedGeneration: 2, conditions: [{ ...stalled, status: "False" }] },
      is: { kind: "current" },
    },
  ])("$name", ({ status, is }) => {
    expect(of(status)).toEqual(is);
  });

  test("being deleted counts as failed, whatever its conditions are", () => {
    const status = { observedGeneration: 2, conditions: [condition("Ready", "True", "")] };
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(of(status, { deletionTimestamp })).toEqual({ kind: "failed", message: "the object is being deleted" });
  });
});
