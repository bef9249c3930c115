import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { type DynamodbFault, faultyDynamodb } from "../../doubles/faulty-dynamodb.ts";
import { isAlive, readPidFiles } from "../../real/pid-file.ts";
import { startProcessAgain } from "../../real/start-process.ts";
import { inGateOrDeep } from "../../size.ts";
import { random } from "../../unit/queue/simulator/random.ts";
import { type AuditEvent, writes } from "./audit-log.ts";
import { doubledAndReordered, toAllAtOnce } from "./deliveries.ts";
import type { Deliver } from "./functions.ts";
import { configMaps } from "./manifests.ts";
import type { RealParts } from "./real-parts.ts";
import type { World, WorldOptions } from "./world.ts";

const manyObjects = inGateOrDeep(200, 500);
const fewObjects = 100;
/** How many a round brings, and how many it takes away. */
const turnover = 10;
const kills = inGateOrDeep(2, 3);
/** So often a kill may come too late, as where this process gets no processor for a while. */
const mostRollouts = 5;
/** Before the last objects, so that there is something left to be cut short. */
const lastKillAt = manyObjects / 2;
const seed = 20261121;
const outageMs = inGateOrDeep(8_000, 20_000);
const environments = 5;
const once: Deliver = (event, own) => own(event);

/** What goes wrong around a Sluice that works: each time the end is exact, and nothing is deleted that should live. */
export function faults(parts: () => RealParts, open: (options: Partial<WorldOptions>) => Promise<World>): void {
  describe("faults", () => {
    const chance = random(seed);
    const opened = new AsyncDisposableStack();
    let world: World;
    let round = 0;
    let dynamodbFault: () => DynamodbFault | undefined = () => undefined;
    let deliver = once;

    beforeAll(async () => {
      const wire = opened.use(await faultyDynamodb(parts().dynamodb.endpoint ?? "", () => dynamodbFault()));
      const deliverNow: Deliver = (...delivery) => deliver(...delivery);
      world = opened.use(await open({ environments, dynamodb: wire.url, deliver: deliverNow }));
      await world.follow();
    });
    afterAll(() => opened.disposeAsync());

    /** Each round changes all objects, brings ten and takes ten away. */
    const namesOf = (of: number, count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) => `m${String(of * turnover + index).padStart(4, "0")}`);
    const uids = async () =>
      Object.fromEntries((await world.made()).map(({ metadata }) => [metadata.name, metadata.uid]));
    const state = async () => {
      const { cluster, namespace, signal } = world;
      const labelSelector = "kustomize.toolkit.fluxcd.io/name=app";
      const maps = await cluster.list(
        { group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector },
        signal,
      );
      return maps.map(({ metadata, data }) => `${metadata.name} ${JSON.stringify(data)}`).toSorted();
    };

    /** Pushes a round, lets `disturb` loose on its run, and looks at every object once the round is applied. */
    async function rollOut(
      count: number,
      disturb: (requests: () => Promise<readonly AuditEvent[]>, revision: string) => Promise<void>,
    ) {
      round += 1;
      const names = namesOf(round, count);
      const before = await uids();
      const requests = await world.watchRequests();
      const revision = await world.push(configMaps(world.namespace, names, String(round)));
      await disturb(requests, revision);
      await world.applied(revision);

      expect(await state()).toEqual(names.map((name) => `${name} ${JSON.stringify({ value: String(round) })}`));
      const entries = (await world.app()).status.inventory?.entries ?? [];
      expect(entries.map(({ id }) => id).toSorted()).toEqual(
        names.map((name) => `${world.namespace}_${name}__ConfigMap`),
      );
      const after = await uids();
      const stay = names.filter((name) => name in before);
      expect(stay.map((name) => after[name])).toEqual(stay.map((name) => before[name]));
      const deleted = writes(await requests()).filter(({ verb }) => verb === "delete");
      const gone = Object.keys(before).filter((name) => !names.includes(name));
      expect(new Set(deleted.map(({ objectRef }) => objectRef?.name))).toEqual(new Set(gone));
    }

    /** Resolves once there are so many requests. */
    async function sent(requests: () => Promise<readonly AuditEvent[]>, count: number): Promise<void> {
      const areSent = async () => expect((await requests()).length).toBeGreaterThanOrEqual(count);
      await vi.waitFor(areSent, { timeout: deadlineMs, interval: 20 });
    }

    /**
     * Kills all functions once one has a lease that none of the killed had, and answers the lease's token: its run was cut short. Undefined
     * if the revision was applied, or the run came to its end, before this process came to kill it.
     */
    async function killHolder(killed: readonly number[], revision: string): Promise<number | undefined> {
      const held = async () => {
        const item = await world.workItem();
        if (item?.lease !== undefined && !killed.includes(item.token)) return item.token;
        if ((await world.ready()).endsWith(revision)) return undefined;
        throw new Error("the lease has no new holder");
      };
      const token = await vi.waitFor(held, { timeout: deadlineMs, interval: 20 });
      if (token === undefined || world.functions.killReconcilers() === 0) return undefined;
      // A run that came to its end has given it back.
      const item = await world.workItem();
      return item?.token === token && item.lease !== undefined ? token : undefined;
    }

    test(`functions are killed ${kills} times at random while ${manyObjects} objects are rolled out`, async () => {
      await rollOut(manyObjects, async () => undefined);
      const tokens: number[] = [];
      const kill = async (revision: string): Promise<void> => {
        const token = await killHolder(tokens, revision);
        if (token !== undefined) tokens.push(token);
      };
      const killedInOne = () =>
        rollOut(manyObjects, async (requests, revision) => {
          // Once while it plans, which takes a request an object; then at writes, of which there are as many however often it dies.
          await sent(requests, chance.int(1, lastKillAt));
          await kill(revision);
          const moments = Array.from({ length: kills - 1 }, () => chance.int(1, lastKillAt));
          for (const moment of moments.toSorted((one, other) => one - other)) {
            await sent(async () => writes(await requests()), moment);
            await kill(revision);
          }
        });
      // A kill that came too late is made up for in another rollout.
      for (let rollouts = 0; tokens.length < kills; rollouts++) {
        expect(rollouts).toBeLessThan(mostRollouts);
        await killedInOne();
      }
      expect((await world.workItem())?.token).toBeGreaterThan(Math.max(...tokens));
    });

    test(`the API server is killed during a rollout and comes back after ${outageMs / 1_000} s`, async () => {
      const { folder } = parts().eks;
      await rollOut(manyObjects, async (requests) => {
        await sent(async () => writes(await requests()), chance.int(1, manyObjects));
        const server = readPidFiles(folder).find(({ name }) => name === "kube-apiserver");
        if (server === undefined) throw new Error(`${folder} has no pid file of the API server`);
        process.kill(server.pid, "SIGKILL");
        await expect.poll(() => isAlive(server)).toBe(false);
        // As long as the story has it: what is waited for is that nothing answers.
        await systemClock.sleep(outageMs, world.signal);
        await startProcessAgain(folder, server.name);
      });
    });

    test("DynamoDB throttles a third of all requests, and for a while every one", async () => {
      let refused = 0;
      const refuse = (rate: number) => () => {
        if (!chance.chance(rate)) return undefined;
        refused += 1;
        return "throttled" as const;
      };
      dynamodbFault = refuse(1 / 3);
      try {
        await rollOut(fewObjects, async () => {
          await expect.poll(() => refused).toBeGreaterThan(5);
          const before = refused;
          dynamodbFault = refuse(1);
          await expect.poll(() => refused).toBeGreaterThan(before + 20);
          dynamodbFault = refuse(1 / 3);
        });
      } finally {
        dynamodbFault = () => undefined;
      }
    });

    test(`every message is delivered to ${environments} functions at once`, async () => {
      let deliveries = 0;
      deliver = (...delivery) => {
        deliveries += 1;
        return toAllAtOnce(...delivery);
      };
      await rollOut(fewObjects, async () => undefined);
      expect(deliveries).toBeGreaterThan(0);
      deliver = once;
    });

    test("messages are duplicated and reordered, and old ones are delivered again", async () => {
      const deliveries: unknown[] = [];
      const doubled = doubledAndReordered(chance);
      deliver = (event, own, all) => {
        deliveries.push(event);
        return doubled(event, own, all);
      };
      await rollOut(fewObjects, async () => undefined);
      await rollOut(fewObjects, async () => undefined);
      expect(deliveries.length).toBeGreaterThan(2);
    });

    test("the same while everything is deleted: nothing is left over, and nothing else is deleted", async () => {
      const { appRef, cluster, signal } = world;
      await cluster.delete(appRef, { propagation: "Background" }, signal);
      await world.soon(
        () => cluster.get(appRef, signal),
        (seen) => expect(seen).toBeUndefined(),
      );
      expect(await state()).toEqual([]);
      expect(await world.get("Secret", "bystander")).toBeDefined();
      deliver = once;
    });
  });
}
