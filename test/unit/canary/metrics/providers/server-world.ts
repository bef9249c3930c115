import { type MetricTemplateSpec } from "../../../../../lib/api/canary.ts";
import { MetricFault, type ServerParts } from "../../../../../lib/canary/metrics/providers/metric-server.ts";
import { metricServer } from "../../../../../lib/canary/metrics/providers/servers.ts";
import { defaultCanarySettings as settings } from "../../../../../lib/canary/settings.ts";
import { noHome } from "../../../../doubles/no-cluster.ts";
import { recordedLog } from "../../../../doubles/recorded-log.ts";
import { steppedClock } from "../../../../doubles/stepped-clock.ts";
import { type ScriptedAnswer, scriptedHttp } from "../metric-world.ts";

export interface ServerWorldOptions {
  readonly secret?: Readonly<Record<string, string>>;
  /** By default `1m`. */
  readonly interval?: string;
  readonly answers?: readonly ScriptedAnswer[];
  readonly parts?: Partial<ServerParts>;
}

/** The server of a provider in namespace `apps`, on Sunday 2026-11-22 at 12:00 UTC, and what it was asked. */
export function serverWorld(
  provider: MetricTemplateSpec["provider"],
  { secret, interval = "1m", answers = [], parts = {} }: ServerWorldOptions = {},
) {
  const { http, requests } = scriptedHttp(answers);
  const clock = steppedClock();
  const log = recordedLog();
  const { signal } = new AbortController();
  const sleep: ServerParts["sleep"] = async (ms) => clock.pass(ms);
  const make = () =>
    metricServer({
      ...{ provider, namespace: "apps", interval },
      parts: { ...{ http, clock, sleep, log, settings, signal, cluster: noHome }, ...parts },
      ...(secret === undefined ? {} : { secret: new Map(Object.entries(secret)) }),
    });
  return {
    ...{ clock, log, requests },
    /** The value of a query, or why there is none; `none: …` where the server has no values. */
    query: async (query: string): Promise<number | string> => {
      try {
        return await make().query(query);
      } catch (error) {
        if (!(error instanceof MetricFault)) throw error;
        return error.isNoValues ? `none: ${error.message}` : error.message;
      }
    },
    probe: async (): Promise<string> => {
      try {
        await make().probe();
        return "online";
      } catch (error) {
        if (!(error instanceof MetricFault)) throw error;
        return error.message;
      }
    },
  };
}

/** What of a request a test looks at. */
export function askedOf({ requests }: ReturnType<typeof serverWorld>) {
  return requests.map(({ method, url, headers, body }) => ({
    asked: `${method} ${url}`,
    headers,
    ...(body === undefined ? {} : { body: Buffer.from(body).toString() }),
  }));
}
