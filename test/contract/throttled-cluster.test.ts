import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import type { SentRequest } from "../../lib/kube/api-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { type ThrottledUser, throttledUser } from "../real/throttled-user.ts";
import { never } from "./state-back-end.ts";

const file = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";
const patient = { timeout: 20_000, interval: 20 };
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "kube-root-ca.crt" };

describe.skipIf(file === "")("a real API server whose priority level for us is full (SLUICE_REAL_KUBECONFIG)", () => {
  let user: ThrottledUser;
  let sent: SentRequest[];
  const clients: (Cluster & { close(): void })[] = [];

  beforeAll(async () => {
    user = await throttledUser(await readKubeconfig({ file, env: {}, homeDir: "/" }));
  }, 60_000);
  afterAll(async () => {
    for (const client of clients) client.close();
    await user[Symbol.asyncDispose]();
  }, 60_000);

  /** A client that knows the kinds already, throttled from now on. */
  async function throttled(limitMs?: number): Promise<Cluster> {
    sent = [];
    const observe = (request: SentRequest): void => void sent.push(request);
    const cluster = connect(user.config, { clock: systemClock, env: {}, observe, ...(limitMs && { limitMs }) });
    clients.push(cluster);
    await cluster.get(ref, never);
    await user.throttle();
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
    "a %s waits for as long as the server asks and is answered once there is room",
    async (_, ask) => {
      const cluster = await throttled();
      const answer = ask(cluster);
      await expect.poll(statuses, patient).toContain(429);
      await user.release();
      await expect(answer).resolves.toBeDefined();
      expect(statuses().at(-1)).toBeLessThan(300);
      expect(new Set(statuses().slice(0, -1))).toEqual(new Set([429]));
    },
    60_000,
  );

  test("what finds no room in its time is TooManyRequests, with the server's wish, and was not done", async () => {
    const cluster = await throttled(1_500);
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
    expect(error).toMatchObject({ retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1_000 && ms % 1_000 === 0) });
    await user.release();
    expect(await cluster.get(mine, never)).toBeUndefined();
  }, 60_000);

  test("a watch says so and can be begun again", async () => {
    const cluster = await throttled();
    const begin = async (): Promise<string> => {
      for await (const { type } of cluster.watch(ref, never)) return type;
      return "nothing";
    };
    await expect(begin()).rejects.toMatchObject({ code: 429, reason: "TooManyRequests" });
    await user.release();
    expect(await begin()).toBe("ADDED");
  }, 60_000);

  test("a call that waits ends with the reason of its signal", async () => {
    const cluster = await throttled();
    const stop = new AbortController();
    const reason = new Error("the time is up");
    const answer = cluster.get(ref, stop.signal);
    await expect.poll(statuses, patient).toContain(429);
    stop.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await user.release();
  }, 60_000);
});
