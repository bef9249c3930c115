import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import { refKey } from "../../../lib/core/object-ref.ts";
import { ApiError, type ListQuery } from "../../../lib/core/ports/cluster.ts";
import { checkHealth, verdict } from "../../../lib/health/check-health.ts";
import type { HealthRules } from "../../../lib/health/health-rules.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const { signal } = new AbortController();
const noRules: HealthRules = { ruleOf: () => undefined, isUnreconciled: () => false };

function object(kind: string, namespace: string, name: string, more: JsonObject = {}, labels = {}): LiveObject {
  const apiVersion = kind === "Pod" || kind === "ConfigMap" ? "v1" : "apps/v1";
  return { apiVersion, kind, metadata: { name, namespace, uid: `${namespace}/${name}`, labels }, ...more };
}

/** An API server with these objects, which answers what its queries name and nothing else. */
function clusterWith(objects: readonly LiveObject[], listed: () => void = () => undefined) {
  const calls: string[] = [];
  const matches = ({ kind, namespace, labelSelector = "" }: ListQuery, one: LiveObject): boolean =>
    one.kind === kind &&
    (namespace === undefined || one.metadata.namespace === namespace) &&
    labelSelector
      .split(",")
      .filter((pair) => pair !== "")
      .every((pair) => pair === Object.entries(one.metadata.labels ?? {}).map((label) => label.join("="))[0]);
  const target = {
    ...noTarget,
    get: async (ref: Parameters<typeof noTarget.get>[0]) => {
      calls.push(`get ${ref.kind}/${ref.namespace}/${ref.name}`);
      return objects.find((one) => refKey(refOf(one)) === refKey(ref));
    },
    list: async (query: ListQuery) => {
      calls.push(`list ${query.kind}/${query.namespace ?? ""} ${query.labelSelector ?? ""}`);
      listed();
      return objects.filter((one) => matches(query, one));
    },
  };
  const check = async (targets: readonly LiveObject[], labelSelector?: string) => {
    const all = targets.map((one) => ({ ref: refOf(one), mayVanish: false }));
    const selected = labelSelector === undefined ? {} : { labelSelector };
    return checkHealth(all, { cluster: target, now: 0, rules: noRules, ...selected }, signal);
  };
  return { check, calls };
}

const crashing = { status: { phase: "Failed" } };
const spec = { replicas: 1, selector: { matchLabels: { app: "web" } } };

describe("a set of Pods", () => {
  test.each([
    ["StatefulSet", "t", { app: "web" }, "Failed"],
    ["ReplicaSet", "t", { app: "web" }, "Failed"],
    ["Deployment", "t", { app: "web" }, "InProgress"],
    ["StatefulSet", "other", { app: "web" }, "InProgress"],
    ["StatefulSet", "t", { app: "web-2" }, "InProgress"],
  ] as const)("%s with a failed Pod in namespace %s and labels %j is %s", async (kind, namespace, labels, status) => {
    const set = object(kind, "t", "web", { spec, status: { replicas: 0 } });
    const { check } = clusterWith([set, object("Pod", namespace, "web-0", crashing, labels)]);
    expect(await check([set])).toMatchObject([{ status }]);
  });
});

describe("the health of several objects", () => {
  const owned = { owner: "app" };
  const maps = [
    object("ConfigMap", "b", "x", {}, owned),
    object("ConfigMap", "a", "x", {}, owned),
    object("ConfigMap", "a", "y", {}, owned),
    object("ConfigMap", "b", "y", {}, owned),
  ];

  test("is read with one list per kind and namespace, and reported in its own order", async () => {
    const { check, calls } = clusterWith(maps);
    const told = await check(maps, "owner=app");
    expect(told.map(({ ref }) => `${ref.namespace}/${ref.name}`)).toEqual(["b/x", "a/x", "a/y", "b/y"]);
    expect(calls.toSorted()).toEqual(["list ConfigMap/a owner=app", "list ConfigMap/b owner=app"]);
  });

  test("is read one by one if they have no labels in common, and also for an object missing from the list", async () => {
    const { check, calls } = clusterWith([...maps, object("ConfigMap", "a", "unlabelled")]);
    await check(maps.slice(0, 2));
    expect(calls.toSorted()).toEqual(["get ConfigMap/a/x", "get ConfigMap/b/x"]);
    calls.length = 0;
    const told = await check([...maps.slice(1, 3), object("ConfigMap", "a", "unlabelled")], "owner=app");
    expect(told.map(({ status }) => status)).toEqual(["Current", "Current", "Current"]);
    expect(calls).toEqual(["list ConfigMap/a owner=app", "get ConfigMap/a/unlabelled"]);
  });

  test.each([
    [403, "Forbidden"],
    [500, "InternalError"],
  ] as const)("is read one by one if the API server answers a list with %s", async (code, reason) => {
    const { check } = clusterWith(maps, () => {
      throw new ApiError({ code, reason, message: "not today" });
    });
    expect((await check(maps, "owner=app")).map(({ status }) => status)).toEqual(maps.map(() => "Current"));
  });

  test("is not known while no answer comes to a list", async () => {
    const { check } = clusterWith(maps, () => {
      throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
    });
    await expect(check(maps, "owner=app")).rejects.toThrow("no answer");
  });
});

describe("the verdict", () => {
  const seen = (...statuses: readonly ("Current" | "Failed" | "InProgress")[]) =>
    statuses.map((status, at) => ({ ref: refOf(object("ConfigMap", "t", `${at}`)), status }));

  test.each([
    [seen("Current", "Current"), true, "healthy"],
    [seen("Current", "InProgress"), true, "waiting"],
    [seen("Current", "InProgress", "Failed"), true, "failed"],
    [seen("Current", "InProgress", "Failed"), false, "waiting"],
    [seen("Current", "Failed"), false, "failed"],
    [seen("Failed", "Failed"), false, "failed"],
    [[], false, "healthy"],
  ])("over %j with fail-fast %s is %s", (observed, isFailFast, kind) => {
    expect(verdict(observed, { isFailFast }).kind).toBe(kind);
  });

  test("of a failure names what has failed, and has what is still awaited beside it", () => {
    const observed = seen("Current", "InProgress", "Failed");
    expect(verdict(observed)).toMatchObject({
      kind: "failed",
      unhealthy: [observed[2]],
      notCurrent: observed.slice(1),
    });
  });
});
