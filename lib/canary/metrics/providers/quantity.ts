import { MetricFault } from "./metric-server.ts";

const factors: Readonly<Record<string, number>> = {
  ...{ "": 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** A quantity of Kubernetes (`1500m`, `2Ki`, `1e3`) as a number. Throws a {@link MetricFault} for an invalid quantity. */
export function quantity(text: string): number {
  const [, number, suffix = ""] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  const factor = factors[suffix];
  if (number === undefined || factor === undefined) {
    throw new MetricFault(`unable to parse quantity ${JSON.stringify(text.slice(0, 64))}`);
  }
  // By division a decimal fraction is the nearest double, as Go's conversion makes it.
  return factor < 1 ? Number(number) / Math.round(1 / factor) : Number(number) * factor;
}
