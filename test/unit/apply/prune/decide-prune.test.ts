import { describe, expect, test } from "vitest";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import type { Claimant, PruneFacts } from "../../../../lib/apply/prune/facts.ts";
import { deletionTimestamp, marked, nextOwner, theirs } from "./sample-cases.ts";
import { factsOf, handOverUpdate, ourApply, ref, there, unwanted } from "./sample-facts.ts";

describe("the prune decision about one object", () => {
  const why = (facts: Parameters<typeof unwanted>[1], more: Partial<PruneFacts> = {}) =>
    decidePrune(factsOf([unwanted(ref("x"), facts)], more))[0];

  test.each([
    {
      name: "an object whose labels name another owner",
      facts: { object: there("x", theirs) },
      is: { kind: "keep", isRetained: false, why: "its owner labels name another owner", isAwaited: false },
    },
    {
      name: "an object of another owner that waits for our claim to end",
      facts: { object: there("x", theirs), claimants: [nextOwner("alive")] },
      is: { kind: "keep", isAwaited: true, labelled: nextOwner("alive") },
    },
    {
      name: "an object of another owner that is terminating and may still give it back",
      facts: { object: there("x", theirs), claimants: [nextOwner("gone"), nextOwner("deleting")] },
      is: { kind: "keep", isAwaited: false, labelled: nextOwner("deleting") },
    },
    {
      name: "an object with a protecting annotation",
      facts: { object: there("x", marked), claimants: [nextOwner("alive")] },
      is: {
        kind: "keep",
        isRetained: true,
        why: "kustomize.toolkit.fluxcd.io/prune: disabled on the object in the cluster",
        isAwaited: false,
      },
    },
    {
      name: "an object that another client created again",
      facts: { object: there("x", { uid: "anew", managedFields: [] }) },
      is: { kind: "keep", isRetained: false, why: "another client created an object with this name" },
    },
    {
      name: "an object that another owner claims",
      facts: { claimants: [nextOwner("gone"), nextOwner("alive")] },
      is: {
        kind: "handOver",
        why: "Kustomization/team/b claims it and has not applied it yet",
        to: { owner: "Kustomization/team/b", claimant: nextOwner("alive") },
      },
    },
    {
      name: "an object that could not be read",
      facts: { object: { kind: "unknown", message: "query failed: forbidden" } as const },
      is: { kind: "unknown", line: "ConfigMap/t/x query failed: forbidden" },
    },
    {
      name: "a terminating object",
      facts: { object: there("x", { deletionTimestamp }) },
      is: { isTerminating: true },
    },
  ])("$name", ({ facts, is }) => {
    expect(why(facts)).toMatchObject(is);
  });

  test.each([{ isFinalizing: true }, { isFinalizing: false }])(
    "keeps an object with another owner's labels even if the ledger has no claim of that owner: $isFinalizing",
    (more) => {
      // A hand-over has written the labels, and the table is restored from a backup of the time before the claim.
      const object = there("x", { ...theirs, managedFields: [ourApply, handOverUpdate] });
      expect(why({ object, claimants: [] }, more)).toMatchObject({ kind: "keep", isRetained: false });
    },
  );

  test("keeps a namespace with a retained object in it, even if it is ours and no other owner wants it", () => {
    const namespace = ref("t", { kind: "Namespace", namespace: "" });
    const entries = [unwanted(namespace), unwanted(ref("x"), { state: "retained" })];
    expect(decidePrune(factsOf(entries))).toMatchObject([
      { kind: "refuse", line: expect.stringContaining("ConfigMap/t/x (kept when it left the artifact)") },
    ]);
  });

  test("names the first owner by name if several are about to take an object over", () => {
    for (const names of [
      ["c", "d"],
      ["d", "c"],
    ]) {
      const expected = names.map((name) => ({ ref: ref("x"), owner: `Kustomization/team/${name}` }));
      expect(why({}, { expected })).toMatchObject({ kind: "handOver", to: { owner: "Kustomization/team/c" } });
    }
  });

  test("refuses a namespace only if an owner that is not deleted would delete it", () => {
    const namespace = ref("t", { kind: "Namespace", namespace: "" });
    const kinds = (more: Partial<PruneFacts>) =>
      decidePrune(factsOf([unwanted(namespace)], { wanted: [{ ref: ref("y") }], ...more })).map(({ kind }) => kind);
    expect(kinds({})).toEqual(["refuse"]);
    expect(kinds({ policy: "retain" })).toEqual(["keep"]);
    expect(kinds({ isFinalizing: true })).toEqual(["delete"]);
  });

  test("hands over an object that another owner is about to take, even if an annotation protects it", () => {
    const expected = [{ ref: ref("x"), owner: "Kustomization/team/c" }];
    expect(why({ object: there("x", marked) }, { expected })).toMatchObject({
      kind: "handOver",
      why: "Kustomization/team/c is about to apply it",
      to: { claimant: undefined },
    });
  });

  test("prefers among the claimants the one that a sibling names as next owner; any claimant counts", () => {
    const expected = [{ ref: ref("x"), owner: "Kustomization/team/c" }];
    const claimed = (...names: readonly string[]): readonly Claimant[] =>
      names.map((name) => ({ uid: `uid-${name}`, owner: `Kustomization/team/${name}`, state: "alive" }));
    for (const [claimants, nextOwner] of [
      [claimed("b", "c"), "Kustomization/team/c"],
      [claimed("b"), "Kustomization/team/b"],
    ] as const) {
      expect(why({ claimants }, { expected })).toMatchObject({
        kind: "handOver",
        to: { owner: nextOwner, claimant: { owner: nextOwner } },
      });
    }
  });

  test("treats an object that became unreadable as deleted only if its delete was accepted and its owner is being deleted", () => {
    const forbidden = { kind: "unknown", message: "query failed: forbidden", isForbidden: true } as const;
    const away = { kind: "unknown", message: "query failed: later" } as const;
    const isDeleted = (facts: Parameters<typeof unwanted>[1], isFinalizing: boolean) =>
      "isDeleted" in (why(facts, { isFinalizing }) ?? {});
    expect(isDeleted({ state: "deleting", object: forbidden }, true)).toBe(true);
    expect(isDeleted({ state: "deleting", object: forbidden }, false)).toBe(false);
    expect(isDeleted({ state: "deleting", object: away }, true)).toBe(false);
    expect(isDeleted({ object: forbidden }, true)).toBe(false);
  });

  test("does nothing in a cluster that is not the inventory's, and reports that", () => {
    expect(why({}, { clusterUid: "another" })).toMatchObject({
      kind: "unknown",
      line: "ConfigMap/t/x not pruned: the inventory is of cluster cluster, and this is another",
    });
  });
});
