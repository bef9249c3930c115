import { describe, expect, test } from "vitest";
import type { WorkItem } from "../../lib/core/ports/work-items.ts";
import { keyOf, workItem } from "./state-back-end.ts";

/** A state that releases of Sluice come to, one after another or two at once. */
export interface LayoutPlace {
  /**
   * Starts a release that knows the layouts up to `version`, stores this item, if one is given, and reads one of its key. `upgrade` is
   * called for each step from an earlier layout, with the version that it starts from.
   */
  start(version: number, upgrade: (from: number) => Promise<void>, item?: WorkItem): Promise<WorkItem | undefined>;
  /** Everything that is stored, as a text. */
  stored(): Promise<string>;
  close(): Promise<void>;
}

const key = keyOf("web");
const item = workItem(key, { requested: 7 });

/** What each adapter of the state does about the layout that another release has written. */
export function layoutContract(name: string, open: () => Promise<LayoutPlace>): void {
  describe(`the layout of ${name}`, () => {
    const inPlace = async (story: (place: LayoutPlace) => Promise<void>): Promise<void> => {
      const place = await open();
      try {
        await story(place);
      } finally {
        await place.close();
      }
    };
    const noUpgrade = (from: number): Promise<void> => Promise.reject(new Error(`upgraded from ${from}`));

    test("a release continues with the data that it has written", () =>
      inPlace(async (place) => {
        await place.start(1, noUpgrade, item);
        expect(await place.start(1, noUpgrade)).toEqual(item);
      }));

    test("a newer release upgrades it, step by step and once", () =>
      inPlace(async (place) => {
        await place.start(1, noUpgrade, item);
        const steps: number[] = [];
        const upgrade = async (from: number): Promise<void> => void steps.push(from);
        expect(await place.start(3, upgrade)).toEqual(item);
        expect(await place.start(3, upgrade)).toEqual(item);
        expect(steps).toEqual([1, 2]);
      }));

    test("an older release refuses to start, prints a mend, and writes nothing", () =>
      inPlace(async (place) => {
        await place.start(2, noUpgrade, item);
        const before = await place.stored();
        const older = place.start(1, noUpgrade, workItem(key, { version: 2, requested: 8 }));
        await expect(older).rejects.toThrow(/was written by .*newer.*\(layout 2/);
        expect(await place.stored()).toBe(before);
      }));

    test("an interrupted upgrade is repeated from the step that did not finish", () =>
      inPlace(async (place) => {
        await place.start(1, noUpgrade, item);
        const steps: number[] = [];
        const dies = async (from: number): Promise<void> => {
          steps.push(from);
          if (from === 2) throw new Error("killed");
        };
        await expect(place.start(3, dies)).rejects.toThrow("killed");
        // A release between the two goes on from there; the first one no longer can.
        expect(await place.start(2, noUpgrade)).toEqual(item);
        await expect(place.start(1, noUpgrade)).rejects.toThrow("newer");
        expect(await place.start(3, async (from) => void steps.push(from))).toEqual(item);
        expect(steps).toEqual([1, 2, 2]);
      }));
  });
}
