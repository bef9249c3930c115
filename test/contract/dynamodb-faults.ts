import type { DynamodbFault } from "../doubles/faulty-dynamodb.ts";
import type { SeenRequest } from "../doubles/seen-request.ts";
import { random } from "../unit/queue/simulator/random.ts";

/** One request in so many meets each fault. */
export const faultRates: readonly (readonly [DynamodbFault, number])[] = [
  ["throttled", 0.02],
  ["broken", 0.02],
  ["dropped", 0.03],
  ["lost", 0.04],
  ["silent", 0.002],
  ["conflict", 0.05],
  ["leftOver", 0.3],
];

/** Faults by the seed's chance, on two tries of one call at most: every call comes through in the end. */
export function faults(seed: number): {
  readonly met: ReadonlySet<DynamodbFault>;
  readonly of: (request: SeenRequest) => DynamodbFault | undefined;
} {
  const chance = random(seed);
  const met = new Set<DynamodbFault>();
  return {
    met,
    of: ({ attempt }) => {
      if (attempt > 2) return undefined;
      const fault = faultRates.find(([, rate]) => chance.chance(rate))?.[0];
      if (fault !== undefined) met.add(fault);
      return fault;
    },
  };
}
