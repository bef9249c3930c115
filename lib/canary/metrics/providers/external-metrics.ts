import { z } from "zod";
import { messageOf } from "../../../core/failure.ts";
import { parseLabelQuery } from "../../../core/label-query.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import { isOutage } from "../../../core/ports/outage.ts";
import { ask, jsonOf, quotedBody, statusText } from "./ask.ts";
import { type MakeServer, MetricFault, noValues, refuseOtherNamespace, type ServerInput } from "./metric-server.ts";
import { quantity } from "./quantity.ts";

const Values = z.object({ items: z.array(z.object({ value: z.union([z.string(), z.number()]) })).default([]) });

interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly labelSelector: string;
}

/** Kubernetes' API of external metrics: that of the cluster, or one at the address of the provider. The first value counts. */
export const externalmetrics: MakeServer = (input) => {
  const get = (metric: Named): Promise<unknown> =>
    (input.provider.address ?? "") === "" ? own(metric, input) : at(metric, input);
  return {
    async query(query) {
      const metric = metricIn(query);
      refuseOtherNamespace(`external metric ${metric.namespace}/${metric.name}`, metric.namespace, input);
      const fault = segmentFault("namespace", metric.namespace) ?? segmentFault("resource", metric.name);
      if (fault !== undefined) throw new MetricFault(`error querying external metrics API: ${fault}`);
      const json = await get(metric).catch((error: unknown) => {
        throw prefixed("error querying external metrics API: ", error);
      });
      const parsed = Values.safeParse(json);
      if (!parsed.success) {
        const why = "it is not a list of values of an external metric";
        throw new MetricFault(`error querying external metrics API: ${why}`, { cause: parsed.error });
      }
      const [first] = parsed.data.items;
      if (first === undefined) throw noValues("no external metrics found: ");
      return quantity(String(first.value));
    },
    async probe() {
      // If it acts as an account, the account has to be allowed to ask in that namespace.
      const namespace = input.parts.accountUser === undefined ? "kube-system" : input.namespace;
      await get({ namespace, name: "dummy-metric", labelSelector: "" }).catch((error: unknown) => {
        throw prefixed("external metrics service unavailable: ", error);
      });
    },
  };
};

/** The error of Go's client for a part of its path that would change the path. */
function segmentFault(what: "namespace" | "resource", text: string): string | undefined {
  if (text === "." || text === "..") return `invalid ${what} ${JSON.stringify(text)}: [may not be '${text}']`;
  return text.includes("%") ? `invalid ${what} ${JSON.stringify(text)}: [may not contain '%']` : undefined;
}

/** An error from the server counts as an answer. Where the cluster of the Canary itself does not answer, the step is tried again. */
function prefixed(words: string, error: unknown): unknown {
  if (error instanceof MetricFault) return new MetricFault(`${words}${error.message}`, { cause: error });
  if (!(error instanceof ApiError) || (isOutage(error) && error.code === 0)) return error;
  return new MetricFault(`${words}${messageOf(error)}`, { cause: error });
}

async function own(
  metric: Named,
  { parts: { accountUser: user, externalMetrics, signal } }: ServerInput,
): Promise<unknown> {
  if (externalMetrics !== undefined)
    return externalMetrics.values({ ...metric, ...(user === undefined ? {} : { user }) }, signal);
  throw new MetricFault("the API of external metrics of this cluster cannot be reached from here");
}

async function at(
  { namespace, name, labelSelector }: Named,
  { provider, secret, parts }: ServerInput,
): Promise<unknown> {
  const { address = "", insecureSkipVerify: isInsecure = false } = provider;
  const token = secret?.get("token") ?? "";
  const base = /^https?:\/\//i.test(address) ? address : `https://${address}`;
  const path = `apis/external.metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const query = labelSelector === "" ? "" : `?${new URLSearchParams({ labelSelector }).toString()}`;
  const headers = {
    accept: "application/json",
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
  };
  const answer = await ask({ url: `${base.replace(/\/+$/, "")}/${path}${query}`, headers, isInsecure }, parts);
  if (answer.status >= 400) throw new MetricFault(`${statusText(answer)}: ${quotedBody(answer)}`);
  return jsonOf(answer);
}

const format = "<namespace>/<metricName>?labelSelector=<urlencoded label selectors>";

/** Reads `<namespace>/<metric>?labelSelector=…`; only the metric is required. Throws Flagger's text. */
function metricIn(query: string): Named {
  const [path = "", parameters = ""] = query.trim().split(/\?(.*)/s);
  const parts = decoded(path, query).split("/");
  const failed = (why: string): MetricFault => new MetricFault(`error parsing metric query: ${why}`);
  if (parts.length > 2) {
    throw failed(`malformed query string, too many slashes, expected ${format}, got ${query}`);
  }
  const [namespace = "", name = ""] = parts.length === 1 ? ["", parts[0]] : parts;
  if (name === "") throw failed("metric name cannot be empty");
  const labelSelector = new URLSearchParams(parameters).get("labelSelector") ?? "";
  try {
    parseLabelQuery(labelSelector);
  } catch (error) {
    throw failed(`error parsing label selector from string ${labelSelector}: ${messageOf(error)}`);
  }
  return { namespace: namespace || "default", name, labelSelector };
}

function decoded(path: string, query: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new MetricFault(`error parsing metric query: malformed query string, expected ${format}, got ${query}`);
  }
}
