import { z } from "zod";
import { type Answer, addressOf, ask, basicLogin, below, jsonOf, queryEscaped, quotedBody, unreadable } from "./ask.ts";
import { parseGoFloat } from "./go-numbers.ts";
import { inFront, type MakeServer, MetricFault, type MetricServer, noValues } from "./metric-server.ts";
import { loginOf } from "./prometheus.ts";

const Value = z.union([z.number(), z.string(), z.null()]);
const QueryAnswer = z.array(z.object({ datapoints: z.array(z.tuple([Value, Value])).nullish() }).nullable()).nullable();

/** Graphite: the query is that of its render API. The last point with a value counts. */
export const graphite: MakeServer = (input) => {
  const { parts, provider, secret } = input;
  const address = addressOf(input);
  const { username, password } = secret === undefined ? noLogin : loginOf(provider.type, secret);
  const headers = username !== "" && password !== "" ? { authorization: basicLogin(username, password) } : {};
  const query: MetricServer["query"] = async (text) => {
    const url = below(address, "render", renderParameters(text));
    const answer = await ask({ url, headers, isInsecure: provider.insecureSkipVerify === true }, parts);
    if (answer.status >= 400) throw new MetricFault(`error response: ${quotedBody(answer)}`);
    return lastValue(answer);
  };
  return {
    query,
    async probe() {
      await query("target=test").catch((error: unknown) => {
        if (error instanceof MetricFault && error.isNoValues) return;
        throw inFront("running query failed: ", error);
      });
    },
  };
};

const noLogin = { username: "", password: "" };

/** The parameters of the query, sorted as Go writes them, and the format of the answer. */
function renderParameters(query: string): string {
  const [parameters = ""] = query.replaceAll(/\s+/g, " ").split("#");
  const given = new URLSearchParams(parameters);
  given.delete("format");
  const names = [...new Set([...given.keys(), "format"])].toSorted((a, b) => (a < b ? -1 : 1));
  return names
    .flatMap((name) => (name === "format" ? ["json"] : given.getAll(name)).map((value) => [name, value] as const))
    .map(([name, value]) => `${queryEscaped(name)}=${queryEscaped(value)}`)
    .join("&");
}

function lastValue(answer: Answer): number {
  const parsed = QueryAnswer.safeParse(jsonOf(answer));
  if (!parsed.success) throw unreadable(answer, "it is not the answer of a query", parsed.error);
  let last: number | undefined;
  for (const target of parsed.data ?? []) {
    for (const [value] of target?.datapoints ?? []) {
      if (value !== null) last = typeof value === "number" ? value : textValue(value, answer);
    }
  }
  if (last === undefined) throw noValues();
  return last;
}

function textValue(text: string, answer: Answer): number {
  try {
    return parseGoFloat(text);
  } catch (error) {
    throw error instanceof MetricFault ? unreadable(answer, error.message, error) : error;
  }
}
