import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import type { SentRequest } from "../../lib/kube/api-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { type ThrottledUser, throttledUser } from "../real/throttled-user.ts";
import { never } from "./state-back-end.ts";

const file = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";
const isSeconds = (ms: number): boolean => ms >= 1_000 && ms % 1_000 === 0;
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "kube-root-ca.crt" };

describe.skipIf(file === "")(
  "a real API server whose priority level for Sluice is full (SLUICE_REAL_KUBECONFIG)",
  () => {
    let user: ThrottledUser;
    let sent: SentRequest[] = [];
    const clients: (Cluster & { close(): void })[] = [];

    beforeAll(async () => {
      user = await throttledUser(await readKubeconfig({ file, env: {}, homeDir: "/" }));
    });
    afterAll(async () => {
      for (const client of clients) client.close();
      await user[Symbol.asyncDispose]();
    });

    /** What the client's limits of time go by: the server takes its own time where others compute. */
    let passedMs = 0;

    /** A client that knows the kinds already, throttled from now on. */
    async function throttled(sleep: Clock["sleep"], onRefusal = () => {}): Promise<Cluster> {
      let isThrottled = false;
      const clock: Clock = {
        ...systemClock,
        monotonic: () => passedMs,
        sleep: (ms, signal) => (isThrottled ? sleep(ms, signal) : systemClock.sleep(ms, signal)),
      };
      const observe = (request: SentRequest): void => {
        sent.push(request);
        if (request.status === 429) onRefusal();
      };
      const cluster = connect(user.config, { clock, env: {}, observe, limitMs: 15_000 });
      clients.push(cluster);
      await cluster.get(ref, never);
      await user.throttle();
      isThrottled = true;
      sent = [];
      return cluster;
    }
    const statuses = (): readonly number[] => sent.map(({ status }) => status);

    test.each<[string, (cluster: Cluster) => Promise<unknown>]>([
      ["read", (cluster) => cluster.get(ref, never)],
      ["list", (cluster) => cluster.listMetadata(ref, never)],
      [
        "write",
        (cluster) => {
          const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "t", namespace: "default" } };
          return cluster.apply(manifest, { manager: "test", force: false, dryRun: true }, never);
        },
      ],
    ])(
      "a %s waits as long as the server asks and is answered once there is room",
      async (_, ask) => {
        const [asleep, released] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
        const sleep = async (ms: number): Promise<void> => {
          asleep.resolve(ms);
          await released.promise;
          passedMs += ms;
        };
        const cluster = await throttled(sleep);
        const answer = ask(cluster);
        // In whole seconds, as the server says them.
        expect(await asleep.promise).toSatisfy(isSeconds);
        await user.release();
        released.resolve();
        await expect(answer).resolves.toBeDefined();
        expect(statuses()).toEqual([429, expect.toSatisfy((status: number) => status < 300)]);
      },
      300_000,
    );

    test("a request that finds no room in time is TooManyRequests, with Retry-After, and was not executed", async () => {
      // Each refusal takes most of the time that a call has: there is one more, and then too little for a third.
      const sleep = async (ms: number): Promise<void> => void (passedMs += ms);
      const cluster = await throttled(sleep, () => void (passedMs += 7_000));
      const mine = { ...ref, name: user.config.user.impersonate?.user ?? "" };
      const metadata = { name: mine.name, namespace: mine.namespace };
      const applied = cluster.apply(
        { apiVersion: "v1", kind: "ConfigMap", metadata },
        { manager: "t", force: false },
        never,
      );
      await expect(applied).rejects.toMatchObject({
        code: 429,
        reason: "TooManyRequests",
        message: expect.stringMatching(/^Too many requests, please try again later/i),
      });
      const error: unknown = await applied.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ retryAfterMs: expect.toSatisfy(isSeconds) });
      expect(statuses()).toEqual([429, 429]);
      await user.release();
      expect(await cluster.get(mine, never)).toBeUndefined();
    });

    test("a watch ends with this reason and can be started again", async () => {
      const cluster = await throttled((ms, signal) => systemClock.sleep(ms, signal));
      const begin = async (): Promise<string> => {
        for await (const { type } of cluster.watch(ref, never)) return type;
        return "nothing";
      };
      await expect(begin()).rejects.toMatchObject({ code: 429, reason: "TooManyRequests" });
      await user.release();
      expect(await begin()).toBe("ADDED");
    });

    test("a waiting call ends with the reason of its signal", async () => {
      const asleep = Promise.withResolvers<void>();
      const sleep: Clock["sleep"] = (_, signal) => {
        asleep.resolve();
        return systemClock.sleep(600_000, signal);
      };
      const cluster = await throttled(sleep);
      const stop = new AbortController();
      const reason = new Error("the time is up");
      const answer = cluster.get(ref, stop.signal);
      await asleep.promise;
      stop.abort(reason);
      await expect(answer).rejects.toBe(reason);
      await user.release();
    });
  },
);
