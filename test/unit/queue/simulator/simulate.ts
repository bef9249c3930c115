import { chaos } from "./chaos.ts";
import { heal } from "./heal.ts";
import { outage } from "./outage.ts";
import { probe } from "./probes.ts";
import { crowd, sharedDeath } from "./shared-death.ts";
import { type Mutation, startSimulation } from "./simulation.ts";

export interface Outcome {
  /** Empty where the protocol kept all its promises. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

/**
 * One whole story, decided by the seed: minutes in which everything goes wrong; in some a time in which the table is away again
 * and again; one in which everything has to come right by itself; and a probe of what must happen at once. One of forty is of objects
 * that share a process with one that kills it.
 */
export async function simulate(seed: number, mutation: Mutation = {}, traced = false): Promise<Outcome> {
  // The one turn of the event loop that a story takes, so that the test runner is not shut out.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  const isCrowded = seed % 40 === 9;
  const simulation = startSimulation(seed, mutation, traced, isCrowded ? crowd : undefined);
  for (const act of isCrowded ? [sharedDeath] : [chaos, outage, heal, probe]) {
    await act(simulation, seed);
    if (simulation.violations.length > 0) break;
  }
  return { violations: simulation.violations, trace: simulation.lines };
}
