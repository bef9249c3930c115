import { describe, expect, test } from "vitest";
import type { HelmReleaseSpec } from "../../../lib/api/helm-release-spec.ts";
import type { FlowResult } from "../../../lib/core/ports/run.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { releaseActions } from "../../../lib/flows/helm-release/actions/release-actions.ts";
import { recordLimits } from "../../../lib/flows/helm-release/actions/revise.ts";
import { readCarried } from "../../../lib/flows/helm-release/carried.ts";
import { releaseLoop } from "../../../lib/flows/helm-release/release-loop.ts";
import { noteAttempt } from "../../../lib/flows/helm-release/target-change.ts";
import { secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { callStride } from "../../size.ts";
import type { Files } from "../../unit/sources/helm/charts.ts";
import { type ActionScene, actionScene } from "./action-scene.ts";
import { chartAttempt } from "./chart-attempt.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const configMap = (name: string, color: string, annotations: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, annotations }, data: { color } });
const job = (name: string, hook: string) =>
  JSON.stringify({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, annotations: { "helm.sh/hook": hook } },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] } } },
  });
const failed = { conditions: [{ type: "Failed", status: "True" }] };

/** Runs of the loop over release Secrets of a cluster, each with what the last one has carried. */
async function newRuns() {
  const scene = await actionScene(embedded.cluster, `loop-${scenes++}`, helm);
  const { clock, namespace } = scene;
  let last: FlowResult | undefined;
  const names = { name: "app", storageNamespace: namespace };
  const run = async (templates: Files, options: { spec?: Partial<HelmReleaseSpec>; version?: string } = {}) => {
    const { target } = await scene.context();
    const store = secretReleaseStore(names, { clock, cluster: target, helm, tenant: noTenant });
    const token = JSON.stringify([templates, options]);
    const attempt = await chartAttempt(scene, helm, templates, { ...options, store, token });
    noteAttempt(attempt);
    last = await releaseLoop(attempt, releaseActions, readCarried(last?.carried));
    await attempt.ctx.write(attempt.ctx.status());
    return last;
  };
  return { scene, namespace, run };
}

const conditions = (scene: ActionScene) =>
  (scene.status().conditions ?? []).map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  );
const told = (scene: ActionScene) => scene.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

describe("the release loop with Helm's own actions", () => {
  test("23/21: a first install ends Ready, with one revision in the history", async () => {
    const { namespace, run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });

    const message = `Helm install succeeded for release ${namespace}/app.v1 with chart app@1.0.0`;
    expect(conditions(scene)).toEqual([
      `Ready True InstallSucceeded: ${message}`,
      `Released True InstallSucceeded: ${message}`,
    ]);
    expect(scene.status()).toMatchObject({
      history: [{ action: "install", status: "deployed", version: 1 }],
      inventory: { entries: [{ id: `${namespace}_a__ConfigMap`, v: "v1" }] },
    });
    expect(told(scene)).toEqual([`Normal InstallSucceeded: ${message}`]);
  });

  test("a second run of an unchanged release writes nothing to the cluster", async () => {
    const { run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });
    scene.forgetWrites();
    await run({ a: configMap("a", "blue") });

    expect(scene.writes).toEqual([]);
    expect(told(scene)).toHaveLength(1);
  });

  test("23/22: a failed install is stalled, and its revision stays", async () => {
    const { namespace, run, scene } = await newRuns();
    const templates = { a: configMap("a", "blue"), job: job("migrate", "pre-install") };
    expect((await run(templates)).outcome).toBe("waiting");
    await scene.settle("Job", "migrate", failed);
    await run(templates);

    const message =
      `Helm install failed for release ${namespace}/app with chart app@1.0.0: failed pre-install: failed early due to stalled ` +
      `resources: [Job/${namespace}/migrate status: 'Failed']`;
    expect(conditions(scene)).toEqual([
      "Stalled True RetriesExceeded: Failed to install after 1 attempt(s)",
      `Ready False InstallFailed: ${message}`,
      `Released False InstallFailed: ${message}`,
    ]);
    expect(scene.status()).toMatchObject({
      failures: 1,
      installFailures: 1,
      history: [{ status: "failed", version: 1 }],
    });
  });

  test("23/42: enabled tests run after the install, and Ready shows their result", async () => {
    const { namespace, run, scene } = await newRuns();
    const templates = { a: configMap("a", "blue"), test: job("app-test", "test") };
    const spec = { test: { enable: true } };
    expect((await run(templates, { spec })).outcome).toBe("waiting");
    const about = `release ${namespace}/app.v1 with chart app@1.0.0`;
    expect(conditions(scene)).toContain(`Ready Unknown AwaitingTests: Helm ${about} is awaiting tests`);
    await scene.settle("Job", "app-test", { conditions: [{ type: "Complete", status: "True" }] });
    await run(templates, { spec });

    const message = `Helm test succeeded for ${about}: 1 test hook completed successfully`;
    expect(conditions(scene)).toEqual([
      `Ready True TestSucceeded: ${message}`,
      expect.stringContaining("Released True InstallSucceeded"),
      `TestSuccess True TestSucceeded: ${message}`,
    ]);
    expect(scene.status().history).toMatchObject([{ testHooks: { "app-test": { phase: "Succeeded" } } }]);
  });

  test("drift is reported and corrected, without a new revision", async () => {
    const { namespace, run, scene } = await newRuns();
    const templates = { a: configMap("a", "blue") };
    const spec = { driftDetection: { mode: "enabled" } } as const;
    await run(templates, { spec });
    await scene.patch("ConfigMap", "a", { data: { color: "white", extra: "kept" } });
    await run(templates, { spec });

    expect(told(scene).slice(1)).toEqual([
      `Warning DriftDetected: Cluster state of release ${namespace}/app.v1 has drifted from the desired state:\n` +
        `ConfigMap/${namespace}/a changed (0 additions, 1 changes, 0 removals)`,
      `Normal DriftCorrected: Cluster state of release ${namespace}/app.v1 has been corrected:\n` +
        `ConfigMap/${namespace}/a configured`,
    ]);
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue", extra: "kept" });
    expect(conditions(scene)).toContain("Drifted False NoDriftDetected: No drift detected against the cluster state");
    expect(scene.status().history).toHaveLength(1);
  });

  test("23/27: a failed upgrade is rolled back, and Ready reports that", async () => {
    const { namespace, run, scene } = await newRuns();
    const spec = { upgrade: { remediation: { retries: 1 } } };
    await run({ a: configMap("a", "blue") }, { spec });
    const templates = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
    const options = { spec, version: "2.0.0" };
    expect((await run(templates, options)).outcome).toBe("waiting");
    await scene.settle("Job", "migrate", failed);
    await run(templates, options);

    expect(conditions(scene)).toContain(
      `Ready False RollbackSucceeded: Helm rollback to previous release ${namespace}/app.v1 with chart app@1.0.0 succeeded`,
    );
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue" });
    const secret = await scene.get("Secret", "sh.helm.release.v1.app.v3");
    expect(secret?.metadata.labels).toMatchObject({ status: "deployed", version: "3" });
  });

  const failingInstall = { a: configMap("a", "blue"), job: job("migrate", "pre-install") };
  const secretsOf = async (scene: ActionScene) => {
    const found: string[] = [];
    for (let version = 1; version < 9; version++) {
      const secret = await scene.get("Secret", `sh.helm.release.v1.app.v${version}`);
      if (secret !== undefined) found.push(`v${version} ${secret.metadata.labels?.["status"]}`);
    }
    return found;
  };

  test("23/23: with one retry a failed install is uninstalled once, and stalls after the second failure", async () => {
    const { run, scene } = await newRuns();
    const spec = { install: { remediation: { retries: 1 } } };
    await run(failingInstall, { spec });
    await scene.settle("Job", "migrate", failed);
    await run(failingInstall, { spec });
    expect(scene.status()).toMatchObject({ installFailures: 1 });
    expect(await secretsOf(scene)).toEqual([]);
    await run(failingInstall, { spec });
    await scene.settle("Job", "migrate", failed);
    await run(failingInstall, { spec });

    expect(scene.status()).toMatchObject({ installFailures: 2 });
    expect(conditions(scene)[0]).toBe("Stalled True RetriesExceeded: Failed to install after 2 attempt(s)");
    expect(told(scene).filter((text) => text.includes("UninstallSucceeded"))).toHaveLength(1);
    expect(await secretsOf(scene)).toEqual(["v1 failed"]);
  });

  test("23/24: remediateLastFailure uninstalls the last failed install too", async () => {
    const { namespace, run, scene } = await newRuns();
    const spec = { install: { remediation: { remediateLastFailure: true } } };
    await run(failingInstall, { spec });
    await scene.settle("Job", "migrate", failed);
    await run(failingInstall, { spec });

    expect(conditions(scene)).toContain(
      `Remediated True UninstallSucceeded: Helm uninstall remediation for release ${namespace}/app.v1 with chart app@1.0.0 succeeded`,
    );
    expect(conditions(scene)[0]).toBe("Stalled True RetriesExceeded: Failed to install after 1 attempt(s)");
    expect(await secretsOf(scene)).toEqual([]);
  });

  test("23/26: with one retry of the upgrade there are five revisions, two of them rollbacks, to 1 and to 3", async () => {
    const { run, scene } = await newRuns();
    const spec = { upgrade: { remediation: { retries: 1 } } };
    await run({ a: configMap("a", "blue") }, { spec });
    const templates = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
    for (const _ of ["first", "second"]) {
      await run(templates, { spec, version: "2.0.0" });
      await scene.settle("Job", "migrate", failed);
      await run(templates, { spec, version: "2.0.0" });
    }

    expect(await secretsOf(scene)).toEqual(["v1 superseded", "v2 failed", "v3 superseded", "v4 failed", "v5 deployed"]);
    expect(conditions(scene)[0]).toBe("Stalled True RetriesExceeded: Failed to upgrade after 2 attempt(s)");
  });

  test("23/36: a pending revision of another client is unlocked and the release upgraded in the same run", async () => {
    const { run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });
    const ctx = await scene.context();
    const names = { name: "app", storageNamespace: scene.namespace };
    const deps = { clock: scene.clock, cluster: ctx.target, helm, tenant: noTenant };
    const store = secretReleaseStore(names, deps);
    const first = await store.read(1, "", ctx.run.signal);
    if (first === undefined) throw new Error("no revision is stored");
    const options = { tenant: noTenant, ociDigest: "" };
    const change = { version: 2, status: "pending-upgrade" } as const;
    await store.create(
      await helm.amend(first.bytes, change, options, recordLimits, ctx.run.signal),
      undefined,
      ctx.run.signal,
    );
    await run({ a: configMap("a", "white") }, { version: "2.0.0" });

    expect(told(scene).some((text) => text.includes("PendingRelease"))).toBe(true);
    expect(await secretsOf(scene)).toEqual(["v1 superseded", "v2 failed", "v3 deployed"]);
  });

  test("23/38: a release whose Secrets were deleted is installed again", async () => {
    const { run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });
    await scene.remove("Secret", "sh.helm.release.v1.app.v1");
    await run({ a: configMap("a", "blue") });

    expect(await secretsOf(scene)).toEqual(["v1 deployed"]);
    expect(told(scene).filter((text) => text.includes("InstallSucceeded"))).toHaveLength(2);
  });

  test("23/43: an ignored failed test keeps Ready True and remediates nothing", async () => {
    const { run, scene } = await newRuns();
    const templates = { a: configMap("a", "blue"), test: job("app-test", "test") };
    const spec = { test: { enable: true, ignoreFailures: true } };
    await run(templates, { spec });
    await scene.settle("Job", "app-test", failed);
    await run(templates, { spec });

    expect(conditions(scene)).toContainEqual(expect.stringContaining("Ready True InstallSucceeded"));
    expect(conditions(scene)).toContainEqual(expect.stringContaining("TestSuccess False TestFailed"));
    expect(await secretsOf(scene)).toEqual(["v1 deployed"]);
  });

  test("23/45: a failed test counts against its install", async () => {
    const { run, scene } = await newRuns();
    const templates = { a: configMap("a", "blue"), test: job("app-test", "test") };
    const spec = { test: { enable: true } };
    await run(templates, { spec });
    await scene.settle("Job", "app-test", failed);
    await run(templates, { spec });

    expect(scene.status()).toMatchObject({ failures: 1, installFailures: 1 });
    expect(conditions(scene)).toContainEqual(expect.stringContaining("Ready False TestFailed"));
  });

  test("23/28: upgrade strategy uninstall requests a new install at once, even if no retry is left", async () => {
    const { run, scene } = await newRuns();
    const spec = { upgrade: { remediation: { strategy: "uninstall", remediateLastFailure: true } } } as const;
    await run({ a: configMap("a", "blue") }, { spec });
    const templates = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
    await run(templates, { spec, version: "2.0.0" });
    await scene.settle("Job", "migrate", failed);
    const { dueInMs } = await run(templates, { spec, version: "2.0.0" });

    expect(dueInMs).toBeLessThan(5_000);
    expect(await secretsOf(scene)).toEqual([]);
    await run(templates, { spec, version: "2.0.0" });
    expect(await secretsOf(scene)).toEqual(["v1 deployed"]);
  });

  test("23/29: RetryOnFailure upgrades again after five minutes, and never stalls", async () => {
    const { run, scene } = await newRuns();
    const spec = { install: { strategy: { name: "RetryOnFailure" } } } as const;
    await run(failingInstall, { spec });
    await scene.settle("Job", "migrate", failed);
    const { dueInMs = 0 } = await run(failingInstall, { spec });

    expect(dueInMs).toBeGreaterThanOrEqual(285_000);
    expect(dueInMs).toBeLessThanOrEqual(315_000);
    expect(conditions(scene)[0]).toMatch(/^Reconciling True ProgressingWithRetry: retrying after /);
    await run(failingInstall, { spec });
    expect(await secretsOf(scene)).toEqual(["v1 superseded", "v2 deployed"]);
  });

  test("23/32: a new version of the chart resets the counters of a stalled release", async () => {
    const { run, scene } = await newRuns();
    await run(failingInstall);
    await scene.settle("Job", "migrate", failed);
    await run(failingInstall);
    expect(conditions(scene)[0]).toMatch(/^Stalled/);
    await run({ a: configMap("a", "blue") }, { version: "2.0.0" });

    expect(conditions(scene)[0]).toMatch(/^Ready True UpgradeSucceeded/);
  });

  test("23/37: a release of that name that the status does not know is upgraded, and not installed again", async () => {
    const { run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });
    scene.setStatus({});
    const annotations = { "sluice.dev/attempt": null };
    await scene.patch("Secret", "sh.helm.release.v1.app.v1", { metadata: { annotations } });
    await run({ a: configMap("a", "blue") });

    expect(await secretsOf(scene)).toEqual(["v1 superseded", "v2 deployed"]);
  });

  test("8.2: a failed upgrade whose previous revision is missing stalls, and says so", async () => {
    const { run, scene } = await newRuns();
    const spec = { upgrade: { remediation: { retries: 1 } } };
    await run({ a: configMap("a", "blue") }, { spec });
    const templates = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
    await run(templates, { spec, version: "2.0.0" });
    await scene.remove("Secret", "sh.helm.release.v1.app.v1");
    await scene.settle("Job", "migrate", failed);
    await run(templates, { spec, version: "2.0.0" });

    expect(conditions(scene)).toContain(
      "Stalled True MissingRollbackTarget: Failed to perform remediation: missing target release for rollback: cannot remediate failed release",
    );
    expect(await secretsOf(scene)).toEqual(["v2 failed"]);
  });

  test("23/39: a release that was uninstalled by hand with its history is installed again", async () => {
    const { namespace, run, scene } = await newRuns();
    await run({ a: configMap("a", "blue") });
    const names = { name: "app", storageNamespace: namespace };
    const ctx = await scene.context({ spec: { uninstall: { keepHistory: true } } });
    const store = secretReleaseStore(names, { clock: scene.clock, cluster: ctx.target, helm, tenant: noTenant });
    const release = { releaseName: "app", releaseNamespace: namespace };
    await releaseActions.uninstall({ ctx, store, ...release, reason: "deletion", healthRules: undefined }, undefined);
    expect(await secretsOf(scene)).toEqual(["v1 uninstalled"]);
    await run({ a: configMap("a", "blue") });

    expect(await secretsOf(scene)).toEqual(["v1 superseded", "v2 deployed"]);
    expect((await scene.get("ConfigMap", "a"))?.["data"]).toEqual({ color: "blue" });
  });

  test("an upgrade whose hook fails, killed before or after any single effect, is counted once and ends the same", async () => {
    for (let at = 1, isOver = false; !isOver; at += callStride) {
      const { run, scene } = await newRuns();
      await run({ a: configMap("a", "blue") });
      const templates = { a: configMap("a", "white"), job: job("migrate", "pre-upgrade") };
      await run(templates, { version: "2.0.0" });
      await scene.settle("Job", "migrate", failed);
      let calls = 0;
      scene.fault = (call) => {
        if (++calls === at) throw new Error(`killed at ${call}`);
      };
      isOver = await run(templates, { version: "2.0.0" }).then(
        () => true,
        () => false,
      );
      scene.fault = () => {};
      await run(templates, { version: "2.0.0" });

      expect(scene.status(), `killed at ${at}`).toMatchObject({ failures: 1, upgradeFailures: 1 });
      expect(conditions(scene)[0]).toBe("Stalled True RetriesExceeded: Failed to upgrade after 1 attempt(s)");
      expect(await secretsOf(scene)).toEqual(["v1 deployed", "v2 failed"]);
      expect(scene.writes.filter((write) => write === "created Job/migrate")).toHaveLength(1);
    }
  });
});
