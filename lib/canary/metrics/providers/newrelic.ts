import { z } from "zod";
import { ask, encodedQuery, jsonOf, quotedBody, unreadable } from "./ask.ts";
import { type MakeServer, MetricFault, noValues } from "./metric-server.ts";
import { intervalMs } from "./metric-window.ts";

const defaultHost = "https://insights-api.newrelic.com";

const QueryAnswer = z
  .object({ results: z.array(z.object({ result: z.number().nullish() }).nullable()).nullish() })
  .nullable();

/** New Relic's Insights, asked for one interval. The answer has to have one result. */
export const newrelic: MakeServer = ({ provider, secret, interval, parts }) => {
  const account = secret?.get("newrelic_account_id");
  if (account === undefined) {
    throw new MetricFault("newrelic credentials does not contain the key 'newrelic_account_id'");
  }
  const key = secret?.get("newrelic_query_key");
  // The quotes are Flagger's.
  if (key === undefined) throw new MetricFault("newrelic credentials does not contain the key ''newrelic_query_key");
  const seconds = Math.trunc(intervalMs(interval) / 1_000);
  const endpoint = `${(provider.address ?? "") || defaultHost}/v1/accounts/${encodeURIComponent(account)}/query`;
  const send = (query: string) => {
    const url = `${endpoint}?${encodedQuery({ nrql: `${query} SINCE ${seconds} seconds ago` })}`;
    return ask({ url, headers: { "x-query-key": key } }, parts);
  };
  return {
    async query(query) {
      const answer = await send(query);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
      const parsed = QueryAnswer.safeParse(jsonOf(answer));
      if (!parsed.success) throw unreadable(answer, "it is not the answer of a query", parsed.error);
      const results = parsed.data?.results ?? [];
      const value = results[0]?.result;
      if (results.length !== 1 || value == null) throw noValues(`invalid response: ${quotedBody(answer)}: `);
      return value;
    },
    async probe() {
      const answer = await send("SELECT * FROM Metric");
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
    },
  };
};
