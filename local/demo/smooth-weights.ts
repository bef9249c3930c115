/** A Service that a route names, and its share of the requests. */
export interface WeightedBackend {
  readonly service: string;
  readonly weight: number;
}

/**
 * Chooses backends by smooth weighted round robin: of 100 requests in a row each backend gets as many as its weight says. Answers undefined
 * where none has a weight.
 */
export function smoothWeights(): <Backend extends WeightedBackend>(
  backends: readonly Backend[],
) => Backend | undefined {
  const credits = new Map<string, number>();
  const creditOf = ({ service }: WeightedBackend): number => credits.get(service) ?? 0;
  return (backends) => {
    const total = backends.reduce((sum, { weight }) => sum + weight, 0);
    for (const backend of backends) credits.set(backend.service, creditOf(backend) + backend.weight);
    const open = backends.filter(({ weight }) => weight > 0);
    const [first] = open.toSorted((a, b) => creditOf(b) - creditOf(a));
    if (first !== undefined) credits.set(first.service, creditOf(first) - total);
    return first;
  };
}
