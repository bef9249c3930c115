import { z } from "zod";
import { type Answer, addressOf, ask, below, jsonOf, queryEscaped, quotedBody, statusText } from "./ask.ts";
import { type MakeServer, MetricFault, type MetricServer, noValues } from "./metric-server.ts";

const timeoutMs = 15_000;
const probeQuery = 'from(bucket: "default") |> range(start: -2h)';
const dialect = { annotations: ["datatype", "group", "default"], delimiter: ",", header: true };

/** InfluxDB 2: the query is in Flux. The first record counts, and has to be a float. */
export const influxdb: MakeServer = (input) => {
  const { parts, secret } = input;
  const address = addressOf(input);
  const login = secret === undefined ? undefined : loginOf(secret);
  const headers = {
    "content-type": "application/json",
    ...(login === undefined ? {} : { authorization: `Token ${login.token}` }),
  };
  const send = async (query: string): Promise<Answer> => {
    const url = below(address, "api/v2/query", `org=${queryEscaped(login?.org ?? "")}`);
    const body = JSON.stringify({ dialect, query, type: "flux" });
    const answer = await ask({ method: "POST", url, headers, body, timeoutMs }, parts);
    if (answer.status >= 300) throw new MetricFault(`error accessing influxdb query api: ${refusalOf(answer)}`);
    return answer;
  };
  const query: MetricServer["query"] = async (text) => firstValue(await send(text));
  return {
    query,
    async probe() {
      await send(probeQuery);
    },
  };
};

function loginOf(secret: ReadonlyMap<string, string>) {
  const [token, org] = [secret.get("token"), secret.get("org")];
  if (token === undefined) throw new MetricFault("influxdb credentials does not contain an authentication token");
  if (org === undefined) throw new MetricFault("influxdb credentials does not contain an organisation");
  return { token, org };
}

const Refusal = z.object({ code: z.string().min(1), message: z.string().min(1) });

function refusalOf(answer: Answer): string {
  let json: unknown;
  try {
    json = jsonOf(answer);
  } catch {
    json = undefined;
  }
  const { data } = Refusal.safeParse(json);
  return data === undefined ? `${statusText(answer)}: ${quotedBody(answer)}` : `${data.code}: ${data.message}`;
}

/** The value of the first record of annotated CSV. Flagger takes an empty answer for 0; here a missing record is no data. */
function firstValue({ text }: Answer): number {
  let types: readonly string[] = [];
  let names: readonly string[] | undefined;
  for (const row of rowsOf(text)) {
    const [annotation = ""] = row;
    if (row.length === 1 && annotation === "") {
      names = undefined;
    } else if (annotation === "#datatype") {
      types = row;
      names = undefined;
    } else if (annotation.startsWith("#")) {
      continue;
    } else if (names === undefined) {
      names = row;
    } else {
      return valueOf(row, names, types);
    }
  }
  throw noValues();
}

function valueOf(row: readonly string[], names: readonly string[], types: readonly string[]): number {
  if (names[1] === "error") throw new MetricFault(`query error: ${row[1] ?? ""}`);
  const at = names.indexOf("_value");
  const [text, type] = [row[at], types[at]];
  const shown = names.map((name, index) => `${name}:${row[index] ?? ""}`).join(",");
  if (text === undefined || text === "") throw noValues(`invalid response: ${shown}: `);
  const value = Number(text);
  if (type !== "double" || Number.isNaN(value)) throw new MetricFault(`invalid response: ${shown}`);
  return value;
}

/** Rows of CSV: a field in quotes may have commas, line feeds and doubled quotes. Only as many as are looked at are read. */
function* rowsOf(text: string): Generator<readonly string[]> {
  let row: string[] = [];
  const field = /(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n]*))(,|\r?\n|$)/gy;
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, quoted, plain = "", end] = match;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    yield row;
    row = [];
    if (field.lastIndex >= text.length) return;
  }
}
