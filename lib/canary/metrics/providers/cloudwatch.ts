import { messageOf } from "../../../core/failure.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { CloudWatchError, type MetricDataRequest } from "../../../core/ports/cloud-watch.ts";
import { type MakeServer, MetricFault, noValues, type ServerParts } from "./metric-server.ts";
import { intervalMs, windowIntervals } from "./metric-window.ts";

const maxDatapoints = 20;

/**
 * CloudWatch, with the identity of the installation where it lends it to the namespace of the MetricTemplate. The query is a list of
 * `MetricDataQueries` in JSON. The first value of the first result counts.
 */
export const cloudwatch: MakeServer = ({ provider, namespace, interval, parts }) => {
  const { region = "" } = provider;
  if (region === "") throw new MetricFault("region not specified");
  const windowMs = windowIntervals * intervalMs(interval);
  return {
    async query(query) {
      const endMs = parts.clock.now();
      const queries = queriesIn(query);
      const request = { namespace, region, queries, startMs: endMs - windowMs, endMs, maxDatapoints };
      const results = await ask(request, parts).catch((error: unknown) => {
        if (!(error instanceof CloudWatchError)) throw error;
        throw new MetricFault(`error requesting cloudwatch: ${error.message}`, { cause: error });
      });
      const [first] = results;
      if (first === undefined) throw noValues("invalid response: {  MetricDataResults: []}: ");
      const [value] = first;
      // The spelling is Flagger's.
      if (value === undefined) throw noValues("invalid reponse {  MetricDataResults: [{      Values: []    }]}: ");
      return value;
    },
    /** A request without queries is not valid, which CloudWatch says to those only who may ask. */
    async probe() {
      const request = { namespace, region, queries: [], startMs: 0, endMs: 0, maxDatapoints };
      await ask(request, parts).catch((error: unknown) => {
        if (!(error instanceof CloudWatchError)) throw error;
        if (error.reason !== "invalid") throw new MetricFault(`unexpected error: ${error.message}`, { cause: error });
      });
    },
  };
};

async function ask(request: MetricDataRequest, { cloudWatch, signal }: ServerParts) {
  if (cloudWatch === undefined) throw new CloudWatchError("failed", "no AWS identity is lent here");
  return cloudWatch.metricData(request, signal);
}

/** A field of a query: a text, number or the like, or a structure of fields; a list if it is in brackets. */
type Field = true | Fields | readonly [Fields];
interface Fields {
  readonly [name: string]: Field;
}

const ofQuery: Fields = {
  ...{ Id: true, Expression: true, Label: true, Period: true, ReturnData: true, AccountId: true },
  MetricStat: {
    ...{ Period: true, Stat: true, Unit: true },
    Metric: { Namespace: true, MetricName: true, Dimensions: [{ Name: true, Value: true }] },
  },
};

/** The queries of a text. As in Go, the case of a field's name does not count, and an unknown field is left out. */
function queriesIn(text: string): readonly JsonObject[] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw new MetricFault(`error unmarshaling query: ${messageOf(error)}`, { cause: error });
  }
  if (!Array.isArray(json) || !json.every(isJsonObject)) {
    throw new MetricFault("error unmarshaling query: it has to be a list of objects in JSON");
  }
  return json.map((query) => named(query, ofQuery));
}

function named(object: JsonObject, fields: Fields): JsonObject {
  const names = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const name = names.get(key.toLowerCase());
      const field = name === undefined ? undefined : fields[name];
      return name === undefined || field === undefined || value === null ? [] : [[name, valueOf(value, field)]];
    }),
  );
}

function valueOf(value: Json, field: Field): Json {
  if (field === true) return value;
  if (isFields(field)) return isJsonObject(value) ? named(value, field) : value;
  const [of] = field;
  return Array.isArray(value) ? value.map((each: Json) => valueOf(each, of)) : value;
}

function isFields(field: Fields | readonly [Fields]): field is Fields {
  return !Array.isArray(field);
}
