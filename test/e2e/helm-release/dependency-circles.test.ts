import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { HelmEngine } from "../../../lib/core/ports/helm-engine.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { partOf } from "../../doubles/part-of.ts";
import { type FlowScene, type FlowSceneOptions, flowScene } from "./flow-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

// A HelmRelease that waits renders nothing.
const helm = partOf<HelmEngine>({});
const newScene = (options?: FlowSceneOptions) =>
  flowScene(embedded.cluster, `circles-${scenes++}`, helm, { ...options });

/** Another HelmRelease with these dependencies, as its own run would have left it. */
async function other(scene: FlowScene, name: string, dependsOn: readonly JsonObject[], isReady = false): Promise<void> {
  const metadata = { name, namespace: scene.namespace };
  const spec = { interval: "1h", chartRef: { kind: "OCIRepository", name: "app" }, dependsOn };
  const made = { apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", metadata, spec };
  const { generation = 0 } = (await scene.apply(made)).metadata;
  const ready = {
    ...{ type: "Ready", status: isReady ? "True" : "False", reason: "Test", message: "as the test says" },
    ...{ lastTransitionTime: "2026-11-24T16:00:00Z", observedGeneration: generation },
  };
  const ref = { group: "helm.toolkit.fluxcd.io", version: "v2", kind: "HelmRelease", ...metadata };
  const body = { status: { observedGeneration: generation, conditions: [ready] } };
  const options = { manager: "helm-controller", subresource: "status" };
  await embedded.cluster.patch(ref, { type: "merge", body }, options, new AbortController().signal);
}

const waiting = (scene: FlowScene, name: string) =>
  `False DependencyNotReady: dependency '${scene.namespace}/${name}' is not ready`;
const circle = (scene: FlowScene, ...names: readonly string[]) =>
  `: circular dependency detected: ${names.map((name) => `${scene.namespace}/${name}`).join(" -> ")}`;

describe("a HelmRelease that waits", () => {
  test.each([{ name: "" }, { name: ".." }, { name: "a", namespace: "a/b" }])(
    "waits also for one whose own dependsOn names an impossible object: %j",
    async (impossible) => {
      const scene = await newScene();
      await other(scene, "base", [impossible, { name: "app" }]);
      await scene.release({ dependsOn: [{ name: "base" }] });
      expect(await scene.run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
      expect(await scene.condition("Ready")).toBe(waiting(scene, "base"));
    },
  );

  test("takes an empty namespace of a dependency for its own, also in a circle", async () => {
    const scene = await newScene();
    await other(scene, "base", [{ name: "app", namespace: "" }]);
    await scene.release({ dependsOn: [{ name: "base", namespace: "" }] });
    expect(await scene.run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    expect(await scene.condition("Ready")).toBe(`${waiting(scene, "base")}${circle(scene, "app", "base", "app")}`);
  });

  test("requests a run of the other members of its circle, once, so that each of them names it", async () => {
    const scene = await newScene();
    await other(scene, "base", [{ name: "next" }]);
    await other(scene, "next", [{ name: "app" }]);
    await scene.release({ dependsOn: [{ name: "base" }] });
    await scene.run();
    await scene.run();
    expect(await scene.condition("Ready")).toContain(circle(scene, "app", "base", "next", "app"));
    expect(scene.requested).toEqual(["HelmRelease/base", "HelmRelease/next"]);
  });

  test("names no circle if a member of it is ready", async () => {
    const scene = await newScene();
    await other(scene, "base", [{ name: "next" }]);
    await other(scene, "next", [{ name: "app" }], true);
    await scene.release({ dependsOn: [{ name: "base" }] });
    await scene.run();
    expect(await scene.condition("Ready")).toBe(waiting(scene, "base"));
  });

  test("names a circle through a readyExpr only if AdditiveCELDependencyCheck asks for readiness too", async () => {
    for (const isAdditive of [false, true]) {
      const scene = await newScene({ gates: { AdditiveCELDependencyCheck: isAdditive } });
      await other(scene, "base", [{ name: "app", readyExpr: "dep.metadata.generation > 1" }]);
      await scene.release({ dependsOn: [{ name: "base" }] });
      await scene.run();
      const named = isAdditive ? circle(scene, "app", "base", "app") : "";
      expect(await scene.condition("Ready")).toBe(`${waiting(scene, "base")}${named}`);
    }
  });

  test("reads indirect dependencies after a change, and rarely otherwise", async () => {
    const scene = await newScene();
    const members = Array.from({ length: 5 }, (_, index) => `m${index}`);
    for (const [index, name] of members.entries()) {
      await other(
        scene,
        name,
        members.slice(index + 1, index + 2).map((next) => ({ name: next })),
      );
    }
    await scene.release({ dependsOn: [{ name: "m0" }] });
    let reads = 0;
    scene.fault = (call) => {
      if (call === "cluster.get") reads += 1;
    };
    const readsOf = async (run: () => Promise<unknown>) => {
      const before = reads;
      await run();
      return reads - before;
    };
    await scene.run();
    const requested = await readsOf(() => scene.run());
    // Itself and what it waits for.
    expect(requested - (await readsOf(() => scene.runDue()))).toBe(members.length);
    const due: number[] = [];
    for (let runs = 0; runs < 20; runs++) due.push(await readsOf(() => scene.runDue()));
    expect(due.filter((count) => count === requested)).toHaveLength(1);
  });
});

test.each([
  ["", "is empty, write the name of the HelmRelease"],
  ["..", "is not a valid name, write the name of the HelmRelease"],
])(
  "a HelmRelease that depends on the impossible name %j is stalled, and is told which field to correct",
  async (name, fault) => {
    const scene = await newScene();
    await scene.release({ dependsOn: [{ name: "base" }, { name }] });
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: undefined });
    expect(await scene.condition("Stalled")).toContain(
      `True InvalidSpec: HelmRelease/${scene.namespace}/app is invalid: spec.dependsOn[1].name: ${fault}; `,
    );
  },
);
