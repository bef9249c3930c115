import type { Left } from "./recording.ts";

/** What Sluice leaves on purpose after a step, in place of what Flagger left. */
export type Difference = (flagger: Left) => Left;

/** A suspended Canary says so once; Flagger says it at each interval. */
const silent: Difference = (left) => ({ ...left, events: [] });

export const differences: ReadonlyMap<string, Difference> = new Map([
  ["canary-suspend/05-initialized", silent],
  ["canary-suspend/09-progressing-w25", silent],
]);
