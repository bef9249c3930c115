import { describe, expect, test } from "vitest";
import { objectTopic } from "../../../lib/core/topics.ts";
import { releaseActions } from "../../../lib/flows/helm-release/actions/release-actions.ts";
import type { ActionOutcome, ActionWait } from "../../../lib/flows/helm-release/attempt/action.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { callStride } from "../../size.ts";
import type { Files } from "../../unit/sources/helm/charts.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";
import { type ChartOptions, chartAttempt } from "./chart-attempt.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => actionScene(embedded.cluster, `release-${scenes++}`, helm);
const configMap = (name: string, color: string, annotations: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, annotations }, data: { color } });
const job = (name: string, hook: string) =>
  JSON.stringify({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, annotations: { "helm.sh/hook": hook } },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] } } },
  });
const service = (name: string, port: number) =>
  JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port }] } });
const complete = { conditions: [{ type: "Complete", status: "True" }] };

const attemptOf = (scene: ActionScene, templates: Files, options: ChartOptions = {}) =>
  chartAttempt(scene, helm, templates, options);

const waitOf = (outcome: ActionOutcome): ActionWait | undefined =>
  outcome.kind === "waiting" ? outcome.wait : undefined;
const statuses = (scene: ActionScene) =>
  scene.releases.all().map(({ version, status, observed }) => `v${version} ${status}: ${observed.description}`);

async function installed(scene: ActionScene, templates: Files): Promise<void> {
  expect(await releaseActions.install(await attemptOf(scene, templates), undefined)).toMatchObject({
    kind: "succeeded",
  });
}

/** Runs the action again for as long as it waits. */
async function ended(
  scene: ActionScene,
  run: (wait: ActionWait | undefined) => Promise<ActionOutcome>,
): Promise<ActionOutcome> {
  let outcome = await run(undefined);
  while (outcome.kind === "waiting") {
    scene.clock.advance(outcome.dueInMs);
    outcome = await run(outcome.wait);
  }
  return outcome;
}

async function upgrade(scene: ActionScene, templates: Files, more: ChartOptions = {}, wait?: ActionWait) {
  const attempt = await attemptOf(scene, templates, { token: "u", ...more });
  return releaseActions.upgrade(attempt, scene.releases.latest(), wait);
}

describe("the release of a chart", () => {
  test("an install runs hooks, applies the objects with Helm's metadata and the manager helm-controller, and ends deployed", async () => {
    const scene = await newScene();
    const { namespace } = scene;
    const attempt = await attemptOf(scene, { cm: configMap("a", "blue"), job: job("migrate", "pre-install") });
    const first = await releaseActions.install(attempt, undefined);
    const inventory = [{ id: `${namespace}_a__ConfigMap`, v: "v1" }];
    expect(first).toMatchObject({ kind: "waiting", dueInMs: 1_000, inventory });
    expect(statuses(scene)).toEqual(["v1 pending-install: Initial install underway"]);
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    await scene.settle("Job", "migrate", complete);

    expect(await releaseActions.install(attempt, waitOf(first))).toMatchObject({ kind: "succeeded" });
    expect(statuses(scene)).toEqual(["v1 deployed: Install complete"]);
    const live = await scene.get("ConfigMap", "a");
    expect(live?.metadata.labels).toEqual({
      "app.kubernetes.io/managed-by": "Helm",
      "helm.toolkit.fluxcd.io/name": "app",
      "helm.toolkit.fluxcd.io/namespace": namespace,
    });
    expect(live?.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual([
      "helm-controller Apply",
    ]);
  });

  test("an upgrade deletes what the chart no longer has, except for objects to keep, and supersedes the former revision", async () => {
    const scene = await newScene();
    const keep = { "helm.sh/resource-policy": "keep" };
    await installed(scene, {
      a: configMap("a", "blue"),
      b: configMap("b", "blue"),
      kept: configMap("kept", "blue", keep),
    });

    expect(await upgrade(scene, { a: configMap("a", "white") })).toMatchObject({ kind: "succeeded" });
    expect(statuses(scene)).toEqual(["v2 deployed: Upgrade complete", "v1 superseded: Install complete"]);
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "white" });
    expect(await scene.get("ConfigMap", "b")).toBeUndefined();
    expect(await scene.get("ConfigMap", "kept")).toBeDefined();
  });

  test("canary/19: an upgrade wakes the Canary that follows a changed ConfigMap, and none for unchanged objects", async () => {
    const scene = await newScene();
    const canary = { cluster: "test", group: "flagger.app", kind: "Canary", namespace: scene.namespace };
    for (const name of ["changed", "same"]) {
      const followed = { cluster: "test", group: "", kind: "ConfigMap", namespace: scene.namespace, name };
      await scene.subscribe({ ...canary, name }, objectTopic(followed));
    }
    await installed(scene, { changed: configMap("changed", "blue"), same: configMap("same", "blue") });
    expect(scene.requested.toSorted()).toEqual(["Canary/changed", "Canary/same"]);
    await upgrade(scene, { changed: configMap("changed", "white"), same: configMap("same", "blue") });
    expect(scene.requested.slice(2)).toEqual(["Canary/changed"]);
  });

  test("23/25: a failed upgrade has the status failed, and the former revision stays deployed", async () => {
    const scene = await newScene();
    await installed(scene, { a: configMap("a", "blue") });
    const failing = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
    const first = await upgrade(scene, failing);
    await scene.settle("Job", "migrate", { conditions: [{ type: "Failed", status: "True" }] });

    const why = `pre-upgrade hooks failed: failed early due to stalled resources: [Job/${scene.namespace}/migrate status: 'Failed']`;
    expect(await upgrade(scene, failing, {}, waitOf(first))).toMatchObject({ kind: "failed", message: why });
    expect(statuses(scene)).toEqual([`v2 failed: Upgrade "app" failed: ${why}`, "v1 deployed: Install complete"]);
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue" });
  });

  test("10: the definitions of a chart are served before its templates are rendered, also those in a List", async () => {
    const scene = await newScene();
    const definition = (kind: string) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${kind.toLowerCase()}s.early.test` },
      spec: {
        group: "early.test",
        names: { kind, plural: `${kind.toLowerCase()}s` },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    const list = { apiVersion: "v1", kind: "List", items: [definition("Widget"), definition("Gadget")] };
    const seen = `{{ .Capabilities.APIVersions.Has "early.test/v1/Widget" }} {{ len (lookup "early.test/v1" "Gadget" .Release.Namespace "").items }}`;
    const templates = {
      cm: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}\ndata: {of: '${seen}'}\n`,
      widget: "apiVersion: early.test/v1\nkind: Widget\nmetadata: {name: own}\n",
    };
    const attempt = await attemptOf(scene, templates, { files: { "crds/all.yaml": JSON.stringify(list) } });

    expect(await ended(scene, (wait) => releaseActions.install(attempt, wait))).toMatchObject({ kind: "succeeded" });
    expect((await scene.get("ConfigMap", "seen"))?.["data"]).toEqual({ of: "true 0" });
    expect(await scene.get("Widget", "own", "early.test/v1")).toBeDefined();
    expect(scene.writes.slice(0, 2)).toEqual([
      "created CustomResourceDefinition/widgets.early.test",
      "created CustomResourceDefinition/gadgets.early.test",
    ]);
  });

  test("10: a definition that cannot be parsed refuses an install by name, unless the policy is Skip", async () => {
    const scene = await newScene();
    const files = { "crds/broken.yaml": "{{ .Values.a }}" };
    const attempt = await attemptOf(scene, { a: configMap("a", "blue") }, { files });
    expect(await releaseActions.install(attempt, undefined)).toMatchObject({
      kind: "failed",
      message: expect.stringMatching(
        /^failed to apply CustomResourceDefinitions: failed to parse CustomResourceDefinitions from crds\/broken\.yaml: /,
      ),
      written: [],
    });
    const skips = { files, spec: { install: { crds: "Skip" } } } as const;
    const other = await attemptOf(scene, { a: configMap("a", "blue") }, skips);
    expect(await releaseActions.install(other, undefined)).toMatchObject({ kind: "succeeded" });
    const skipsLater = { files, spec: { upgrade: { crds: "Skip" } } } as const;
    expect(await upgrade(scene, { a: configMap("a", "white") }, skipsLater)).toMatchObject({ kind: "succeeded" });
  });

  test("2.4: an upgrade with preserveValues keeps the values of the deployed revision, with every digit", async () => {
    const scene = await newScene();
    const cm = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {all: '{{ .Values | toJson }}'}\n`;
    const big = 9_007_199_254_740_993n;
    const first = await attemptOf(scene, { cm }, { values: { kept: big, own: 1 } });
    expect(await releaseActions.install(first, undefined)).toMatchObject({ kind: "succeeded" });

    const keeps = { spec: { upgrade: { preserveValues: true } } };
    expect(await upgrade(scene, { cm }, { ...keeps, values: { own: 2 } })).toMatchObject({ kind: "succeeded" });
    expect(scene.releases.latest().observed.values).toEqual({ kept: big, own: 2 });
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ all: `{"kept":${big},"own":2}` });

    expect(await upgrade(scene, { cm }, { values: { own: 3 } })).toMatchObject({ kind: "succeeded" });
    expect(scene.releases.latest().observed.values).toEqual({ own: 3 });
  });

  test("2.4: preserveValues keeps the values of the deployed revision, not those of a failed upgrade", async () => {
    const scene = await newScene();
    const cm = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {all: '{{ .Values | toJson }}'}\n`;
    const first = await attemptOf(scene, { cm }, { values: { kept: 1 } });
    expect(await releaseActions.install(first, undefined)).toMatchObject({ kind: "succeeded" });
    const failing = { cm, service: service("a", 99_999) };
    const keeps = { spec: { upgrade: { preserveValues: true } } };
    expect(await upgrade(scene, failing, { ...keeps, values: { lost: 1 } })).toMatchObject({ kind: "failed" });

    expect(await upgrade(scene, { cm }, { ...keeps, values: { own: 1 } })).toMatchObject({ kind: "succeeded" });
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ all: '{"kept":1,"own":1}' });
  });

  test("a rollback applies the objects of the former revision again", async () => {
    const scene = await newScene();
    await installed(scene, { a: configMap("a", "blue") });
    await upgrade(scene, { a: configMap("a", "white"), b: configMap("b", "white") });
    const attempt = await attemptOf(scene, {}, { token: "r" });

    expect(await releaseActions.rollback(attempt, scene.releases.latest(), 1, undefined)).toMatchObject({
      kind: "succeeded",
    });
    expect(statuses(scene)).toEqual([
      "v3 deployed: Rollback to 1",
      "v2 superseded: Upgrade complete",
      "v1 superseded: Install complete",
    ]);
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue" });
    expect(await scene.get("ConfigMap", "b")).toBeUndefined();
  });

  test("23/31: a chart that does not render, or has a kind that the cluster lacks, fails before anything is stored", async () => {
    const scene = await newScene();
    const broken = await attemptOf(scene, { a: '{{ fail "no" }}' });
    const unserved = await attemptOf(scene, { a: '{"apiVersion":"x.y/v1","kind":"X","metadata":{"name":"x"}}' });

    for (const attempt of [broken, unserved]) {
      expect(await releaseActions.install(attempt, undefined)).toMatchObject({ kind: "failed", written: [] });
    }
    expect(statuses(scene)).toEqual([]);
  });

  test("objects that the API server refuses are all named before the first is written, and the release fails as in Helm", async () => {
    const scene = await newScene();
    const wrong = (name: string) => JSON.stringify({ ...JSON.parse(configMap(name, "blue")), unknown: true });
    const attempt = await attemptOf(scene, { a: configMap("a", "blue"), x: wrong("x"), y: wrong("y") });

    const outcome = await releaseActions.install(attempt, undefined);
    for (const name of ["x", "y"]) {
      expect(outcome.kind === "failed" && outcome.message).toContain(
        `server-side apply failed for object ${scene.namespace}/${name} /v1, Kind=ConfigMap: `,
      );
    }
    expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    expect(statuses(scene)[0]).toMatch(/^v1 failed: Release "app" failed: server-side apply failed/);
  });

  test("an existing object is taken over, or with disableTakeOwnership refused with Helm's text before anything is stored", async () => {
    const scene = await newScene();
    await scene.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { color: "red" } });
    const spec = { install: { disableTakeOwnership: true } };
    const refusing = await attemptOf(scene, { a: configMap("a", "blue") }, { spec });

    const key = (name: string, value: string) => `missing key "${name}": must be set to "${value}"`;
    expect(await releaseActions.install(refusing, undefined)).toEqual({
      kind: "failed",
      message:
        `unable to continue with install: ConfigMap "a" in namespace "${scene.namespace}" exists and cannot be imported into the ` +
        `current release: invalid ownership metadata; label validation error: ${key("app.kubernetes.io/managed-by", "Helm")}; ` +
        `annotation validation error: ${key("meta.helm.sh/release-name", "app")}; ` +
        `annotation validation error: ${key("meta.helm.sh/release-namespace", scene.namespace)}`,
      log: [],
      written: [],
    });
    await installed(scene, { a: configMap("a", "blue") });
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue" });
  });

  test("maxHistory limits the stored revisions", async () => {
    const scene = await newScene();
    await installed(scene, { a: configMap("a", "0") });
    for (const color of ["1", "2", "3"]) {
      await upgrade(scene, { a: configMap("a", color) }, { spec: { maxHistory: 2 }, token: color });
    }

    expect(statuses(scene).map((line) => line.slice(0, 2))).toEqual(["v4", "v3"]);
  });

  test("an upgrade that is killed before or after any single effect ends the same, and no hook runs twice", async () => {
    const templates = {
      a: configMap("a", "white"),
      c: configMap("c", "white"),
      hook: configMap("hook", "white", { "helm.sh/hook": "pre-upgrade,post-upgrade" }),
    };
    for (let at = 1, isOver = false; !isOver; at += callStride) {
      const scene = await newScene();
      await installed(scene, { a: configMap("a", "blue"), b: configMap("b", "blue") });
      scene.forgetWrites();
      let calls = 0;
      scene.fault = (call) => {
        if (++calls === at) throw new Error(`killed at ${call}`);
      };
      isOver = await upgrade(scene, templates).then(
        () => true,
        () => false,
      );
      scene.fault = () => {};
      if (scene.releases.latest().status !== "deployed" || scene.releases.latest().version === 1)
        await upgrade(scene, templates);

      expect(statuses(scene), `killed at ${at}`).toEqual([
        "v2 deployed: Upgrade complete",
        "v1 superseded: Install complete",
      ]);
      expect(scene.writes.filter((write) => write === "created ConfigMap/hook")).toHaveLength(2);
      expect(await scene.get("ConfigMap", "b")).toBeUndefined();
      expect(await scene.get("ConfigMap", "c")).toBeDefined();
    }
  });
});
