import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../lib/core/digest.ts";
import type { ArtifactCollection, StoredArtifact } from "../../lib/core/ports/artifact-collection.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import { never } from "./state-back-end.ts";

export interface ArtifactBackEnd {
  readonly store: ArtifactStore;
  /** The same artifacts; storing one of them again makes it new, however new it is. */
  readonly collection: ArtifactCollection;
  /** Until an artifact that is stored has a later time than those that were stored before. */
  pass(): Promise<void>;
  /** Changes the stored bytes behind the store's back, as a broken disk would. */
  damage(digest: string): Promise<void>;
  close(): Promise<void>;
}

export function artifactStoreContract(name: string, open: () => Promise<ArtifactBackEnd>): void {
  describe(`artifact store: ${name}`, () => {
    let backEnd: ArtifactBackEnd;
    beforeEach(async () => {
      backEnd = await open();
    });
    afterEach(() => backEnd.close());

    const bytes = new TextEncoder().encode("an artifact");
    const digest = digestOf(bytes);
    /** The stored text. The store says that it has it exactly if there is one, before it is read and after. */
    const text = async (): Promise<string | undefined> => {
      const hasBefore = await backEnd.store.has(digest, never);
      const found = await backEnd.store.get(digest, never);
      expect([hasBefore, await backEnd.store.has(digest, never)]).toEqual(Array(2).fill(found !== undefined));
      return found === undefined ? undefined : new TextDecoder().decode(found);
    };

    test("a store has an artifact from when it is stored until it is removed", async () => {
      expect(await backEnd.store.has(digest, never)).toBe(false);
      await backEnd.store.put(digest, bytes, never);
      expect(await backEnd.store.has(digest, never)).toBe(true);
      const [found] = await listed();
      if (found === undefined) throw new Error("it is not listed");
      await backEnd.collection.remove(found, never);
      expect(await backEnd.store.has(digest, never)).toBe(false);
    });

    test("bytes can be read by their digest", async () => {
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("an artifact that was not stored is undefined", async () => {
      expect(await text()).toBeUndefined();
    });

    test("bytes that do not match the digest are refused and not stored", async () => {
      await expect(backEnd.store.put(digest, new TextEncoder().encode("another"), never)).rejects.toThrow(digest);
      expect(await text()).toBeUndefined();
    });

    test("storing the same bytes again, even many times at once, changes nothing", async () => {
      await Promise.all(Array.from({ length: 8 }, () => backEnd.store.put(digest, bytes, never)));
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("11.1/12: bytes that no longer match their digest count as missing, and storing them again repairs that (21)", async () => {
      await backEnd.store.put(digest, bytes, never);
      expect(await backEnd.store.has(digest, never)).toBe(true);
      await backEnd.damage(digest);
      expect(await text()).toBeUndefined();
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    const listed = async (): Promise<readonly StoredArtifact[]> => {
      const found: StoredArtifact[] = [];
      for await (const page of backEnd.collection.list(never)) found.push(...page);
      return found;
    };

    test("each stored artifact is listed once, and no other file", async () => {
      const contents = Array.from({ length: 12 }, (_, number) => new TextEncoder().encode(`artifact ${number}`));
      for (const each of contents) await backEnd.store.put(digestOf(each), each, never);
      await backEnd.store.put(digest, bytes, never);
      await backEnd.store.put(digest, bytes, never);
      await backEnd.collection.keepUnnamed(new Map([[digest, 5]]), never);
      const digests = (await listed()).map((each) => each.digest);
      expect(digests.toSorted()).toEqual([digest, ...contents.map(digestOf)].toSorted());
    });

    test("a listed artifact can be removed, and others stay", async () => {
      const other = new TextEncoder().encode("another");
      await backEnd.store.put(digest, bytes, never);
      await backEnd.store.put(digestOf(other), other, never);
      const found = (await listed()).find((each) => each.digest === digest);
      if (found === undefined) throw new Error("it is not listed");
      expect(await backEnd.collection.remove(found, never)).toBe(true);
      expect(await text()).toBeUndefined();
      expect(await backEnd.collection.remove(found, never)).toBe(false);
      expect((await listed()).map((each) => each.digest)).toEqual([digestOf(other)]);
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("an artifact that was stored again since it was listed is not removed", async () => {
      await backEnd.store.put(digest, bytes, never);
      const [found] = await listed();
      if (found === undefined) throw new Error("it is not listed");
      await backEnd.pass();
      await backEnd.store.put(digest, bytes, never);
      const [again] = await listed();
      expect(again?.storedAt).toBeGreaterThan(found.storedAt);
      expect(await backEnd.collection.remove(found, never)).toBe(false);
      expect(await text()).toBe("an artifact");
    });

    test("the next collection reads the notes of the last one, and a store without notes returns none", async () => {
      expect(await backEnd.collection.unnamed(never)).toEqual(new Map());
      const unnamed = new Map([[digest, 1_800_000_000_000]]);
      await backEnd.collection.keepUnnamed(unnamed, never);
      expect(await backEnd.collection.unnamed(never)).toEqual(unnamed);
      await backEnd.collection.keepUnnamed(new Map(), never);
      expect(await backEnd.collection.unnamed(never)).toEqual(new Map());
    });

    test("a call under an aborted signal ends with its reason, and nothing is stored", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(backEnd.store.put(digest, bytes, stopped)).rejects.toThrow("time is up");
      await expect(backEnd.store.get(digest, stopped)).rejects.toThrow("time is up");
      await expect(backEnd.store.has(digest, stopped)).rejects.toThrow("time is up");
      expect(await text()).toBeUndefined();
    });

    test("an empty and a large artifact are stored completely", async () => {
      for (const artifact of [new Uint8Array(0), new Uint8Array(5_000_000).fill(7)]) {
        await backEnd.store.put(digestOf(artifact), artifact, never);
        const found = await backEnd.store.get(digestOf(artifact), never);
        expect(found === undefined ? undefined : digestOf(found)).toBe(digestOf(artifact));
      }
    });
  });
}
