import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type CauseGroup,
  type CauseGroupKey,
  type CauseGroups,
  groupKeptMs,
} from "../../lib/core/ports/cause-groups.ts";
import { never } from "./state-back-end.ts";

export interface CauseGroupsBackEnd {
  readonly causeGroups: CauseGroups;
  close(): Promise<void>;
}

const key: CauseGroupKey = {
  cluster: "home",
  alert: { namespace: "apps", name: "chat" },
  cause: { kind: "GitRepository", namespace: "apps", name: "shop" },
};
const begin = Date.UTC(2026, 10, 24, 12);
const opened: CauseGroup = {
  ...{ opened: begin, isToldByCause: false, reasons: ["DependencyNotReady"] },
  ...{ seen: begin, sending: begin },
};

export function causeGroupsContract(name: string, open: () => Promise<CauseGroupsBackEnd>): void {
  describe(`cause groups: ${name}`, () => {
    let backEnd: CauseGroupsBackEnd;
    let groups: CauseGroups;
    beforeEach(async () => {
      backEnd = await open();
      groups = backEnd.causeGroups;
    });
    afterEach(() => backEnd.close());

    test("a group is read back unchanged", async () => {
      expect(await groups.get(key, begin, never)).toBeUndefined();
      const version = await groups.put(key, opened, undefined, begin, never);
      expect(await groups.get(key, begin, never)).toEqual({ group: opened, version });
      const root = { kind: "Kustomization", namespace: "apps", name: "base" };
      const over: CauseGroup = {
        root,
        opened: begin,
        isToldByCause: true,
        reasons: [],
        seen: begin,
        over: begin + 1,
      };
      const next = await groups.put(key, over, version, begin, never);
      expect(await groups.get(key, begin, never)).toEqual({ group: over, version: next });
    });

    test("a write based on an outdated group is refused, and the group stays", async () => {
      const version = await groups.put(key, opened, undefined, begin, never);
      const told = { ...opened, isToldByCause: true };
      expect(await groups.put(key, told, undefined, begin, never)).toBeUndefined();
      const next = await groups.put(key, told, version, begin, never);
      expect(next).not.toBeUndefined();
      expect(await groups.put(key, opened, version, begin, never)).toBeUndefined();
      expect(await groups.get(key, begin, never)).toEqual({ group: told, version: next });
    });

    test("of many concurrent writes exactly one is stored", async () => {
      const first = await Promise.all(
        Array.from({ length: 10 }, () => groups.put(key, opened, undefined, begin, never)),
      );
      const [version] = first.filter((one) => one !== undefined);
      const next = await Promise.all(Array.from({ length: 10 }, () => groups.put(key, opened, version, begin, never)));
      const stored = (all: readonly (string | undefined)[]) => all.filter((one) => one !== undefined).length;
      expect([stored(first), stored(next)]).toEqual([1, 1]);
    });

    test("a group expires a day after its last write, and then another one can be opened", async () => {
      const version = await groups.put(key, opened, undefined, begin, never);
      const last = begin + groupKeptMs;
      expect((await groups.get(key, last - 1, never))?.version).toBe(version);
      expect(await groups.put(key, opened, undefined, last - 1, never)).toBeUndefined();
      expect(await groups.get(key, last, never)).toBeUndefined();
      expect(await groups.put(key, { ...opened, opened: last }, undefined, last, never)).not.toBeUndefined();
    });

    test("waiting objects are listed once each, in order, for the group that they joined", async () => {
      await groups.put(key, opened, undefined, begin, never);
      for (const one of ["Kustomization/apps/b", "Kustomization/apps/a", "Kustomization/apps/b"]) {
        await groups.join(key, begin, one, begin, never);
      }
      expect(await groups.waiting(key, begin, never)).toEqual(["Kustomization/apps/a", "Kustomization/apps/b"]);
      expect(await groups.waiting(key, begin + 1, never)).toEqual([]);
      expect([
        await groups.hasJoined(key, begin, "Kustomization/apps/a", never),
        await groups.hasJoined(key, begin, "Kustomization/apps/c", never),
        await groups.hasJoined(key, begin + 1, "Kustomization/apps/a", never),
      ]).toEqual([true, false, false]);
    });

    test("more objects can wait than one message names", async () => {
      await groups.put(key, opened, undefined, begin, never);
      const names = Array.from({ length: 250 }, (_, n) => `Kustomization/apps/${String(n).padStart(3, "0")}`);
      await Promise.all(names.map((one) => groups.join(key, begin, one, begin, never)));
      expect(await groups.waiting(key, begin, never)).toEqual(names);
    });

    test("groups are separate for each cluster, Alert and cause", async () => {
      await groups.put(key, opened, undefined, begin, never);
      await groups.join(key, begin, "Kustomization/apps/a", begin, never);
      const others: readonly CauseGroupKey[] = [
        { ...key, cluster: "other" },
        { ...key, cluster: "n".repeat(1_000) },
        { ...key, alert: { ...key.alert, name: "pager" } },
        { ...key, alert: { ...key.alert, namespace: "other" } },
        { ...key, cause: { ...key.cause, kind: "Bucket" } },
        { ...key, cause: { ...key.cause, name: "other" } },
      ];
      for (const other of others) {
        expect(await groups.get(other, begin, never)).toBeUndefined();
        expect(await groups.waiting(other, begin, never)).toEqual([]);
      }
    });

    test("a call under an aborted signal writes nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(groups.put(key, opened, undefined, begin, stopped)).rejects.toThrow("time is up");
      await expect(groups.join(key, begin, "Kustomization/apps/a", begin, stopped)).rejects.toThrow("time is up");
      expect(await groups.get(key, begin, never)).toBeUndefined();
    });
  });
}
