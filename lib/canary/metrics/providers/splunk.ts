import { messageOf } from "../../../core/failure.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { type Answer, ask, encodedQuery, quotedBody, statusText } from "./ask.ts";
import { type MakeServer, MetricFault, noValues } from "./metric-server.ts";
import { credential, intervalMs, windowIntervals } from "./metric-window.ts";

/**
 * Splunk Observability: the query is a SignalFlow program that yields one time series. Its last value counts. Flagger opens a web socket;
 * here one request asks for the same computation, and the answer is a stream of events.
 */
export const splunk: MakeServer = ({ provider, secret, interval, parts }) => {
  const { address = "" } = provider;
  if (address === "") throw new MetricFault("splunk endpoint is not set");
  const headers = { "x-sf-token": credential("splunk", "sf_token_key", secret) };
  const windowMs = Math.trunc(windowIntervals * intervalMs(interval));
  // Flagger takes the address of the API or of its streams for both.
  const http = address.replace(/^ws/, "http");
  return {
    async query(query) {
      const now = parts.clock.now();
      const parameters = encodedQuery({ start: String(now - windowMs), stop: String(now), immediate: "true" });
      const url = `${http.replace("api", "stream")}/v2/signalflow/execute?${parameters}`;
      const sent = { ...headers, "content-type": "text/plain" };
      const answer = await ask({ method: "POST", url, headers: sent, body: query }, parts);
      if (answer.status !== 200) {
        throw new MetricFault(`error executing query: ${statusText(answer)}: ${quotedBody(answer)}`);
      }
      return lastValue(answer);
    },
    async probe() {
      const answer = await ask({ url: `${http.replace("stream", "api")}/v2/metric?limit=1`, headers }, parts);
      if (answer.status !== 200) throw new MetricFault(`error response: ${quotedBody(answer)}`);
    },
  };
};

function lastValue(answer: Answer): number {
  const series = new Set<string>();
  let last: number | undefined;
  for (const { type, data } of eventsOf(answer)) {
    if (type === "error" || data["event"] === "CHANNEL_ABORT") {
      throw new MetricFault(`error executing query: ${quotedBody({ ...answer, text: JSON.stringify(data) })}`);
    }
    const points: unknown = type === "data" ? data["data"] : undefined;
    for (const point of Array.isArray(points) ? points.filter(isJsonObject) : []) {
      const { tsId, value } = point;
      if (value === null || value === undefined) continue;
      if (typeof value !== "number") throw new MetricFault("invalid response: UnsupportedValueType");
      series.add(JSON.stringify(tsId));
      last = value;
    }
  }
  if (last === undefined) throw noValues("invalid response: ");
  if (series.size > 1) throw new MetricFault("invalid response: query returned multiple values");
  return last;
}

interface StreamEvent {
  readonly type: string;
  readonly data: JsonObject;
}

/** Server-sent events. The data of each is a JSON object. */
function eventsOf({ text }: Answer): readonly StreamEvent[] {
  return text.split(/\r?\n\r?\n/).flatMap((block) => {
    const lines = block.split(/\r?\n/);
    const field = (name: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
    const data = field("data").join("\n");
    if (data === "") return [];
    let json: unknown;
    try {
      json = parseJson(data);
    } catch (error) {
      throw new MetricFault(`error executing query: an event cannot be read: ${messageOf(error)}`, { cause: error });
    }
    return isJsonObject(json) ? [{ type: field("event")[0] ?? "message", data: json }] : [];
  });
}
