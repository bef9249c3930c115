import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { inGateOrDeep } from "../../size.ts";
import { faultyPort } from "../flow/faulty-port.ts";
import { flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: '{{ .Values.color }}'}\n";
const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n";
const hook =
  "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n" +
  "spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}\n";

const kindOf = ({ kind }: JsonObject): string => (typeof kind === "string" ? kind : "");

/** Discovery, and the uid of the cluster: a client reads both once. */
const isCached = /^(?:resource|uid) /;
/** A write to the cluster, or more of Helm than to read a record. */
const isWork = /^(?:apply|create|delete|patch) |^helm\.(?!observe)/;

/** A scene whose requests to the cluster and to Helm are listed: `get Secret`, `helm.render`. */
async function listedScene() {
  const calls: string[] = [];
  const cluster = new Proxy<Cluster>(embedded.cluster, {
    get: (target, method, receiver) => {
      const value: unknown = Reflect.get(target, method, receiver);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        const [first] = args;
        if (isJsonObject(first)) calls.push(`${String(method)} ${kindOf(first)}`);
        const answer: unknown = Reflect.apply(value, target, args);
        return answer;
      };
    },
  });
  const engine = faultyPort("helm", helm, (call) => {
    if (!call.endsWith(" done")) calls.push(call);
  });
  const scene = await flowScene(cluster, `unchanged-run-${scenes++}`, engine);
  return {
    scene,
    /** What a run has asked for. */
    during: async (run: () => Promise<unknown>): Promise<readonly string[]> => {
      calls.splice(0);
      await run();
      return calls.filter((call) => !isCached.test(call)).toSorted();
    },
  };
}

describe("a run of an unchanged release", () => {
  test("lists the metadata of the release's Secrets, and renders nothing", async () => {
    const { during, scene } = await listedScene();
    await scene.publish({ version: "1.0.0", templates: { a: configMap, b: service } });
    await scene.release({ values: { color: "blue" } });
    await scene.run();
    await scene.runDue();
    expect(await during(() => scene.runDue())).toEqual(["get HelmRelease", "get OCIRepository", "listMetadata Secret"]);
  });

  test("with drift detection also reads its release Secret and lists the metadata of each kind once", async () => {
    const { during, scene } = await listedScene();
    const templates = { a: configMap, a2: configMap.replace("name: a", "name: a2"), b: service };
    await scene.publish({ version: "1.0.0", templates });
    await scene.release({ values: { color: "blue" }, driftDetection: { mode: "enabled" } });
    await scene.run();
    await scene.runDue();
    expect(await during(() => scene.runDue())).toEqual([
      "get HelmRelease",
      "get OCIRepository",
      "get Secret",
      "helm.observe",
      "listMetadata ConfigMap",
      "listMetadata Secret",
      "listMetadata Service",
    ]);
  });
});

test("releases whose hooks take 60 s cost 13 short runs each while they wait, which write, render and sleep nothing", async () => {
  for (let release = 0; release < inGateOrDeep(1, 50); release += 1) {
    const { during, scene } = await listedScene();
    await scene.publish({ version: "1.0.0", templates: { a: configMap, hook } });
    await scene.release({ values: { color: "blue" } });
    let due = (await scene.run()).dueInMs ?? 0;
    const endsAt = scene.clock.now() + 60_000;
    let runs = 0;
    for (; scene.clock.now() + due < endsAt; runs += 1) {
      scene.clock.advance(due);
      const before = scene.clock.now();
      const calls = await during(async () => {
        due = (await scene.runDue()).dueInMs ?? 0;
      });
      expect(calls).toContain("get Job");
      expect(calls.filter((call) => isWork.test(call))).toEqual([]);
      expect(scene.clock.now()).toBe(before);
    }
    expect(runs).toBe(13);
    expect(await scene.condition("Reconciling")).toBe(
      "True Progressing: Running 'install' action with timeout of 5m0s",
    );
    await scene.settle("hook", "Complete");
    await scene.runDue();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  }
});
