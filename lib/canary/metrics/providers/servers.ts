import { cloudwatch } from "./cloudwatch.ts";
import { datadog } from "./datadog.ts";
import { dynatrace } from "./dynatrace.ts";
import { externalmetrics } from "./external-metrics.ts";
import { graphite } from "./graphite.ts";
import { influxdb } from "./influxdb.ts";
import { keptn } from "./keptn.ts";
import type { MakeServer, MetricServer, ServerInput } from "./metric-server.ts";
import { newrelic } from "./newrelic.ts";
import { prometheus } from "./prometheus.ts";
import { splunk } from "./splunk.ts";
import { stackdriver } from "./stackdriver.ts";

const makers: Readonly<Record<ServerInput["provider"]["type"], MakeServer>> = {
  cloudwatch,
  datadog,
  dynatrace,
  externalmetrics,
  graphite,
  influxdb,
  keptn,
  newrelic,
  prometheus,
  splunk,
  stackdriver,
};

/** The server of a MetricTemplate. Throws a `MetricFault` for a missing part of its provider, its Secret or the interval. */
export function metricServer(input: ServerInput): MetricServer {
  return makers[input.provider.type](input);
}
