import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../../lib/api/names.ts";
import { ownerLabels } from "../../../../lib/api/owner-labels.ts";
import { formatEntryId } from "../../../../lib/apply/entry-id.ts";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import type { PruneDecision } from "../../../../lib/apply/prune/decisions.ts";
import type { Claimant, EntryFacts, PruneFacts, Seen, Standing } from "../../../../lib/apply/prune/facts.ts";
import { type Pruned, withoutPruned } from "../../../../lib/apply/prune/pruned.ts";
import { factsOf, ourApply, owner, ref, there, unwanted } from "./sample-facts.ts";

const heir = (standing: Standing): Claimant => ({ uid: "uid-b", owner: "Kustomization/team/b", standing });
const marked = { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } };
const theirs = { labels: ownerLabels({ name: "b", namespace: "team" }) };
const deletionTimestamp = "2026-01-01T00:00:00Z";

/** Every value that each fact about one object can have. */
const space = {
  state: ["live", "planned", "deleting", "retained"],
  seen: ["there", "gone", "unasked", "unknown"],
  labels: ["ours", "theirs", "half", "none"],
  mark: [false, true],
  made: ["as recorded", "anew by us", "anew by somebody"],
  deletion: [false, true],
  claim: [undefined, "alive", "going", "gone"],
  expected: [false, true],
  wanted: [false, true],
  policy: ["prune", "retain"],
  isLeaving: [false, true],
  cluster: ["cluster", "another"],
} as const;
type Case = { readonly [Fact in keyof typeof space]: (typeof space)[Fact][number] };

function* allCases(): Generator<Case> {
  const count = Object.values(space).reduce((product, { length }) => product * length, 1);
  for (let index = 0; index < count; index++) {
    let rest = index;
    const pick = <Value>(values: readonly [Value, ...Value[]]): Value => {
      const value = values[rest % values.length] ?? values[0];
      rest = Math.floor(rest / values.length);
      return value;
    };
    yield {
      state: pick(space.state),
      seen: pick(space.seen),
      labels: pick(space.labels),
      mark: pick(space.mark),
      made: pick(space.made),
      deletion: pick(space.deletion),
      claim: pick(space.claim),
      expected: pick(space.expected),
      wanted: pick(space.wanted),
      policy: pick(space.policy),
      isLeaving: pick(space.isLeaving),
      cluster: pick(space.cluster),
    };
  }
}

function objectOf({
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
    managedFields: made === "anew by somebody" ? [] : [ourApply],
    ...(deletion ? { deletionTimestamp } : {}),
  });
}

function decisionOf(one: Case): PruneDecision | undefined {
  const x = ref("x");
  const facts = factsOf(
    [unwanted(x, { state: one.state, object: objectOf(one), claimants: one.claim ? [heir(one.claim)] : [] })],
    {
      clusterUid: one.cluster,
      policy: one.policy,
      isLeaving: one.isLeaving,
      wanted: one.wanted ? [{ ref: x }] : [],
      expected: one.expected ? [{ ref: x, owner: "Kustomization/team/c" }] : [],
    },
  );
  return decidePrune(facts)[0];
}

/** What a delete needs, said once more: all of these, whatever else is true. */
const isOursToDelete = (one: Case): boolean =>
  one.cluster === "cluster" &&
  one.policy === "prune" &&
  !one.wanted &&
  one.state !== "retained" &&
  one.seen === "there" &&
  one.labels === "ours" &&
  !one.mark &&
  one.made !== "anew by somebody" &&
  one.claim !== "alive" &&
  !one.expected;

const isDeleted = (decision: PruneDecision | undefined) => decision?.kind === "delete" && !decision.isGoing;

describe("what becomes of one object, in every case of every fact", () => {
  let judged: readonly { readonly one: Case; readonly decision: PruneDecision | undefined }[] = [];
  beforeAll(() => {
    judged = [...allCases()].map((one) => ({ one, decision: decisionOf(one) }));
  });
  /** The cases of which this is true although it should not be. */
  const casesWhere = (isWrong: (one: Case, decision: PruneDecision | undefined) => boolean) =>
    judged.filter(({ one, decision }) => isWrong(one, decision));

  test("it is deleted where all allow it, and nowhere else", () => {
    const wrong = casesWhere((one, decision) => isDeleted(decision) !== (isOursToDelete(one) && !one.deletion));
    expect(wrong).toEqual([]);
    // States, makings and claims that allow it, of an owner that stays and of one that leaves.
    expect(judged.filter(({ decision }) => isDeleted(decision))).toHaveLength(3 * 2 * 3 * 2);
  });

  test("it is known no more only where it is gone, or another's by its labels or its making", () => {
    const wrong = casesWhere((one, decision) => {
      const isForgotten = decision?.kind === "gone" || (decision?.kind === "keep" && !decision.isRetained);
      const isAnothers = one.seen === "there" && (one.labels !== "ours" || one.made === "anew by somebody");
      return isForgotten && ((one.seen !== "gone" && !isAnothers) || one.cluster === "another");
    });
    expect(wrong).toEqual([]);
  });

  test("it stays known where another that lives claims it, until the other's labels are on it", () => {
    const wrong = casesWhere((one, decision) => {
      const isOurs = one.seen === "there" && one.labels === "ours" && !one.mark && one.made !== "anew by somebody";
      const isUnwanted = !one.wanted && one.state !== "retained" && one.policy === "prune" && one.cluster === "cluster";
      return isOurs && isUnwanted && one.claim === "alive" && decision?.kind !== "handOver";
    });
    expect(wrong).toEqual([]);
  });

  test("nothing is decided about what is wanted, or was retained", () => {
    const wrong = casesWhere((one, decision) => (one.wanted || one.state === "retained") !== (decision === undefined));
    expect(wrong).toEqual([]);
  });
});

describe("what becomes of one object", () => {
  const why = (facts: Parameters<typeof unwanted>[1], more: Partial<PruneFacts> = {}) =>
    decidePrune(factsOf([unwanted(ref("x"), facts)], more))[0];

  test.each([
    {
      name: "an object whose labels name another",
      facts: { object: there("x", theirs) },
      is: { kind: "keep", isRetained: false, why: "its owner labels name another owner", isAwaited: false },
    },
    {
      name: "one of another that waits for our claim to end",
      facts: { object: there("x", theirs), claimants: [heir("alive")] },
      is: { kind: "keep", isAwaited: true, labelled: heir("alive") },
    },
    {
      name: "one of another that is being deleted, and may still give it back",
      facts: { object: there("x", theirs), claimants: [heir("gone"), heir("going")] },
      is: { kind: "keep", isAwaited: false, labelled: heir("going") },
    },
    {
      name: "an object with a mark",
      facts: { object: there("x", marked), claimants: [heir("alive")] },
      is: {
        kind: "keep",
        isRetained: true,
        why: "kustomize.toolkit.fluxcd.io/prune: disabled on the object in the cluster",
        isAwaited: false,
      },
    },
    {
      name: "an object that somebody made anew",
      facts: { object: there("x", { uid: "anew", managedFields: [] }) },
      is: { kind: "keep", isRetained: false, why: "somebody else made an object of its name" },
    },
    {
      name: "an object that another claims",
      facts: { claimants: [heir("gone"), heir("alive")] },
      is: {
        kind: "handOver",
        why: "Kustomization/team/b claims it and has not applied it yet",
        to: { owner: "Kustomization/team/b", claimant: heir("alive") },
      },
    },
    {
      name: "an object of which nothing is known",
      facts: { object: { kind: "unknown", message: "query failed: forbidden" } as const },
      is: { kind: "unknown", line: "ConfigMap/t/x query failed: forbidden" },
    },
    {
      name: "an object that is on its way out",
      facts: { object: there("x", { deletionTimestamp }) },
      is: { isGoing: true },
    },
  ])("$name", ({ facts, is }) => {
    expect(why(facts)).toMatchObject(is);
  });

  test("a namespace stays with what was retained in it, although that is ours and nobody else wants it", () => {
    const namespace = ref("t", { kind: "Namespace", namespace: "" });
    const entries = [unwanted(namespace), unwanted(ref("x"), { state: "retained" })];
    expect(decidePrune(factsOf(entries))).toMatchObject([
      { kind: "refuse", line: expect.stringContaining("ConfigMap/t/x (kept when it left the artifact)") },
    ]);
  });

  test("of several that are about to have an object the first by name is named", () => {
    for (const names of [
      ["c", "d"],
      ["d", "c"],
    ]) {
      const expected = names.map((name) => ({ ref: ref("x"), owner: `Kustomization/team/${name}` }));
      expect(why({}, { expected })).toMatchObject({ kind: "handOver", to: { owner: "Kustomization/team/c" } });
    }
  });

  test("a namespace is refused only where it would be deleted by an owner that stays", () => {
    const namespace = ref("t", { kind: "Namespace", namespace: "" });
    const kinds = (more: Partial<PruneFacts>) =>
      decidePrune(factsOf([unwanted(namespace)], { wanted: [{ ref: ref("y") }], ...more })).map(({ kind }) => kind);
    expect(kinds({})).toEqual(["refuse"]);
    expect(kinds({ policy: "retain" })).toEqual(["keep"]);
    expect(kinds({ isLeaving: true })).toEqual(["delete"]);
  });

  test("what another is about to have is that one's before an annotation keeps it here", () => {
    const expected = [{ ref: ref("x"), owner: "Kustomization/team/c" }];
    expect(why({ object: there("x", marked) }, { expected })).toMatchObject({
      kind: "handOver",
      why: "Kustomization/team/c is about to have it",
      to: { claimant: undefined },
    });
  });

  test("of those who claim what a sibling is about to have, that one comes first; any of them knows of it", () => {
    const expected = [{ ref: ref("x"), owner: "Kustomization/team/c" }];
    const claimed = (...names: readonly string[]): readonly Claimant[] =>
      names.map((name) => ({ uid: `uid-${name}`, owner: `Kustomization/team/${name}`, standing: "alive" }));
    for (const [claimants, heir] of [
      [claimed("b", "c"), "Kustomization/team/c"],
      [claimed("b"), "Kustomization/team/b"],
    ] as const) {
      expect(why({ claimants }, { expected })).toMatchObject({
        kind: "handOver",
        to: { owner: heir, claimant: { owner: heir } },
      });
    }
  });

  test("nothing is done in a cluster that is not the inventory's, and that is said", () => {
    expect(why({}, { clusterUid: "another" })).toMatchObject({
      kind: "unknown",
      line: "ConfigMap/t/x not pruned: the inventory is of cluster cluster, and this is another",
    });
  });
});

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
      claims: fc.uniqueArray(fc.constantFrom<Standing>("alive", "going", "gone"), { maxLength: 1 }),
    })
    .map(({ of, state, claims, ...seen }) => {
      const object = objectOf(seen);
      return unwanted(of, { state, object, uid: "uid-x", claimants: claims.map(heir) });
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
    isGoing: fc.boolean(),
    takesAlong: fc.boolean(),
    has: somePlaced,
  }),
  { selector: byId, maxLength: 2 },
);
const someFacts: fc.Arbitrary<PruneFacts> = fc.record({
  owner: fc.constant(owner),
  clusterUid: fc.constant(owner.clusterUid),
  policy: fc.constantFrom("prune", "prune", "prune", "retain"),
  isLeaving: fc.constantFrom(false, false, true),
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
      return { kind: "deleted", entry, held: decision.isGoing };
    case "keep":
      return { kind: "skipped", entry, why: decision.why, isMarked: decision.isRetained };
    case "handOver":
      return { kind: "pending", entry, why: decision.why };
    case "refuse":
    case "unknown":
      return { kind: "refused", entry, message: decision.line };
  }
}

describe("what becomes of a whole inventory", () => {
  const runs = { numRuns: 2_000 };

  test("is the same whatever the order of the facts", () => {
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

  test("takes along nothing that is wanted, expected, had by another that lives on, or left by the prune itself", () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const decisions = decidePrune(facts);
        if (facts.isLeaving) return;
        const deleted = new Set(
          decisions.flatMap((one) => (one.kind === "delete" && !one.isGoing ? [one.entry.id] : [])),
        );
        const wanted = new Set(facts.wanted.map(byId));
        const left = facts.entries.filter(({ entry, object }) => {
          const isThere = object.kind === "unknown" || (object.kind === "there" && !object.metadata.deletionTimestamp);
          const isGoing = decisions.some(({ entry: { id }, kind }) => id === entry.id && kind === "delete");
          return isThere && !isGoing && !wanted.has(entry.id);
        });
        const living = facts.owners.filter(({ isGoing }) => !isGoing);
        const staying = [...facts.wanted, ...facts.expected, ...living, ...living.flatMap(({ has }) => has), ...left];
        for (const name of ["n", "m"]) {
          if (!deleted.has(formatEntryId(namespaceRef(name)))) continue;
          expect(staying.filter((one) => one.ref.namespace === name)).toEqual([]);
        }
      }),
      runs,
    );
  });

  test("is decided once: what was carried out leaves nothing more to do", () => {
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

  test("comes in apply order, each entry once", () => {
    const entries = [unwanted(ref("b")), unwanted(namespaceRef("n")), unwanted(ref("a"))];
    expect(decidePrune(factsOf(entries)).map(({ entry }) => entry.id)).toEqual([
      "_n__Namespace",
      "t_a__ConfigMap",
      "t_b__ConfigMap",
    ]);
  });
});
