import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameOf } from "../../../src/controllers/object-facts.ts";
import { firstReplicas, maxUnavailable, nextScales, replicasOf } from "../../../src/controllers/rollout.ts";
import type { ApiObject } from "../../../src/core/api-object.ts";

function deployment(replicas: number, maxSurge: number | string, unavailable: number | string): ApiObject {
  const rollingUpdate = { maxSurge, maxUnavailable: unavailable };
  return { metadata: { name: "app" }, spec: { replicas, strategy: { type: "RollingUpdate", rollingUpdate } } };
}

function recreated(replicas: number): ApiObject {
  return { metadata: { name: "app" }, spec: { replicas, strategy: { type: "Recreate" } } };
}

/** A set that wants so many Pods and has so many, of which some are available; later names are younger. */
function set(name: string, replicas: number, availableReplicas = replicas, present = replicas): ApiObject {
  return { metadata: { name }, spec: { replicas }, status: { replicas: present, availableReplicas } };
}

function stepsOf(of: ApiObject, current: ApiObject | undefined, ...old: readonly ApiObject[]): readonly string[] {
  return nextScales(of, { current, old }).map(({ set: one, replicas }) => `${nameOf(one)} ${replicas}`);
}

describe("the next step of a rolling update", () => {
  test.each([
    ["grows by the surge", deployment(10, 3, 2), set("new", 0), [set("old", 10)], ["new 3"]],
    ["grows by a percentage, rounded up", deployment(10, "25%", 0), set("new", 0), [set("old", 10)], ["new 3"]],
    ["shrinks what is too many", deployment(10, 3, 2), set("new", 3, 0), [set("old", 10)], ["old 8"]],
    ["waits for unavailable Pods", deployment(10, 3, 2), set("new", 5, 0), [set("old", 8)], []],
    ["continues for available ones", deployment(10, 3, 2), set("new", 5, 2), [set("old", 8)], ["old 6"]],
    ["is scaled down at once", deployment(2, 1, 0), set("new", 5), [], ["new 2"]],
    ["grows no further than is wanted", deployment(2, 5, 0), set("new", 1), [], ["new 2"]],
    [
      "deletes unavailable Pods first",
      deployment(3, 1, 1),
      set("new", 1, 1),
      [set("o1", 2), set("o2", 1, 0)],
      ["o1 1", "o2 0"],
    ],
    ["deletes the oldest", deployment(4, 1, 1), set("new", 1, 1), [set("o2", 2), set("o1", 2)], ["o1 0"]],
    ["is done", deployment(3, 1, 0), set("new", 3), [set("old", 0)], []],
    ["is none without a ReplicaSet of the template", deployment(3, 1, 0), undefined, [set("old", 3)], []],
  ])("%s", (_, of, current, old, steps) => {
    expect(stepsOf(of, current, ...old)).toEqual(steps);
  });

  test("never has more Pods than surge allows or fewer available ones than required, and ends", () => {
    const amount = fc.integer({ min: 0, max: 4 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), amount, amount, amount, (replicas, surge, missing, third) => {
        const of = deployment(replicas, surge, surge === 0 && missing === 0 ? 1 : missing);
        const [most, fewest] = [replicas + surge, replicas - maxUnavailable(of)];
        let sets = {
          current: set("new", 0),
          old: [set("o1", Math.min(third, replicas)), set("o2", Math.max(0, replicas - third))],
        };
        for (let steps = 0; ; steps += 1) {
          const scales = nextScales(of, sets);
          if (scales.length === 0) break;
          expect(steps).toBeLessThan(40);
          const after = (one: ApiObject): ApiObject => {
            const scale = scales.find((other) => other.set === one);
            // New Pods are available by the next step.
            return scale === undefined ? one : set(nameOf(one), scale.replicas);
          };
          sets = { current: after(sets.current), old: sets.old.map(after) };
          const total = [sets.current, ...sets.old].reduce((sum, one) => sum + replicasOf(one), 0);
          expect(total).toBeLessThanOrEqual(most);
          expect(total).toBeGreaterThanOrEqual(fewest);
        }
        expect([sets.current, ...sets.old].map((one) => one["spec"])).toEqual([
          { replicas },
          { replicas: 0 },
          { replicas: 0 },
        ]);
      }),
    );
  });
});

describe("a recreated Deployment", () => {
  test("removes its old Pods before it creates new ones", () => {
    expect(stepsOf(recreated(2), undefined, set("old", 2))).toEqual(["old 0"]);
    expect(firstReplicas(recreated(2), { current: undefined, old: [set("old", 2)] })).toBeUndefined();
    expect(firstReplicas(recreated(2), { current: undefined, old: [set("old", 0, 0, 1)] })).toBeUndefined();
    expect(firstReplicas(recreated(2), { current: undefined, old: [set("old", 0)] })).toBe(2);
  });

  test("that returns to a former template waits for the other Pods too", () => {
    expect(stepsOf(recreated(2), set("new", 0), set("old", 2))).toEqual(["old 0"]);
    expect(stepsOf(recreated(2), set("new", 0), set("old", 0, 0, 1))).toEqual([]);
    expect(stepsOf(recreated(2), set("new", 0), set("old", 0))).toEqual(["new 2"]);
    expect(stepsOf(recreated(3), set("new", 2), set("old", 0))).toEqual(["new 3"]);
  });
});

test("a new ReplicaSet starts with all Pods if there are no others, and otherwise with what surge allows", () => {
  const sets = (...old: readonly ApiObject[]) => ({ current: undefined, old });
  expect(firstReplicas(deployment(3, 1, 0), sets())).toBe(3);
  expect(firstReplicas(deployment(3, 1, 0), sets(set("old", 3)))).toBe(1);
  expect(firstReplicas(deployment(3, 1, 0), sets(set("old", 9)))).toBe(0);
});
