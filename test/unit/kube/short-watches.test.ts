import { describe, expect, test } from "vitest";
import { apiClient } from "../../../lib/kube/api-client.ts";
import { watchEvents } from "../../../lib/kube/watch-events.ts";
import { apiDeps, configMapOf, configOf, fakeApi } from "./fake-api.ts";

const kind = { group: "", version: "v1", kind: "ConfigMap" };
const query = { ...kind, namespace: "n" };
const resource = { ...kind, plural: "configmaps", namespaced: true, verbs: ["watch"] };
const modified = `${JSON.stringify({ type: "MODIFIED", object: configMapOf("a", "6") })}\n`;

describe("watches that a proxy ends", () => {
  const bookmark = {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "5", annotations: { "k8s.io/initial-events-end": "true" } } },
  };

  /** A watch, after its list, of a server that does so with its watches, and the pauses that it makes until it is stopped. */
  async function pausesOf(count: number, answer: (watches: number, pass: (ms: number) => void) => string) {
    let [watches, now] = [0, 0];
    const pauses: number[] = [];
    await using api = await fakeApi((_, response) => {
      const isFirst = watches++ === 0;
      response.end(isFirst ? `${JSON.stringify(bookmark)}\n` : answer(watches, (ms) => void (now += ms)));
    });
    const stop = new AbortController();
    const sleep = async (ms: number, { aborted }: AbortSignal): Promise<void> => {
      expect(aborted).toBe(false);
      pauses.push(ms);
      if (pauses.length === count) stop.abort(new Error("enough"));
      stop.signal.throwIfAborted();
    };
    const clock = { ...apiDeps.clock, monotonic: () => now, sleep };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock });
    const told: string[] = [];
    const watch = async (): Promise<void> => {
      for await (const { type } of watchEvents({ client, clock }, resource, query, stop.signal)) told.push(type);
    };
    await expect(watch()).rejects.toThrow("enough");
    client.close();
    return { pauses, told, watches };
  }

  test("at once are opened again after pauses of up to ten seconds", async () => {
    const { pauses, told, watches } = await pausesOf(7, () => "");
    expect(pauses).toEqual([750, 1_500, 3_000, 6_000, 10_000, 10_000, 10_000]);
    expect({ told, watches }).toEqual({ told: ["BOOKMARK"], watches: 7 });
  });

  test("at once, with only a bookmark, are opened again after the same pauses", async () => {
    const { pauses } = await pausesOf(3, () => `${JSON.stringify(bookmark)}\n`);
    expect(pauses).toEqual([750, 1_500, 3_000]);
  });

  test("at once, after an event, are opened again without a pause, and the pauses start again", async () => {
    const { pauses, told, watches } = await pausesOf(4, (nth) => (nth === 3 ? modified : ""));
    expect(pauses).toEqual([750, 1_500, 750, 1_500]);
    expect({ told, watches }).toEqual({ told: ["BOOKMARK", "MODIFIED"], watches: 5 });
  });

  test("after a second are opened again without a pause", async () => {
    const { pauses, watches } = await pausesOf(2, (nth, pass) => {
      if (nth <= 20) pass(1_000);
      return "";
    });
    expect(pauses).toEqual([750, 750]);
    expect(watches).toBe(21);
  });
});
