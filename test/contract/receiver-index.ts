import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import {
  EntryTooLarge,
  maxEntryBytes,
  maxReceiversOfPath,
  maxUnpackedBytes,
  packEntry,
  type ReceiverEntry,
} from "../../lib/core/ports/receiver-index.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

const path = `/hook/${"a".repeat(64)}`;
const resource = {
  label: "GitRepository/apps/web",
  group: "source.toolkit.fluxcd.io",
  version: "v1",
  kind: "GitRepository",
  namespace: "apps",
  filter: "true",
  objects: [{ name: "web", metadata: { name: "web", labels: { team: "x" } } }],
};
const entry: ReceiverEntry = {
  state: "ready",
  type: "github",
  events: ["push"],
  secret: "token",
  resourceFilter: "true",
  oidcProviders: [{ issuerURL: "https://issuer" }],
  resources: [resource, { ...resource, fault: "not found", objects: [] }],
};

/** An entry that compresses to about half of so many bytes. */
function entryOf(bytes: number): ReceiverEntry {
  const names = Array.from({ length: Math.ceil(bytes / 64) }, (_, index) =>
    createHash("sha256").update(String(index)).digest("hex"),
  );
  return { ...entry, resources: [{ ...resource, objects: names.map((name) => ({ name })) }] };
}

export function receiverIndexContract(name: string, open: OpenState): void {
  describe(`receiver index: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const find = (at = path) => state.receivers.find(at, never);

    test("an unknown path has no Receiver, nor has one that differs in a letter or a query", async () => {
      await state.receivers.save(path, entry, await leased(state, keyOf("hook")), never);
      expect([await find(`${path}?a=b`), await find(path.slice(0, -1)), await find(path.toUpperCase())]).toEqual([
        [],
        [],
        [],
      ]);
    });

    test("a saved Receiver is found by its path at once, with its complete entry", async () => {
      await state.receivers.save(path, entry, await leased(state, keyOf("hook")), never);
      expect(await find()).toEqual([{ key: keyOf("hook"), entry }]);
    });

    test("a new path replaces the former one, and a new entry the former entry", async () => {
      const fence = await leased(state, keyOf("hook"));
      await state.receivers.save(path, entry, fence, never);
      await state.receivers.save(path, { ...entry, state: "suspended" }, fence, never);
      expect((await find())[0]?.entry.state).toBe("suspended");
      const other = `/hook/${"b".repeat(64)}`;
      await state.receivers.save(other, entry, fence, never);
      expect([await find(), await find(other)]).toEqual([[], [{ key: keyOf("hook"), entry }]]);
    });

    test("Receivers with the same path are all found in the order of their keys, up to the number that is served", async () => {
      const names = Array.from({ length: maxReceiversOfPath + 1 }, (_, index) => `hook-${1_000 + index}`);
      const save = async (name: string): Promise<void> =>
        state.receivers.save(path, entry, await leased(state, keyOf(name)), never);
      await mapLimit(names, 10, save, never);
      expect((await find()).map(({ key }) => key.name)).toEqual(names.slice(0, maxReceiversOfPath));
    });

    test("a removed Receiver is not found, its neighbour is, and removing it again changes nothing", async () => {
      const fence = await leased(state, keyOf("hook"));
      await state.receivers.save(path, entry, fence, never);
      await state.receivers.save(path, entry, await leased(state, keyOf("neighbour")), never);
      await state.receivers.remove(fence, never);
      await state.receivers.remove(fence, never);
      expect((await find()).map(({ key }) => key.name)).toEqual(["neighbour"]);
    });

    test("a holder that lost its lease neither saves nor removes", async () => {
      const late = await leased(state, keyOf("hook"));
      await state.receivers.save(path, entry, late, never);
      await leased(state, keyOf("hook"));
      const other = { ...entry, type: "generic" };
      await expect(state.receivers.save(path, other, late, never)).rejects.toThrow(LeaseLost);
      await expect(state.receivers.remove(late, never)).rejects.toThrow(LeaseLost);
      expect(await find()).toEqual([{ key: keyOf("hook"), entry }]);
    });

    test("a call under an aborted signal changes nothing and finds nothing", async () => {
      const fence = await leased(state, keyOf("hook"));
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(state.receivers.save(path, entry, fence, stopped)).rejects.toThrow("time is up");
      await expect(state.receivers.remove(fence, stopped)).rejects.toThrow("time is up");
      await expect(state.receivers.find(path, stopped)).rejects.toThrow("time is up");
      expect(await find()).toEqual([]);
    });

    test("an entry of the maximum size is stored completely, and a larger one is refused with its size", async () => {
      const fence = await leased(state, keyOf("hook"));
      const largest = entryOf(620_000);
      expect(packEntry(largest).length).toBeGreaterThan(maxEntryBytes * 0.9);
      await state.receivers.save(path, largest, fence, never);
      expect(await find()).toEqual([{ key: keyOf("hook"), entry: largest }]);
      const tooLarge = state.receivers.save(path, entryOf(720_000), fence, never);
      await expect(tooLarge).rejects.toThrow(EntryTooLarge);
      await expect(tooLarge).rejects.toThrow(`${maxEntryBytes} are allowed`);
      expect(await find()).toEqual([{ key: keyOf("hook"), entry: largest }]);
    });

    test("an entry that is too large only when unpacked is refused when it is saved, not when it is read", async () => {
      const fence = await leased(state, keyOf("hook"));
      const alike = { ...entry, resourceFilter: "x".repeat(maxUnpackedBytes) };
      const tooLarge = state.receivers.save(path, alike, fence, never);
      await expect(tooLarge).rejects.toThrow(`${maxUnpackedBytes} are allowed`);
      expect(await find()).toEqual([]);
      const fits = { ...entry, resourceFilter: "x".repeat(maxUnpackedBytes - 2_000) };
      await state.receivers.save(path, fits, fence, never);
      expect(await find()).toEqual([{ key: keyOf("hook"), entry: fits }]);
    });
  });
}
