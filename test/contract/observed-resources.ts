import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import type { ObservedResources } from "../../lib/core/ports/observed-resources.ts";
import { keyOf, never } from "./state-back-end.ts";

export interface ObservedResourcesBackEnd {
  readonly observed: ObservedResources;
  close(): Promise<void>;
}

export function observedResourcesContract(name: string, open: () => Promise<ObservedResourcesBackEnd>): void {
  describe(`observed: ${name}`, () => {
    let backEnd: ObservedResourcesBackEnd;
    beforeEach(async () => {
      backEnd = await open();
    });
    afterEach(() => backEnd.close());

    const kind = { cluster: "home", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization" };
    const names = async (of = kind): Promise<readonly string[]> =>
      (await backEnd.observed.list(of, never)).map(({ key }) => key.name).toSorted();

    test("the latest summary of an object replaces the one before", async () => {
      expect(await backEnd.observed.get(keyOf("web"), never)).toBeUndefined();
      await backEnd.observed.put(keyOf("web"), "first", never);
      await backEnd.observed.put(keyOf("web"), "second", never);
      expect(await backEnd.observed.get(keyOf("web"), never)).toBe("second");
      expect(await names()).toEqual(["web"]);
    });

    test("a removed summary is gone, even if removed twice", async () => {
      await backEnd.observed.put(keyOf("web"), "seen", never);
      await backEnd.observed.remove(keyOf("web"), never);
      await backEnd.observed.remove(keyOf("web"), never);
      expect(await backEnd.observed.get(keyOf("web"), never)).toBeUndefined();
      expect(await names()).toEqual([]);
    });

    test("a list has the resources of one kind in one cluster, and none of a kind with the same name prefix", async () => {
      const key = keyOf("web");
      await backEnd.observed.put(key, "seen", never);
      await backEnd.observed.put({ ...key, name: "other-kind", kind: "KustomizationSet" }, "seen", never);
      await backEnd.observed.put({ ...key, name: "other-group", group: "example.org" }, "seen", never);
      await backEnd.observed.put({ ...key, name: "other-cluster", cluster: "home2" }, "seen", never);
      await backEnd.observed.put({ ...key, name: "db", namespace: "zebra" }, "seen", never);
      expect(await names()).toEqual(["db", "web"]);
      expect(await names({ ...kind, cluster: "home2" })).toEqual(["other-cluster"]);
    });

    test("a list has the latest summary of each resource", async () => {
      for (const summary of ["first", "second"]) await backEnd.observed.put(keyOf("web"), summary, never);
      await backEnd.observed.put(keyOf("db"), "only", never);
      const found = await backEnd.observed.list(kind, never);
      expect(new Map(found.map(({ key, summary }) => [key.name, summary]))).toEqual(
        new Map([
          ["db", "only"],
          ["web", "second"],
        ]),
      );
    });

    test("a mark records since when an object is not Ready and how its last run ended, next to its summary", async () => {
      const { observed } = backEnd;
      await observed.markNotReady(keyOf("web"), { since: 1_000, outcome: "failed" }, never);
      expect(await observed.get(keyOf("web"), never)).toBeUndefined();
      expect(await observed.list(kind, never)).toEqual([
        { key: keyOf("web"), summary: undefined, notReady: { since: 1_000, outcome: "failed" } },
      ]);
      await observed.put(keyOf("web"), "seen", never);
      await observed.markNotReady(keyOf("web"), { since: 2_000, outcome: "stalled" }, never);
      expect(await observed.list(kind, never)).toEqual([
        { key: keyOf("web"), summary: "seen", notReady: { since: 1_000, outcome: "stalled" } },
      ]);
      await observed.markReady(keyOf("web"), never);
      expect(await observed.list(kind, never)).toEqual([{ key: keyOf("web"), summary: "seen" }]);
      await observed.markNotReady(keyOf("web"), { since: 3_000, outcome: "waiting" }, never);
      expect((await observed.list(kind, never))[0]?.notReady).toEqual({ since: 3_000, outcome: "waiting" });
      await observed.remove(keyOf("web"), never);
      expect(await observed.list(kind, never)).toEqual([]);
    });

    test("a call under an aborted signal changes nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await backEnd.observed.put(keyOf("web"), "seen", never);
      await expect(backEnd.observed.put(keyOf("web"), "late", stopped)).rejects.toThrow("time is up");
      await expect(backEnd.observed.remove(keyOf("web"), stopped)).rejects.toThrow("time is up");
      await expect(backEnd.observed.list(kind, stopped)).rejects.toThrow("time is up");
      expect(await backEnd.observed.get(keyOf("web"), never)).toBe("seen");
    });

    test("a list longer than a page of DynamoDB has each resource once", async () => {
      const wanted = Array.from({ length: 300 }, (_, number) => `web-${number}`);
      // A page has 1 MiB.
      const summary = "s".repeat(8_192);
      await mapLimit(wanted, 25, (name) => backEnd.observed.put(keyOf(name), summary, never), never);
      expect(await names()).toEqual(wanted.toSorted());
    });

    test("a key of maximum length is stored like any other", async () => {
      const long = "n".repeat(253);
      const key = { cluster: long, group: long, kind: long, namespace: long, name: long };
      await backEnd.observed.put(key, "seen", never);
      expect(await backEnd.observed.get(key, never)).toBe("seen");
      expect(await backEnd.observed.list(key, never)).toEqual([{ key, summary: "seen" }]);
    });
  });
}
