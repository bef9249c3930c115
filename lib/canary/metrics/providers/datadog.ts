import { z } from "zod";
import { type Answer, ask, encodedQuery, jsonOf, quotedBody, statusText, unreadable } from "./ask.ts";
import { type MakeServer, MetricFault, noValues } from "./metric-server.ts";
import { credential, intervalMs, windowIntervals } from "./metric-window.ts";

const defaultHost = "https://api.datadoghq.com";

const Points = z.object({ pointlist: z.array(z.array(z.number().nullable()).nullable()).nullish() });
const QueryAnswer = z.object({ series: z.array(Points.nullable()).nullish() }).nullable();

/** Datadog. The oldest point of the first series counts: the newest one is often not complete (reference canary 20, 8). */
export const datadog: MakeServer = ({ provider, secret, interval, parts }) => {
  const address = (provider.address ?? "") || defaultHost;
  const headers = {
    "dd-api-key": credential("datadog", "datadog_api_key", secret),
    "dd-application-key": credential("datadog", "datadog_application_key", secret),
  };
  const windowSeconds = Math.trunc((windowIntervals * intervalMs(interval)) / 1_000);
  return {
    async query(query) {
      const now = Math.floor(parts.clock.now() / 1_000);
      const parameters = encodedQuery({ query, from: String(now - windowSeconds), to: String(now) });
      const answer = await ask({ url: `${address}/api/v1/query?${parameters}`, headers }, parts);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}: ${statusText(answer)}`);
      return oldestOf(answer);
    },
    async probe() {
      const answer = await ask({ url: `${address}/api/v1/validate`, headers }, parts);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
    },
  };
};

function oldestOf(answer: Answer): number {
  const parsed = QueryAnswer.safeParse(jsonOf(answer));
  if (!parsed.success) throw unreadable(answer, "it is not the answer of a query", parsed.error);
  const [first] = parsed.data?.series ?? [];
  const [oldest] = first?.pointlist ?? [];
  if (oldest == null || oldest.length === 0) throw noValues(`invalid response: ${quotedBody(answer)}: `);
  const value = oldest[1];
  // Go reads null as 0; here a missing value is no data.
  if (value == null) throw noValues(`invalid response: ${quotedBody(answer)}: `);
  return value;
}
