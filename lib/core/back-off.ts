const firstMs = 750;
const maxMs = 900_000;

/** How long to wait after so many failures in a row before this one, as controller-runtime has it under Flux: 750 ms, doubling, at most 15 minutes. */
export function backOffMs(failures: number): number {
  return Math.min(firstMs * 2 ** failures, maxMs);
}
