import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";

/** The objects that an event has named; beyond this number only their kinds are remembered. The carried state is small. */
export const maxToldObjects = 100;

const Told = z.object({ told: z.array(z.string()).max(maxToldObjects) });

/** The objects that were reported to the users of a Kustomization as not reconciled by Sluice, as digests. */
export interface ToldObjects {
  /** What earlier runs have reported, or what this run has remembered. */
  marks(): readonly string[];
  /** At the end of the run these are all reported objects. */
  remember(marks: readonly string[]): void;
  /** The state that a run passes on, with the reported objects. */
  addTo(carried: JsonObject | undefined): JsonObject | undefined;
}

/** @param carried of the last run; without it everything is reported once more */
export function toldObjects(carried: JsonObject | undefined): ToldObjects {
  let told: readonly string[] = Told.safeParse(carried).data?.told ?? [];
  return {
    marks: () => told,
    remember: (marks) => {
      told = marks.slice(0, maxToldObjects);
    },
    addTo: (next) => (told.length === 0 ? next : { ...next, told: [...told] }),
  };
}
