import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../../lib/api/names.ts";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import type { PruneDecision } from "../../../../lib/apply/prune/decisions.ts";
import type { EntryFacts, PruneFacts } from "../../../../lib/apply/prune/facts.ts";
import { type Pruned, withoutPruned } from "../../../../lib/apply/prune/pruned.ts";
import type { OwnerState } from "../../../../lib/apply/set/apply-set.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { type Case, nextOwner, objectOf, space } from "./sample-cases.ts";
import { factsOf, owner, ref, unwanted } from "./sample-facts.ts";

const namespaceRef = (name: string) => ref(name, { kind: "Namespace", namespace: "" });
const someRefs = fc.oneof(
  fc.constantFrom("n", "m").map(namespaceRef),
  fc
    .record({ name: fc.constantFrom("a", "b", "c"), namespace: fc.constantFrom("n", "m", "t") })
    .map(({ name, namespace }) => ref(name, { namespace })),
);
const byId = (one: { readonly ref: Parameters<typeof formatEntryId>[0] }) => formatEntryId(one.ref);
const someEntries: fc.Arbitrary<readonly EntryFacts[]> = fc.uniqueArray(
  fc
    .record({
      of: someRefs,
      state: fc.constantFrom("live", "planned", "deleting", "retained"),
      seen: fc.constantFrom<Case["seen"]>("there", "there", "there", "gone", "unknown"),
      labels: fc.constantFrom<Case["labels"]>("ours", "ours", "ours", "theirs"),
      mark: fc.constantFrom(false, false, true),
      made: fc.constantFrom(...space.made),
      deletion: fc.constantFrom(false, false, false, true),
      claims: fc.uniqueArray(fc.constantFrom<OwnerState>("alive", "deleting", "gone"), { maxLength: 1 }),
    })
    .map(({ of, state, claims, ...seen }) => {
      const object = objectOf(seen);
      return unwanted(of, { state, object, uid: "uid-x", claimants: claims.map(nextOwner) });
    }),
  { selector: byId, maxLength: 8 },
);
const somePlaced = fc.uniqueArray(
  someRefs.map((of) => ({ ref: of })),
  { selector: byId, maxLength: 2 },
);
const someExpected = fc.uniqueArray(
  fc.record({ ref: someRefs, owner: fc.constantFrom("Kustomization/t/d", "Kustomization/t/e") }),
  { selector: (one) => `${byId(one)} ${one.owner}`, maxLength: 2 },
);
const someOwners = fc.uniqueArray(
  fc.record({
    ref: fc
      .record({ name: fc.constantFrom("f", "g"), namespace: fc.constantFrom("n", "t") })
      .map((at) => ref(at.name, { ...at, group: kustomizeGroup, kind: "Kustomization" })),
    isSelf: fc.constant(false),
    isTerminating: fc.boolean(),
    cascades: fc.boolean(),
    has: somePlaced,
  }),
  { selector: byId, maxLength: 2 },
);
const someFacts: fc.Arbitrary<PruneFacts> = fc.record({
  owner: fc.constant(owner),
  clusterUid: fc.constant(owner.clusterUid),
  policy: fc.constantFrom("prune", "prune", "prune", "retain"),
  isFinalizing: fc.constantFrom(false, false, true),
  wanted: somePlaced,
  expected: someExpected,
  owners: someOwners,
  entries: someEntries,
});

/** What a run makes of decisions: the outcomes as the executor tells them. */
function outcomeOf(decision: PruneDecision): Pruned {
  const { entry } = decision;
  switch (decision.kind) {
    case "gone":
      return { kind: "deleted", entry, held: false };
    case "delete":
      return { kind: "deleted", entry, held: decision.isTerminating };
    case "keep":
      return { kind: "skipped", entry, why: decision.why, isMarked: decision.isRetained };
    case "handOver":
      return { kind: "pending", entry, why: decision.why, to: decision.to.owner };
    case "refuse":
    case "unknown":
      return { kind: "refused", entry, message: decision.line };
  }
}

describe("the prune decision about a whole inventory", () => {
  const runs = { numRuns: 2_000 };

  test("does not depend on the order of the facts", () => {
    const shuffled = someFacts.chain((facts) =>
      fc
        .record({
          entries: fc.shuffledSubarray([...facts.entries], { minLength: facts.entries.length }),
          wanted: fc.shuffledSubarray([...facts.wanted], { minLength: facts.wanted.length }),
          expected: fc.shuffledSubarray([...facts.expected], { minLength: facts.expected.length }),
          owners: fc.shuffledSubarray([...facts.owners], { minLength: facts.owners.length }),
        })
        .map((others) => [facts, { ...facts, ...others }] as const),
    );
    fc.assert(
      fc.property(shuffled, ([facts, other]) => {
        expect(decidePrune(other)).toEqual(decidePrune(facts));
      }),
      runs,
    );
  });

  test("deletes nothing along with an object that is wanted, expected, owned by another or kept by the prune", () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const decisions = decidePrune(facts);
        if (facts.isFinalizing) return;
        const deleted = new Set(
          decisions.flatMap((one) => (one.kind === "delete" && !one.isTerminating ? [one.entry.id] : [])),
        );
        const wanted = new Set(facts.wanted.map(byId));
        const left = facts.entries.filter(({ entry, object }) => {
          const isThere = object.kind === "unknown" || (object.kind === "there" && !object.metadata.deletionTimestamp);
          const isTerminating = decisions.some(({ entry: { id }, kind }) => id === entry.id && kind === "delete");
          return isThere && !isTerminating && !wanted.has(entry.id);
        });
        const living = facts.owners.filter(({ isTerminating }) => !isTerminating);
        const staying = [...facts.wanted, ...facts.expected, ...living, ...living.flatMap(({ has }) => has), ...left];
        for (const name of ["n", "m"]) {
          if (!deleted.has(formatEntryId(namespaceRef(name)))) continue;
          expect(staying.filter((one) => one.ref.namespace === name)).toEqual([]);
        }
      }),
      runs,
    );
  });

  test("leaves nothing to do when it is made again after it was carried out", () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const decisions = decidePrune(facts);
        // Nothing at all is done then.
        if (decisions.some(({ kind }) => kind === "refuse")) return;
        const pruned = decisions.map(outcomeOf);
        const entries = facts.entries.map(({ entry }) => entry);
        const after = withoutPruned(entries, pruned);
        const known = new Map(after.map((entry) => [entry.id, entry]));
        const deleted = new Set(decisions.flatMap((one) => (one.kind === "delete" ? [one.entry.id] : [])));
        const next = facts.entries.flatMap((one): readonly EntryFacts[] => {
          const entry = known.get(one.entry.id);
          return entry === undefined
            ? []
            : [{ ...one, entry, ...(deleted.has(entry.id) && { object: { kind: "gone" } }) }];
        });
        const again = decidePrune({ ...facts, entries: next });
        expect(again.filter(({ kind }) => kind === "delete" || kind === "keep" || kind === "refuse")).toEqual([]);
        const unchanged = again.filter(({ kind }) => kind !== "gone").map(outcomeOf);
        expect(withoutPruned(after, unchanged)).toEqual(after);
      }),
      runs,
    );
  });

  test("lists each entry once, in apply order", () => {
    const entries = [unwanted(ref("b")), unwanted(namespaceRef("n")), unwanted(ref("a"))];
    expect(decidePrune(factsOf(entries)).map(({ entry }) => entry.id)).toEqual([
      "_n__Namespace",
      "t_a__ConfigMap",
      "t_b__ConfigMap",
    ]);
  });
});
