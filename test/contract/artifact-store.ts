import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../lib/core/digest.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import { never } from "./state-back-end.ts";

export interface ArtifactBackEnd {
  readonly store: ArtifactStore;
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
    const text = async (): Promise<string | undefined> => {
      const found = await backEnd.store.get(digest, never);
      return found === undefined ? undefined : new TextDecoder().decode(found);
    };

    test("bytes come back under their digest", async () => {
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("an artifact that was not stored is undefined", async () => {
      expect(await text()).toBeUndefined();
    });

    test("bytes that do not hash to the digest are refused and not stored", async () => {
      await expect(backEnd.store.put(digest, new TextEncoder().encode("another"), never)).rejects.toThrow(digest);
      expect(await text()).toBeUndefined();
    });

    test("storing again, even many at once, changes nothing", async () => {
      await Promise.all(Array.from({ length: 8 }, () => backEnd.store.put(digest, bytes, never)));
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("11.1/12: bytes that no longer hash to their digest count as missing, and storing them again repairs that (21)", async () => {
      await backEnd.store.put(digest, bytes, never);
      await backEnd.damage(digest);
      expect(await text()).toBeUndefined();
      await backEnd.store.put(digest, bytes, never);
      expect(await text()).toBe("an artifact");
    });

    test("a call under an aborted signal ends with its reason, and nothing is stored", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(backEnd.store.put(digest, bytes, stopped)).rejects.toThrow("time is up");
      await expect(backEnd.store.get(digest, stopped)).rejects.toThrow("time is up");
      expect(await text()).toBeUndefined();
    });

    test("an empty and a large artifact are kept whole", async () => {
      for (const artifact of [new Uint8Array(0), new Uint8Array(5_000_000).fill(7)]) {
        await backEnd.store.put(digestOf(artifact), artifact, never);
        const found = await backEnd.store.get(digestOf(artifact), never);
        expect(found === undefined ? undefined : digestOf(found)).toBe(digestOf(artifact));
      }
    });
  });
}
