import { z } from "zod";
import { addressOf, ask, basicLogin, below, jsonOf, queryEscaped, quotedBody, statusText, unreadable } from "./ask.ts";
import { parseGoFloat } from "./go-numbers.ts";
import {
  inFront,
  type MakeServer,
  MetricFault,
  type MetricServer,
  noValues,
  type ServerInput,
} from "./metric-server.ts";

const onlineQuery = "vector(1)";

const Series = z.object({ value: z.array(z.unknown()).nullish(), values: z.array(z.unknown()).nullish() });
const QueryAnswer = z.object({ data: z.object({ result: z.array(Series.nullable()).nullish() }).nullish() }).nullable();

/** Prometheus and what speaks like it. If there are several series, the last one counts (reference canary 11.3). */
export const prometheus: MakeServer = (input) => {
  const address = addressOf(input);
  const headers = headersOf(input);
  const { parts, provider } = input;
  const query: MetricServer["query"] = async (text) => {
    const url = below(address, "api/v1/query", `query=${queryEscaped(text.replaceAll(/\s+/g, " "))}`);
    const answer = await ask({ url, headers, isInsecure: provider.insecureSkipVerify === true }, parts);
    if (answer.status >= 400) {
      throw new MetricFault(`error response: Status ${statusText(answer)}: ${quotedBody(answer)}`);
    }
    const parsed = QueryAnswer.safeParse(jsonOf(answer));
    if (!parsed.success) throw unreadable(answer, "it is not the answer of a query of one moment", parsed.error);
    return valueOf(parsed.data?.data?.result ?? []);
  };
  return {
    query,
    async probe() {
      const value = await query(onlineQuery).catch((error: unknown) => {
        throw inFront("running query failed: ", error);
      });
      if (value !== 1) throw new MetricFault(`value is not 1 for query: ${onlineQuery}`);
    },
  };
};

/** Headers of the provider, and the login of its Secret: a token, or user and password. */
function headersOf({ provider, secret }: ServerInput): Readonly<Record<string, string>> {
  const headers = Object.fromEntries(
    Object.entries(provider.headers ?? {}).map(([name, values]) => [name.toLowerCase(), values.join(", ")]),
  );
  if (secret === undefined) return headers;
  const token = secret.get("token");
  if (token !== undefined) return token === "" ? headers : { ...headers, authorization: `Bearer ${token}` };
  const { username, password } = loginOf(provider.type, secret);
  const hasLogin = username !== "" && password !== "";
  return hasLogin ? { ...headers, authorization: basicLogin(username, password) } : headers;
}

/** User and password of a Secret. Throws Flagger's text where one is missing. */
export function loginOf(type = "", secret: ReadonlyMap<string, string>) {
  const [username, password] = [secret.get("username"), secret.get("password")];
  if (username === undefined) throw new MetricFault(`${type} credentials does not contain a username`);
  if (password === undefined) throw new MetricFault(`${type} credentials does not contain a password`);
  return { username, password };
}

function valueOf(series: readonly (z.infer<typeof Series> | null)[]): number {
  let last = Number.NaN;
  for (const each of series) {
    if (each?.values != null) throw new MetricFault("query returned multiple values");
    const value = each?.value?.[1];
    if (typeof value === "string") last = parseGoFloat(value);
  }
  if (Number.isNaN(last)) throw noValues();
  return last;
}
