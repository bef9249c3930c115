import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { maxLimitMs } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type ThrottledUser, throttledUser } from "../../real/throttled-user.ts";
import { removeWorlds } from "./remove-worlds.ts";
import { configMap } from "./sample-manifests.ts";
import { world } from "./world.ts";

const file = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";
const { signal } = new AbortController();
const prefix = `throttled-${Date.now()}-`;
const patient = { timeout: deadlineMs, interval: 20 };
const objects = 40;
const names = Array.from({ length: objects }, (_, index) => `c-${index}`);

/** The client gives up after this, where it is to be throttled until its time is up. */
const soonMs = 15_000;

/** How many answers of each status there were. */
type Statuses = Map<number, number>;

describe.skipIf(file === "")("a real API server that throttles a whole reconcile (SLUICE_REAL_KUBECONFIG)", () => {
  let user: ThrottledUser;
  let cluster: Cluster & { close(): void };
  let impatient: Cluster & { close(): void };
  const statuses: Statuses = new Map();
  let worlds = 0;

  beforeAll(async () => {
    user = await throttledUser(await readKubeconfig({ file, env: {}, homeDir: "/" }));
    const observe = ({ status }: { status: number }): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    // As long as a client may wait: it is released before its time is up, however long that takes the server.
    cluster = connect(user.config, { clock: systemClock, env: {}, observe, limitMs: maxLimitMs });
    impatient = connect(user.config, { clock: systemClock, env: {}, observe, limitMs: soonMs });
    await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  });
  afterAll(async () => {
    await user.release();
    await removeWorlds(cluster, (name) => name.startsWith(prefix), signal);
    cluster.close();
    impatient.close();
    await user[Symbol.asyncDispose]();
  });

  const refusals = (): number => statuses.get(429) ?? 0;

  /** A world whose first run meets a full server with the fifth to the eighth apply, all four at once. */
  async function throttledHalfway(client = cluster) {
    let applies = 0;
    let throttling: Promise<void> | undefined;
    const halfway: Cluster = {
      ...client,
      async apply(...args) {
        const [, { dryRun = false }] = args;
        // None that follows goes ahead while the server becomes full.
        if (!dryRun && ++applies >= 5) await (throttling ??= user.throttle());
        return client.apply(...args);
      },
    };
    const self = await world(halfway, `${prefix}${worlds++}`);
    const revision = await self.publish(
      "v1",
      names.map((name) => configMap(name)),
    );
    await self.kustomization("app");
    statuses.clear();
    applies = 0;
    return { self, ready: `True ReconciliationSucceeded: Applied revision: ${revision}` };
  }

  async function expectWhole(self: Awaited<ReturnType<typeof world>>, ready: string): Promise<void> {
    expect(await self.ready("app")).toBe(ready);
    const query = { group: "", version: "v1", kind: "ConfigMap", namespace: self.namespace };
    const live = await cluster.listMetadata(
      { ...query, labelSelector: "kustomize.toolkit.fluxcd.io/name=app" },
      signal,
    );
    expect(live.map(({ metadata: { name } }) => name).toSorted()).toEqual(names.toSorted());
    const inventory = await self.inventory("app");
    expect(inventory).toHaveLength(objects);
    expect(new Set(inventory.map(({ state }) => state))).toEqual(new Set(["live"]));
    expect(new Set(inventory.map(({ uid }) => uid))).toEqual(new Set(live.map(({ metadata: { uid } }) => uid)));
  }

  test("a run that is throttled in the middle continues, and no status or event mentions it", async () => {
    const { self, ready } = await throttledHalfway();
    const run = self.run("app");
    await expect.poll(refusals, patient).toBeGreaterThan(3);
    await user.release();
    expect(await run).toMatchObject({ outcome: "applied" });
    await expectWhole(self, ready);
    expect((await self.events("app")).filter((text) => text.startsWith("Warning"))).toEqual([]);
  });

  test("a run that is throttled until its time is up counts as an outage: it is retried, and ends correctly", async () => {
    const { self, ready } = await throttledHalfway(impatient);
    // The client gives up after a while; then nothing has been reported yet, and the back-off of virtual time is short.
    expect(await self.outlast("app", 1)).toMatchObject({ outcome: "unreachable" });
    expect(refusals()).toBeGreaterThan(3);
    await user.release();
    await self.outlast("app", 1);
    await expectWhole(self, ready);
    const before = await self.inventory("app");
    await self.outlast("app", 1);
    expect(await self.inventory("app")).toEqual(before);
  });

  test("a deletion that is throttled deletes everything in the end", async () => {
    const { self } = await throttledHalfway();
    const first = self.run("app");
    await expect.poll(refusals, patient).toBeGreaterThan(0);
    await user.release();
    await first;
    const app = {
      group: "kustomize.toolkit.fluxcd.io",
      version: "v1",
      kind: "Kustomization",
      namespace: self.namespace,
    };
    await cluster.delete({ ...app, name: "app" }, { propagation: "Background" }, signal);
    statuses.clear();
    await user.throttle();
    const last = self.run("app");
    await expect.poll(refusals, patient).toBeGreaterThan(0);
    await user.release();
    await last;
    expect(await self.get("Kustomization", "app", "kustomize.toolkit.fluxcd.io/v1")).toBeUndefined();
    expect(await self.get("ConfigMap", "c-0")).toBeUndefined();
    expect(await self.inventory("app")).toEqual([]);
  });
});
