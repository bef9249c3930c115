/**
 * The input that costs a reader of foreign bytes most, at its limits. `measure.ts` plays it in a process of its own;
 * `worst-inputs.test.ts` compares what it cost with the limits.
 */
export interface WorstInput {
  /** The module that reads, from the root of the project: `lib/receiver/cdevents.ts`. */
  readonly reader: string;
  /** What the input is, for people: `1,000 links`. Unique for its reader. */
  readonly name: string;
  /** How far the memory of the process may grow beyond what it had before the read, the input included. */
  readonly memoryMiB: number;
  /** Makes the input, which is not measured, and answers the read. A refusal that is expected is caught in the read. */
  make(): Promise<() => Promise<unknown>>;
}

/**
 * For how long a reader may keep the event loop from other work, in processor time of the main thread on the reference machine:
 * a neighbour's lease is renewed and its webhook is answered meanwhile.
 */
export const maxBlockedMs = 200;

export function keyOf({ reader, name }: WorstInput): string {
  return `${reader}: ${name}`;
}
