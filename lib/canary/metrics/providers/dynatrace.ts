import { z } from "zod";
import { ask, encodedQuery, jsonOf, quotedBody, unreadable } from "./ask.ts";
import { type MakeServer, MetricFault, noValues } from "./metric-server.ts";
import { credential, intervalMs, windowIntervals } from "./metric-window.ts";

const Data = z.object({ values: z.array(z.number().nullable()).nullish() });
const QueryAnswer = z
  .object({ result: z.array(z.object({ data: z.array(Data.nullable()).nullish() }).nullable()).nullish() })
  .nullable();

/** Dynatrace: the query is a metric selector. The first value of the last series of the first result counts. */
export const dynatrace: MakeServer = ({ provider, secret, interval, parts }) => {
  const { address = "" } = provider;
  if (address === "") throw new MetricFault("dynatrace endpoint is not set");
  const headers = { authorization: `Api-Token ${credential("dynatrace", "dynatrace_token", secret)}` };
  const windowMs = Math.trunc(windowIntervals * intervalMs(interval));
  return {
    async query(query) {
      const now = Math.floor(parts.clock.now() / 1_000) * 1_000;
      const window = { from: String(now - windowMs), to: String(now) };
      const parameters = encodedQuery({ metricSelector: query, resolution: "Inf", ...window });
      const answer = await ask({ url: `${address}/api/v2/metrics/query?${parameters}`, headers }, parts);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
      const parsed = QueryAnswer.safeParse(jsonOf(answer));
      if (!parsed.success) throw unreadable(answer, "it is not the answer of a query", parsed.error);
      const value = parsed.data?.result?.[0]?.data?.at(-1)?.values?.[0];
      if (value == null) throw noValues(`invalid response: ${quotedBody(answer)}: `);
      return value;
    },
    async probe() {
      const answer = await ask({ url: `${address}/api/v2/metrics?pageSize=1`, headers }, parts);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
    },
  };
};
