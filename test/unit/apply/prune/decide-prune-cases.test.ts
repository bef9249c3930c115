import { beforeAll, describe, expect, test } from "vitest";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import type { PruneDecision } from "../../../../lib/apply/prune/decisions.ts";
import { type Case, nextOwner, objectOf, space } from "./sample-cases.ts";
import { factsOf, ref, unwanted } from "./sample-facts.ts";

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
      isFinalizing: pick(space.isFinalizing),
      cluster: pick(space.cluster),
    };
  }
}

function decisionOf(one: Case): PruneDecision | undefined {
  const x = ref("x");
  const facts = factsOf(
    [unwanted(x, { state: one.state, object: objectOf(one), claimants: one.claim ? [nextOwner(one.claim)] : [] })],
    {
      clusterUid: one.cluster,
      policy: one.policy,
      isFinalizing: one.isFinalizing,
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
  one.made !== "anew by another" &&
  one.claim !== "alive" &&
  !one.expected;

const isDeleted = (decision: PruneDecision | undefined) => decision?.kind === "delete" && !decision.isTerminating;

describe("the prune decision about one object, for every combination of facts", () => {
  let decided: readonly { readonly one: Case; readonly decision: PruneDecision | undefined }[] = [];
  beforeAll(() => {
    decided = [...allCases()].map((one) => ({ one, decision: decisionOf(one) }));
  });
  /** The cases of which this is true although it should not be. */
  const casesWhere = (isWrong: (one: Case, decision: PruneDecision | undefined) => boolean) =>
    decided.filter(({ one, decision }) => isWrong(one, decision));

  test("deletes it only if every fact allows it", () => {
    const wrong = casesWhere((one, decision) => isDeleted(decision) !== (isOursToDelete(one) && !one.deletion));
    expect(wrong).toEqual([]);
    // States, makings and claims that allow it, of an owner that stays and of one that leaves.
    expect(decided.filter(({ decision }) => isDeleted(decision))).toHaveLength(3 * 2 * 3 * 2);
  });

  test("drops it only if it is gone, or belongs to another owner by its labels or its creation", () => {
    const wrong = casesWhere((one, decision) => {
      const isForgotten = decision?.kind === "gone" || (decision?.kind === "keep" && !decision.isRetained);
      const isAnothers = one.seen === "there" && (one.labels !== "ours" || one.made === "anew by another");
      return isForgotten && ((one.seen !== "gone" && !isAnothers) || one.cluster === "another");
    });
    expect(wrong).toEqual([]);
  });

  test("keeps its entry while a living owner claims it, until that owner's labels are on it", () => {
    const wrong = casesWhere((one, decision) => {
      const isOurs = one.seen === "there" && one.labels === "ours" && !one.mark && one.made !== "anew by another";
      const isUnwanted = !one.wanted && one.state !== "retained" && one.policy === "prune" && one.cluster === "cluster";
      return isOurs && isUnwanted && one.claim === "alive" && decision?.kind !== "handOver";
    });
    expect(wrong).toEqual([]);
  });

  test("never decides about objects that are wanted or retained", () => {
    const wrong = casesWhere((one, decision) => (one.wanted || one.state === "retained") !== (decision === undefined));
    expect(wrong).toEqual([]);
  });
});
