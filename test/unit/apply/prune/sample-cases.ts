import { kustomizeGroup, ownerLabels } from "../../../../lib/api/names.ts";
import type { Claimant, Seen } from "../../../../lib/apply/prune/facts.ts";
import type { OwnerState } from "../../../../lib/apply/set/apply-set.ts";
import { ourApply, owner, there } from "./sample-facts.ts";

export const nextOwner = (state: OwnerState): Claimant => ({ uid: "uid-b", owner: "Kustomization/team/b", state });

export const marked = { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } };

export const theirs = { labels: ownerLabels({ name: "b", namespace: "team" }) };

export const deletionTimestamp = "2026-01-01T00:00:00Z";

/** Every value that each fact about one object can have. */
export const space = {
  state: ["live", "planned", "deleting", "retained"],
  seen: ["there", "gone", "unasked", "unknown"],
  labels: ["ours", "theirs", "half", "none"],
  mark: [false, true],
  made: ["as recorded", "anew by us", "anew by another"],
  deletion: [false, true],
  claim: [undefined, "alive", "deleting", "gone"],
  expected: [false, true],
  wanted: [false, true],
  policy: ["prune", "retain"],
  isFinalizing: [false, true],
  cluster: ["cluster", "another"],
} as const;

export type Case = { readonly [Fact in keyof typeof space]: (typeof space)[Fact][number] };

export function objectOf({
  seen,
  labels,
  mark,
  made,
  deletion,
}: Pick<Case, "deletion" | "labels" | "made" | "mark" | "seen">): Seen {
  if (seen === "gone" || seen === "unasked") return { kind: seen };
  if (seen === "unknown") return { kind: "unknown", message: "query failed: forbidden" };
  const [name = ["", ""], namespace = ["", ""]] = Object.entries(ownerLabels(owner));
  const labelled = {
    ours: ownerLabels(owner),
    theirs: theirs.labels,
    half: Object.fromEntries([name, [namespace[0], "elsewhere"]]),
    none: {},
  };
  return there("x", {
    labels: labelled[labels],
    ...(mark ? marked : {}),
    uid: made === "as recorded" ? "uid-x" : "uid-anew",
    managedFields: made === "anew by another" ? [] : [ourApply],
    ...(deletion ? { deletionTimestamp } : {}),
  });
}
