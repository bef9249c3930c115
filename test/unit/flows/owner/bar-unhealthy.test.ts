import { describe, expect, test } from "vitest";
import { barredAnnotation, barUnhealthyAnnotation } from "../../../../lib/api/names.ts";
import { isJsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { barUnhealthy } from "../../../../lib/flows/owner/bar-unhealthy.ts";
import { noHome } from "../../../doubles/no-cluster.ts";
import { badDigest, image, readyPod, rollout, targetWith } from "../../health/failing-rollout.ts";

const { signal } = new AbortController();
const owner = { namespace: "apps", subject: "Kustomization/apps/web" };
const why = "Deployment/apps/web: container app ended with exit code 1 (Error), and Pods with 1.3.0 are Ready";
const line = `1.4.0@${badDigest} Kustomization/apps/web: ${why}`;
const told = `ImagePolicy/apps/web bars 1.4.0@${badDigest}: ${why}`;
const asking = { [barUnhealthyAnnotation]: "true" };
const conflict = new ApiError({ code: 409, reason: "Conflict", message: "the object has been modified" });
const outage = new ApiError({ code: 503, reason: "ServiceUnavailable", message: "down" });

function policy(annotations: Readonly<Record<string, string>>, more: Partial<LiveObject["metadata"]> = {}): LiveObject {
  const { name = "web" } = more;
  return {
    apiVersion: "image.toolkit.fluxcd.io/v1",
    kind: "ImagePolicy",
    metadata: { namespace: "apps", uid: name, resourceVersion: "1", annotations, ...more, name },
    status: { latestRef: { name: image, tag: "1.4.0" } },
  };
}

/** A home cluster with these policies, which keeps what is written under its precondition. */
function homeWith(...policies: readonly LiveObject[]) {
  const stored = new Map(policies.map((one) => [one.metadata.name, one]));
  const faults: { before?: () => void; after?: () => void } = {};
  let writes = 0;
  const change = (name: string, annotations: Readonly<Record<string, string>>): LiveObject => {
    const live = stored.get(name);
    if (live === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "missing" });
    const resourceVersion = String(Number(live.metadata.resourceVersion) + 1);
    const merged = { ...live.metadata.annotations, ...annotations };
    const next = { ...live, metadata: { ...live.metadata, resourceVersion, annotations: merged } };
    stored.set(name, next);
    return next;
  };
  const home: typeof noHome = {
    ...noHome,
    list: async ({ namespace }) => [...stored.values()].filter((one) => one.metadata.namespace === namespace),
    get: async ({ name }) => stored.get(name),
    patch: async ({ name }, { body }) => {
      faults.before?.();
      const metadata = isJsonObject(body) && isJsonObject(body["metadata"]) ? body["metadata"] : {};
      if (metadata["resourceVersion"] !== stored.get(name)?.metadata.resourceVersion) throw conflict;
      writes++;
      const live = change(name, textsOf(metadata["annotations"]));
      faults.after?.();
      return live;
    },
  };
  const barredIn = (name = "web"): string | undefined => stored.get(name)?.metadata.annotations?.[barredAnnotation];
  return { home, faults, change, barredIn, writes: () => writes };
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** The health check of the Deployment `web` has failed. */
async function barIn(home: typeof noHome, { observed, objects } = rollout()): Promise<readonly string[]> {
  const clusters = { home, target: targetWith(objects).target, manager: "kustomize-controller" };
  return barUnhealthy([observed], owner, clusters, signal);
}

describe("an image that a failed health check blames", () => {
  test("is barred by its digest, with the Kustomization and the reason, in a policy that asks for it", async () => {
    const world = homeWith(policy(asking));
    expect(await barIn(world.home)).toEqual([told]);
    expect(world.barredIn()).toBe(line);
  });

  test.each<[string, LiveObject]>([
    ["has no annotation", policy({})],
    ["says false", policy({ [barUnhealthyAnnotation]: "false" })],
    ["is of another namespace", policy(asking, { namespace: "other" })],
    ["is being deleted", policy(asking, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    ["has chosen another image", { ...policy(asking), status: { latestRef: { name: "other", tag: "1.4.0" } } }],
    ["has chosen nothing", { ...policy(asking), status: {} }],
  ])("is not barred in a policy that %s", async (_, one) => {
    const world = homeWith(one);
    expect(await barIn(world.home)).toEqual([]);
    expect(world.writes()).toBe(0);
  });

  test("is not looked for if no policy asks: no Pod is read", async () => {
    const { observed } = rollout();
    const { asked, target } = targetWith([]);
    await barUnhealthy([observed], owner, { home: homeWith(policy({})).home, target, manager: "x" }, signal);
    expect(asked).toEqual([]);
  });

  test("is not barred if the objects may fail by another cause", async () => {
    const world = homeWith(policy(asking));
    expect(await barIn(world.home, rollout({ presentPods: [readyPod] }))).toEqual([]);
    expect(world.writes()).toBe(0);
  });

  test("is barred in each policy that has chosen the image", async () => {
    const world = homeWith(policy(asking), policy(asking, { name: "web-2" }));
    expect(await barIn(world.home)).toHaveLength(2);
    expect([world.barredIn(), world.barredIn("web-2")]).toEqual([line, line]);
  });

  test("is not written again if its tag or digest is barred already, and is told as before", async () => {
    for (const text of [line, "1.4.0 jane: leaks connections", `1.4.0@${badDigest}`]) {
      const world = homeWith(policy({ ...asking, [barredAnnotation]: text }));
      expect(await barIn(world.home)).toEqual([told]);
      expect(world.writes()).toBe(0);
    }
  });

  test("is barred once, whether the process is killed before or after the write", async () => {
    for (const when of ["before", "after"] as const) {
      const world = homeWith(policy(asking));
      world.faults[when] = () => {
        throw outage;
      };
      await expect(barIn(world.home)).rejects.toBe(outage);
      delete world.faults[when];
      expect(await barIn(world.home)).toEqual([told]);
      expect({ when, barred: world.barredIn(), writes: world.writes() }).toEqual({ when, barred: line, writes: 1 });
    }
  });

  test("is barred again if it is unhealthy again after its bar was removed", async () => {
    const world = homeWith(policy(asking));
    await barIn(world.home);
    world.change("web", { [barredAnnotation]: "" });
    await barIn(world.home);
    expect(world.barredIn()).toBe(line);
  });

  test("is barred beside an entry that another client writes at the same time", async () => {
    const world = homeWith(policy(asking));
    world.faults.before = () => {
      delete world.faults.before;
      world.change("web", { [barredAnnotation]: "1.2.0 jane: leaks connections" });
    };
    expect(await barIn(world.home)).toEqual([told]);
    expect(world.barredIn()).toBe(`1.2.0 jane: leaks connections\n${line}`);
  });

  test("is not barred if the policy stops asking for it at the same time", async () => {
    const world = homeWith(policy(asking));
    world.faults.before = () => void world.change("web", { [barUnhealthyAnnotation]: "false" });
    expect(await barIn(world.home)).toEqual([
      `ImagePolicy/apps/web does not bar 1.4.0@${badDigest}: it no longer has the annotation ${barUnhealthyAnnotation}: "true"`,
    ]);
    expect(world.barredIn()).toBeUndefined();
  });

  const applied = [
    {
      manager: "kustomize-controller",
      operation: "Apply" as const,
      apiVersion: "image.toolkit.fluxcd.io/v1",
      fieldsV1: { "f:metadata": { "f:annotations": { [`f:${barredAnnotation}`]: {} } } },
    },
  ];
  const hundred = Array.from({ length: 100 }, (_, at) => `0.0.${at}`).join("\n");
  test.each<[string, LiveObject, string]>([
    [
      "applies",
      policy({ ...asking, [barredAnnotation]: "1.2.0" }, { managedFields: applied }),
      `kustomize-controller applies its annotation ${barredAnnotation}; remove that from the manifest`,
    ],
    [
      "has filled",
      policy({ ...asking, [barredAnnotation]: hundred }),
      "more than 100 images are barred: narrow spec.policy or spec.filterTags instead",
    ],
    [
      "has written so that it cannot be read",
      policy({ ...asking, [barredAnnotation]: "?" }),
      "line 1 does not begin with a tag such as 1.3.0",
    ],
  ])("is not added to a list that another client %s; the line says what to do", async (_, one, mend) => {
    const world = homeWith(one);
    expect(await barIn(world.home)).toEqual([`ImagePolicy/apps/web does not bar 1.4.0@${badDigest}: ${mend}`]);
    expect(world.writes()).toBe(0);
  });

  test.each([
    ["always changes meanwhile", conflict, "the object has been modified"],
    [
      "refuses the write",
      new ApiError({ code: 403, reason: "Forbidden", message: "a webhook says no" }),
      "a webhook says no",
    ],
  ])("is told as not barred if the policy %s, and the next failed check tries again", async (_, error, words) => {
    const world = homeWith(policy(asking));
    world.faults.before = () => {
      throw error;
    };
    expect(await barIn(world.home)).toEqual([`ImagePolicy/apps/web does not bar 1.4.0@${badDigest}: ${words}`]);
    delete world.faults.before;
    expect(await barIn(world.home)).toEqual([told]);
  });

  test.each([403, 404])(
    "is not barred where listing policies is answered by %i: the health check fails as it does without them",
    async (code) => {
      const list = async (): Promise<never> => {
        throw new ApiError({ code, reason: "Forbidden", message: "no" });
      };
      expect(await barIn({ ...noHome, list })).toEqual([]);
    },
  );

  test.each([0, 401, 429, 500])("is left to the next run if listing policies ends with status %i", async (code) => {
    const error = new ApiError({ code, reason: "ServiceUnavailable", message: "down" });
    const list = async (): Promise<never> => {
      throw error;
    };
    await expect(barIn({ ...noHome, list })).rejects.toBe(error);
  });
});
