import { randomUUID } from "node:crypto";
import { messageOf } from "../../../core/failure.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import { nameFault } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import { canaryManager } from "../../canary-deps.ts";
import { parseGoFloat } from "./go-numbers.ts";
import { inFront, type MakeServer, MetricFault, refuseOtherNamespace, type ServerParts } from "./metric-server.ts";

const group = "metrics.keptn.sh";
const version = "v1beta1";
/** Keptn has so long for an Analysis. */
const analysisMs = 10_000;
const lookEveryMs = 1_000;

/** Keptn: the value of a KeptnMetric, or 1 for an Analysis that passes and 0 for one that does not. */
export const keptn: MakeServer = (input) => ({
  async query(query) {
    const { parts } = input;
    const asked = askedFor(query);
    refuseOtherNamespace(`${asked.kind} ${asked.namespace}/${asked.name}`, asked.namespace, input);
    return asked.kind === "KeptnMetric" ? metricValue(asked, parts) : analysisValue(asked, parts);
  },
  // As in Flagger, nothing is asked.
  async probe() {},
});

interface Asked {
  readonly kind: "Analysis" | "KeptnMetric";
  readonly namespace: string;
  readonly name: string;
  /** Of an Analysis. */
  readonly recent: string;
  readonly args: Readonly<Record<string, string>>;
}

const kinds: Readonly<Record<string, Asked["kind"]>> = {
  keptnmetric: "KeptnMetric",
  keptnmetrics: "KeptnMetric",
  analysis: "Analysis",
  analyses: "Analysis",
};

/** Reads `<keptnmetric|analysis>/<namespace>/<name>/<duration>/<arguments>`. Throws Flagger's text. */
function askedFor(query: string): Asked {
  const words = query.toLowerCase().trim().split("/");
  const [kindWord = "", namespace = "", name = "", recent = "1m", args = ""] = words;
  if (words.length < 3) {
    throw new MetricFault(
      "unexpected query format. query must be in the format <keptnmetric|analysis>/<namespace>/<resourceName>/<duration>/<arguments>",
    );
  }
  const kind = Object.hasOwn(kinds, kindWord) ? kinds[kindWord] : undefined;
  if (kind === undefined) {
    throw new MetricFault(
      "unexpected resource kind provided in the query. must be one of: ['keptnmetric', 'analysis']",
    );
  }
  const fault = nameFault(name) ?? nameFault(namespace);
  if (fault !== undefined) throw new MetricFault(`could not retrieve ${kind} ${namespace}/${name}: ${fault}`);
  const pairs = args.split(";").flatMap((pair) => {
    const [key = "", value, ...more] = pair.split("=");
    return value === undefined || more.length > 0 ? [] : [[key, value] as const];
  });
  return { kind, namespace, name, recent, args: Object.fromEntries(pairs) };
}

async function metricValue({ namespace, name }: Asked, parts: ServerParts): Promise<number> {
  const subject = `KeptnMetric ${namespace}/${name}`;
  const live = await answered(`could not retrieve ${subject}: `, () =>
    parts.cluster.get({ group, version, kind: "KeptnMetric", namespace, name }, parts.signal),
  );
  if (live === undefined) {
    throw new MetricFault(`could not retrieve ${subject}: keptnmetrics.${group} ${JSON.stringify(name)} not found`);
  }
  const { value } = statusOf(live);
  if (typeof value !== "string") {
    throw new MetricFault(`could not retrieve KeptnMetric - no value found in resource ${namespace}/${name}`);
  }
  try {
    return parseGoFloat(value);
  } catch (error) {
    throw inFront(`could not parse value of ${subject} to float: `, error);
  }
}

/**
 * Makes an Analysis, waits for its result and deletes it. A process that is killed in between leaves the object: Keptn has no use for it any
 * more, and the next check makes one of another name.
 */
async function analysisValue(asked: Asked, parts: ServerParts): Promise<number> {
  const { namespace, name, recent, args } = asked;
  const { cluster, log, signal } = parts;
  const own = `${name}-${randomUUID().slice(0, 6)}`;
  const manifest = {
    ...{ apiVersion: `${group}/${version}`, kind: "Analysis", metadata: { name: own, namespace } },
    spec: { analysisDefinition: { name }, timeframe: { recent }, args },
  };
  await answered(`could not create Keptn Analysis ${namespace}/${name}: `, () =>
    cluster.create(manifest, { manager: canaryManager }, signal),
  );
  const ref = { group, version, kind: "Analysis", namespace, name: own };
  try {
    return await resultOf(ref, asked, parts);
  } finally {
    await cluster.delete(ref, { propagation: "Background" }, signal).catch((error: unknown) => {
      if (!signal.aborted) log.error("Keptn Analysis not deleted", { name: own, namespace, error: messageOf(error) });
    });
  }
}

async function resultOf(
  ref: Parameters<ServerParts["cluster"]["get"]>[0],
  { namespace, name }: Asked,
  { clock, cluster, signal, sleep }: ServerParts,
): Promise<number> {
  const until = clock.now() + analysisMs;
  for (;;) {
    await sleep(lookEveryMs, signal);
    const live = await answered(`could not check status of created Keptn Analysis ${namespace}/${name}: `, () =>
      cluster.get(ref, signal),
    );
    const { state, pass } = live === undefined ? {} : statusOf(live);
    if (state === "Completed" && typeof pass === "boolean") return pass ? 1 : 0;
    if (clock.now() >= until) {
      throw new MetricFault(`encountered timeout while waiting for Keptn Analysis ${namespace}/${name} to be finished`);
    }
  }
}

function statusOf(live: LiveObject): JsonObject {
  const status: unknown = live["status"];
  return isJsonObject(status) ? status : {};
}

/** A refusal by the cluster is a failed check; if it does not answer, the step is tried again. */
async function answered<Result>(words: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 0) throw error;
    throw new MetricFault(`${words}${messageOf(error)}`, { cause: error });
  }
}
