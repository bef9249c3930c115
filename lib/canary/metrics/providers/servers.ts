import { type MakeServer, type MetricServer, type ServerInput } from "./metric-server.ts";
import { prometheus } from "./prometheus.ts";

const makers: Readonly<Record<string, MakeServer>> = { prometheus };

/** The server of a MetricTemplate. Throws a `MetricFault` for what its provider or Secret lacks. An unknown type is Prometheus, as in Flagger. */
export function metricServer(input: ServerInput): MetricServer {
  const { type = "" } = input.provider;
  const make = Object.hasOwn(makers, type) ? makers[type] : undefined;
  if (make === undefined) input.parts.log.warn("unknown metrics provider, using prometheus", { type });
  return (make ?? prometheus)(input);
}
