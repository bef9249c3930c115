import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/map-limit.ts";
import type { Sightings } from "../../lib/core/ports/sightings.ts";
import { keyOf, never } from "./state-back-end.ts";

export interface SightingsBackEnd {
  readonly sightings: Sightings;
  close(): Promise<void>;
}

export function sightingsContract(name: string, open: () => Promise<SightingsBackEnd>): void {
  describe(`sightings: ${name}`, () => {
    let backEnd: SightingsBackEnd;
    beforeEach(async () => {
      backEnd = await open();
    });
    afterEach(() => backEnd.close());

    const kind = { cluster: "home", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization" };
    const names = async (of = kind): Promise<readonly string[]> =>
      (await backEnd.sightings.list(of, never)).map(({ key }) => key.name).toSorted();

    test("the latest sighting of an object replaces the one before", async () => {
      expect(await backEnd.sightings.get(keyOf("web"), never)).toBeUndefined();
      await backEnd.sightings.put(keyOf("web"), "first", never);
      await backEnd.sightings.put(keyOf("web"), "second", never);
      expect(await backEnd.sightings.get(keyOf("web"), never)).toBe("second");
      expect(await names()).toEqual(["web"]);
    });

    test("a removed sighting is gone, also when removed twice", async () => {
      await backEnd.sightings.put(keyOf("web"), "seen", never);
      await backEnd.sightings.remove(keyOf("web"), never);
      await backEnd.sightings.remove(keyOf("web"), never);
      expect(await backEnd.sightings.get(keyOf("web"), never)).toBeUndefined();
      expect(await names()).toEqual([]);
    });

    test("a list has those of one kind in one cluster, not of one whose name begins alike", async () => {
      const key = keyOf("web");
      await backEnd.sightings.put(key, "seen", never);
      await backEnd.sightings.put({ ...key, name: "other-kind", kind: "KustomizationSet" }, "seen", never);
      await backEnd.sightings.put({ ...key, name: "other-group", group: "example.org" }, "seen", never);
      await backEnd.sightings.put({ ...key, name: "other-cluster", cluster: "home2" }, "seen", never);
      await backEnd.sightings.put({ ...key, name: "db", namespace: "zebra" }, "seen", never);
      expect(await names()).toEqual(["db", "web"]);
      expect(await names({ ...kind, cluster: "home2" })).toEqual(["other-cluster"]);
    });

    test("a list says what was last seen of each", async () => {
      for (const sighting of ["first", "second"]) await backEnd.sightings.put(keyOf("web"), sighting, never);
      await backEnd.sightings.put(keyOf("db"), "only", never);
      const found = await backEnd.sightings.list(kind, never);
      expect(new Map(found.map(({ key, sighting }) => [key.name, sighting]))).toEqual(
        new Map([
          ["db", "only"],
          ["web", "second"],
        ]),
      );
    });

    test("a call under an aborted signal changes nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await backEnd.sightings.put(keyOf("web"), "seen", never);
      await expect(backEnd.sightings.put(keyOf("web"), "late", stopped)).rejects.toThrow("time is up");
      await expect(backEnd.sightings.remove(keyOf("web"), stopped)).rejects.toThrow("time is up");
      await expect(backEnd.sightings.list(kind, stopped)).rejects.toThrow("time is up");
      expect(await backEnd.sightings.get(keyOf("web"), never)).toBe("seen");
    });

    test("a list of three thousand has each of them once", async () => {
      const wanted = Array.from({ length: 3_000 }, (_, number) => `web-${number}`);
      await mapLimit(wanted, 25, (name) => backEnd.sightings.put(keyOf(name), "uid/1/resource-version", never), never);
      expect(await names()).toEqual(wanted.toSorted());
    });

    test("a key of the greatest length that a key may have is kept like any other", async () => {
      const long = "n".repeat(253);
      const key = { cluster: long, group: long, kind: long, namespace: long, name: long };
      await backEnd.sightings.put(key, "seen", never);
      expect(await backEnd.sightings.get(key, never)).toBe("seen");
      expect(await backEnd.sightings.list(key, never)).toEqual([{ key, sighting: "seen" }]);
    });
  });
}
