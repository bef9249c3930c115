/**
 * Answers the first in the gate and the second in `npm run deep`: how often a test repeats the same with another number, such as
 * the write at which a process is killed.
 */
export function inGateOrDeep<Size>(inGate: Size, inDeep: Size): Size {
  return process.env["SLUICE_DEEP"] === "true" ? inDeep : inGate;
}

/** The distance between two of a run's calls at which stories interrupt it. Odd, so that a call is met before and after its effect. */
export const callStride = inGateOrDeep(5, 1);
