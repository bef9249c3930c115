/** The limit that the project promises, and for which statistic. */
export type Limit =
  | { readonly of: "median" | "p95" | "max"; readonly atMost: number }
  | { readonly of: "min" | "median"; readonly atLeast: number };

/** One figure: its value, the number of runs, and its limit. */
export interface Figure {
  readonly figure: string;
  readonly unit:
    | "ms"
    | "kB"
    | "MB"
    | "percent of a core"
    | "percent of Flux's"
    | "requests"
    | "runs"
    | "connections"
    | "events"
    | "files"
    | "deliveries a second"
    | "objects a second"
    | "read units"
    | "write units";
  readonly runs: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  readonly limit?: Limit;
}

export function figure(
  name: string,
  unit: Figure["unit"],
  samples: readonly number[],
  limit?: Figure["limit"],
): Figure {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN);
  return {
    figure: name,
    unit,
    runs: sorted.length,
    min: at(0),
    median: at(0.5),
    p95: at(0.95),
    max: at(1),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Whether the figure breaks its limit; a figure without a measurement does. */
export function isOver({ limit, ...found }: Figure): boolean {
  if (limit === undefined) return false;
  return "atMost" in limit ? !(found[limit.of] <= limit.atMost) : !(found[limit.of] >= limit.atLeast);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
