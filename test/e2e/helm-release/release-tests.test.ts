import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Hook } from "../../../lib/core/ports/helm-engine.ts";
import { testRelease } from "../../../lib/flows/helm-release/actions/test.ts";
import type { ActionOutcome, ActionWait } from "../../../lib/flows/helm-release/attempt/action.ts";
import type { ReleaseAttempt } from "../../../lib/flows/helm-release/attempt/attempt.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { partOf } from "../../doubles/part-of.ts";
import { type ActionScene, actionScene, hookOf } from "./action-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

const events = ["test"] as const;
const pod = (name: string): Hook => {
  const spec = { containers: [{ name: "main", image: "i" }] };
  const manifest: Manifest = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  return hookOf(manifest, { events });
};

async function newScene(hooks: readonly Hook[]): Promise<ActionScene> {
  const scene = await actionScene(embedded.cluster, `tests-${scenes++}`);
  await scene.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
  await scene.put({ hooks });
  return scene;
}

async function run(
  scene: ActionScene,
  {
    spec = {},
    wait,
    token = "t",
  }: { spec?: HelmReleaseSpec["test"]; wait?: ActionWait | undefined; token?: string } = {},
): Promise<ActionOutcome> {
  const ctx = await scene.context({ spec: { test: spec } });
  const chart = { ociDigest: "" };
  const attempt = { ctx, chart, store: scene.store, healthRules: { ruleOf: () => undefined }, token };
  return testRelease(partOf<ReleaseAttempt>(attempt), scene.releases.latest(), wait);
}

const phases = (scene: ActionScene) =>
  scene.releases.latest().observed.hooks.map(({ name, lastRun }) => `${name} ${lastRun.phase}`);

describe("the tests of a release", () => {
  test("run one by one; each result is in the record, which is deployed in the end", async () => {
    const scene = await newScene([pod("b"), pod("a")]);
    const first = await run(scene);
    expect(first.kind).toBe("waiting");
    expect(phases(scene)).toEqual(["b ", "a Running"]);
    await scene.settle("Pod", "a", { phase: "Succeeded" });
    const second = await run(scene, { wait: first.kind === "waiting" ? first.wait : undefined });
    expect(second.kind).toBe("waiting");
    await scene.settle("Pod", "b", { phase: "Succeeded" });

    expect(await run(scene)).toMatchObject({ kind: "succeeded", written: [{ isGone: false }] });
    expect(phases(scene)).toEqual(["b Succeeded", "a Succeeded"]);
    expect(scene.releases.latest().status).toBe("deployed");
  });

  test("a Pod in phase Failed fails the tests, with only Helm's error", async () => {
    const scene = await newScene([pod("a")]);
    await run(scene);
    await scene.settle("Pod", "a", { phase: "Failed" });

    expect(await run(scene)).toMatchObject({
      kind: "failed",
      message: `failed early due to stalled resources: [Pod/${scene.namespace}/a status: 'Failed']`,
      written: [{ record: { observed: { hooks: [{ lastRun: { phase: "Failed" } }] } } }],
    });
  });

  test("23/44: a chart without tests succeeds and creates nothing", async () => {
    const scene = await newScene([]);

    expect((await run(scene)).kind).toBe("succeeded");
    expect(scene.writes).toEqual([]);
  });

  test.each([
    { title: "an excluded test does not run", filters: [{ name: "a", exclude: true }], runs: ["b", "c"] },
    { title: "an included test runs alone", filters: [{ name: "a" }], runs: ["a"] },
    {
      title: "exclude wins over include",
      filters: [{ name: "a" }, { name: "b" }, { name: "b", exclude: true }],
      runs: ["a"],
    },
  ])("$title", async ({ filters, runs }) => {
    const tests = ["a", "b", "c"].map((name) =>
      hookOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "b" } }, { events }),
    );
    const scene = await newScene(tests);

    expect((await run(scene, { spec: { filters } })).kind).toBe("succeeded");
    expect(scene.writes).toEqual(runs.map((name) => `created ConfigMap/${name}`));
    expect(phases(scene)).toEqual(["a", "b", "c"].map((name) => `${name} ${runs.includes(name) ? "Succeeded" : ""}`));
  });

  test("that ran in an earlier attempt run again", async () => {
    const scene = await newScene([
      hookOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } }, { events }),
    ]);
    await run(scene);
    await run(scene, { token: "another" });

    expect(scene.writes).toEqual(["created ConfigMap/a", "deleted ConfigMap/a", "created ConfigMap/a"]);
  });

  test("that ended do not run again in the same attempt: their result is read, even a failure", async () => {
    const scene = await newScene([pod("a")]);
    await run(scene);
    await scene.settle("Pod", "a", { phase: "Failed" });
    const outcome = await run(scene);

    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("stalled resources: [Pod/") });
    expect(await run(scene)).toEqual(outcome);
    expect(scene.writes).toEqual(["created Pod/a"]);
  });

  test("killed before or after any single effect are not created twice by the next runs, and end the same", async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const scene = await newScene([pod("a")]);
      let calls = 0;
      scene.fault = (call) => {
        if (++calls === at) throw new Error(`killed at ${call}`);
      };
      isOver = await run(scene).then(
        () => true,
        () => false,
      );
      scene.fault = () => {};
      if (!isOver) await run(scene);
      await scene.settle("Pod", "a", { phase: "Succeeded" });

      expect((await run(scene)).kind, `killed at ${at}`).toBe("succeeded");
      expect(scene.writes).toEqual(["created Pod/a"]);
      expect(phases(scene)).toEqual(["a Succeeded"]);
    }
  });
});
