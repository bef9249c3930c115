import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { kustomizationStyle } from "../../../lib/apply/set/owner-style.ts";
import { blockingFinalizers, terminatingText } from "../../../lib/apply/terminating.ts";
import type { Manifest, Metadata } from "../../../lib/core/manifest.ts";

const manifest = (kind = "ConfigMap", spec = {}): Manifest => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "a", namespace: "t" },
  spec,
});
const going = (more: Partial<Metadata> = {}): Metadata => ({
  name: "a",
  deletionTimestamp: "2026-01-01T00:00:00Z",
  finalizers: ["example.com/hold"],
  ...more,
});
const disabled = { annotations: { [`${kustomizeGroup}/reconcile`]: "disabled" } };

describe("a wanted object that is terminating", () => {
  test.each([
    { name: "a finalizer holds it", wanted: manifest(), live: going(), held: ["example.com/hold"] },
    { name: "no finalizer holds it", wanted: manifest(), live: { name: "a", deletionTimestamp: "x" }, held: [] },
    { name: "it is not terminating", wanted: manifest(), live: { name: "a", finalizers: ["x"] }, held: undefined },
    { name: "it is not to be reconciled", wanted: manifest(), live: going(disabled), held: undefined },
    {
      name: "it is a Job with ttlSecondsAfterFinished",
      wanted: manifest("Job", { ttlSecondsAfterFinished: 0 }),
      live: going(),
      held: undefined,
    },
    {
      name: "it is of another kind with such a field",
      wanted: manifest("Workflow", { ttlSecondsAfterFinished: 0 }),
      live: going(),
      held: ["example.com/hold"],
    },
    {
      name: "it is a Job without ttlSecondsAfterFinished",
      wanted: manifest("Job"),
      live: going(),
      held: ["example.com/hold"],
    },
  ])("$name: $held", ({ wanted, live, held }) => {
    expect(blockingFinalizers(wanted, live, { style: kustomizationStyle })).toEqual(held);
  });

  const applied = (name: string, finalizers?: readonly string[]) => {
    const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "t", name };
    const desired = { id: `t_${name}__ConfigMap`, ref, manifest: manifest(), digest: "d", resource: undefined };
    const entry = { id: desired.id, version: "v1", state: "live" } as const;
    return {
      desired,
      change: "unchanged",
      entry,
      ...(finalizers === undefined ? {} : { blockingFinalizers: finalizers }),
    } as const;
  };
  const waits = "still wanted but being deleted, to be created again once gone: ";
  test.each([
    { name: "no finalizer is left", objects: [applied("a")], text: undefined },
    { name: "one is", objects: [applied("a"), applied("b", ["x", "y"])], text: "ConfigMap/t/b (held by x, y)" },
    {
      name: "many are",
      objects: ["a", "b", "c", "d"].map((each) => applied(each, [])),
      text: "ConfigMap/t/a, ConfigMap/t/b, ConfigMap/t/c and 1 more",
    },
  ])("the message if $name", ({ objects, text }) => {
    expect(terminatingText(objects)).toBe(text && `${waits}${text}`);
  });
});
