import { describe, expect, test } from "vitest";
import { previousGood } from "../../../lib/helm/snapshot.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { inGateOrDeep } from "../../size.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const isWrite = (call: string) => /^cluster\.(?:apply|create|patch|update|delete) done$/.test(call);
const template = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: "{{ .Values.color }}"}\n`;
const chart = (version: string) => ({ version, templates: { a: template } });
const refused = "apiVersion: v1\nkind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 99999}]}\n";
const failing = (version: string) => ({ version, templates: { a: template, b: refused } });

/** `recorded`: once the Secret of the upgrade says how it has ended, which the status does not know yet. */
type Moment = number | "recorded";

/**
 * A release whose upgrade to this chart was killed after its write of this number, and whose next run had something else to do.
 *
 * @returns undefined if the upgrade has fewer writes
 */
async function killed(
  at: Moment,
  next: (scene: FlowScene) => Promise<unknown>,
  upgrade: Parameters<FlowScene["publish"]>[0] = chart("1.1.0"),
): Promise<FlowScene | undefined> {
  const scene = await flowScene(embedded.cluster, `killed-upgrade-${scenes++}`, helm);
  await scene.publish(chart("1.0.0"));
  await scene.release({ values: { color: "blue" } });
  await scene.run();
  await scene.publish(upgrade);
  let writes = 0;
  const isMoment = async () =>
    at === "recorded" ? /^v2 (?:deployed|failed)$/.test((await scene.revisions())[1] ?? "") : ++writes === at;
  scene.fault = async (call) => {
    if (isWrite(call) && (await isMoment())) throw new Error("killed");
  };
  const isOver = await scene.run().then(
    () => true,
    () => false,
  );
  scene.fault = () => {};
  if (isOver) return undefined;
  await next(scene);
  await scene.run();
  return scene;
}

async function afterKill(...kill: Parameters<typeof killed>): Promise<FlowScene> {
  const scene = await killed(...kill);
  if (scene === undefined) throw new Error("the upgrade was not killed");
  return scene;
}

/** Its chart has moved meanwhile: the condition Remediated after a failing upgrade, once every entry of the history is there. */
async function remediated(scene: FlowScene, at: Moment): Promise<string | undefined> {
  const { history = [] } = await scene.status();
  const now = { status: "deployed", chartVersion: expect.stringMatching(/^1\.2\.0/) };
  expect(history[0], `killed at ${at}`).toMatchObject(now);
  const superseded = (await scene.revisions()).findLastIndex((one) => one.endsWith(" superseded"));
  expect(previousGood(history, false)?.version, `killed at ${at}`).toBe(superseded + 1);
  await scene.publish(failing("1.3.0"));
  await scene.release({ values: { color: "blue" }, upgrade: { remediation: { retries: 1 } } });
  await scene.run();
  return scene.condition("Remediated");
}

const moved = (scene: FlowScene) => scene.publish(chart("1.2.0"));

describe("an upgrade that is killed before the status knows how it has ended", () => {
  test("stays in the history while the chart of its OCIRepository moves, so that the next one can be rolled back", async () => {
    const isDone = /^True RollbackSucceeded: /;
    expect(await remediated(await afterKill("recorded", moved), "recorded")).toMatch(isDone);
    // In the deep checks after each write.
    for (let at = 1; inGateOrDeep(false, true); at++) {
      const scene = await killed(at, moved);
      if (scene === undefined) break;
      expect(await remediated(scene, at), `killed at ${at}`).toMatch(isDone);
    }
  });

  test("does not hide values that change before the next run", async () => {
    const scene = await afterKill("recorded", (each) => each.release({ values: { color: "green" } }));
    expect((await scene.get("v1", "ConfigMap", "a"))?.["data"]).toEqual({ color: "green" });
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded: .*app\.v3 /);
  });

  test("does not hide post-renderers that are added before the next run", async () => {
    const patch = "- {op: replace, path: /data/color, value: patched}\n";
    const postRenderers = [{ kustomize: { patches: [{ patch, target: { kind: "ConfigMap" } }] } }];
    const scene = await afterKill("recorded", (each) => each.release({ values: { color: "blue" }, postRenderers }));
    expect((await scene.get("v1", "ConfigMap", "a"))?.["data"]).toEqual({ color: "patched" });
  });

  test("and that has failed does not count for the chart that has come since", async () => {
    const scene = await afterKill("recorded", moved, failing("1.1.0"));
    expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded: /);
    expect((await scene.told()).filter((text) => text.includes("UpgradeFailed"))).toHaveLength(1);
  });
});

test("a rollback that has failed and is killed before the status knows does not hold up the chart that has come since", async () => {
  const scene = await flowScene(embedded.cluster, `killed-upgrade-${scenes++}`, helm);
  const hook = refused.replace("{name: b}", '{name: b, annotations: {helm.sh/hook: "pre-rollback"}}');
  await scene.publish({ version: "1.0.0", templates: { a: template, hook } });
  await scene.release({ values: { color: "blue" }, upgrade: { remediation: { retries: 1 } } });
  await scene.run();
  await scene.publish(failing("1.1.0"));
  scene.fault = async (call) => {
    if (isWrite(call) && (await scene.revisions())[2] === "v3 failed") throw new Error("killed");
  };
  await expect(scene.run()).rejects.toThrow("killed");
  scene.fault = () => {};
  await moved(scene);
  await scene.run();
  expect(await scene.condition("Ready")).toMatch(/^True UpgradeSucceeded: /);
  expect((await scene.status()).history?.map(({ version }) => version)).toContain(3);
  const failures = (await scene.told()).filter((text) => text.startsWith("Warning RollbackFailed: "));
  expect(failures).toEqual([expect.stringContaining("Helm rollback to previous release")]);
  expect(await scene.status()).not.toHaveProperty("failures");
});
