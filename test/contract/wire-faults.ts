import type { SeenRequest } from "../doubles/seen-request.ts";
import { random } from "../unit/queue/simulator/random.ts";

/** One request in so many meets each fault. */
export type FaultRates<Fault> = readonly (readonly [Fault, number])[];

/** Faults by the seed's chance, on two tries of one call at most: every call comes through in the end. */
export function wireFaults<Fault>(
  rates: FaultRates<Fault>,
  seed: number,
): {
  readonly met: ReadonlySet<Fault>;
  readonly of: (request: SeenRequest) => Fault | undefined;
} {
  const chance = random(seed);
  const met = new Set<Fault>();
  return {
    met,
    of: ({ attempt }) => {
      if (attempt > 2) return undefined;
      const fault = rates.find(([, rate]) => chance.chance(rate))?.[0];
      if (fault !== undefined) met.add(fault);
      return fault;
    },
  };
}
