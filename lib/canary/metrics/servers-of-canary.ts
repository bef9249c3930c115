import type { CanaryMetric } from "../../api/canary.ts";
import { messageOf } from "../../core/failure.ts";
import { hiddenValue } from "../../core/known-words.ts";
import type { Canary } from "../canary.ts";
import type { MetricDeps } from "./metric-parts.ts";
import { type MetricTemplate, namedTemplate, readTemplate } from "./metric-template.ts";
import { inFront, MetricFault, type MetricServer, type ServerParts } from "./providers/metric-server.ts";
import { metricServer } from "./providers/servers.ts";

interface ServerContext {
  readonly canary: Canary;
  readonly deps: MetricDeps;
}

/** The server of a MetricTemplate. Throws a {@link MetricFault} that begins with `about`. */
export function serverOfTemplate(
  { interval = "" }: CanaryMetric,
  { name, namespace, secret, spec: { provider } }: MetricTemplate,
  about: string,
  { canary, deps }: ServerContext,
): MetricServer {
  const http = namespace === canary.namespace ? deps.http : (deps.httpOf?.(namespace) ?? deps.http);
  try {
    return metricServer({
      provider,
      namespace,
      interval,
      parts: { ...deps, http },
      ...(secret === undefined ? {} : { secret }),
    });
  } catch (error) {
    throw inFront(`${about} ${name}.${namespace} provider ${provider.type} error: `, error);
  }
}

/** The Prometheus of built-in metrics and inline queries; an error text if its address is invalid. */
export function serverOfCanary({ canary, deps }: ServerContext): MetricServer | string {
  const { address, parts } = prometheusOf(canary, deps);
  try {
    return metricServer({
      provider: { type: "prometheus", address },
      namespace: canary.namespace,
      interval: "",
      parts,
    });
  } catch (error) {
    if (!(error instanceof MetricFault)) throw error;
    return `Error building Prometheus client for ${address} ${error.message}`;
  }
}

function prometheusOf({ spec }: Canary, deps: MetricDeps): { readonly address: string; readonly parts: ServerParts } {
  return { address: (spec.metricsServer ?? "") || deps.settings.metricsServer, parts: deps };
}

/** Whether a metric is one of the two that have queries of their own. */
export function isBuiltIn({ name }: CanaryMetric): boolean {
  return name === "request-success-rate" || name === "request-duration";
}

/** Asks the server of a metric whether it answers; that of an inline query is not asked, as in Flagger. */
export async function probeServer(metric: CanaryMetric, canary: Canary, deps: MetricDeps): Promise<void> {
  if (isBuiltIn(metric)) {
    const server = serverOfCanary({ canary, deps });
    if (typeof server === "string") throw new MetricFault(server.replace(/^E/, "e"));
    return server.probe().catch((error: unknown) => {
      throw inFront("prometheus not avaiable: ", error);
    });
  }
  const named = namedTemplate(canary, metric);
  if (named === undefined) return undefined;
  const template = await readTemplate(named, "metric template", deps);
  const { name, namespace, secret, spec } = template;
  const server = serverOfTemplate(metric, template, "metric template", { canary, deps });
  return server.probe().catch((error: unknown) => {
    if (!(error instanceof MetricFault)) throw error;
    const text = `${spec.provider.type} in metric template ${name}.${namespace} not avaiable: ${messageOf(error)}`;
    throw new MetricFault(withoutValues(text, secret), { cause: error });
  });
}

const minHiddenChars = 4;

/**
 * A text with `*****` in place of each value of a Secret: the plain value, its URL encoding, and its base64 as a login. Values of less than
 * four characters stay.
 */
export function withoutValues(text: string, secret: ReadonlyMap<string, string> | undefined): string {
  if (secret === undefined) return text;
  const login = `${secret.get("username") ?? ""}:${secret.get("password") ?? ""}`;
  const values = [...secret.values(), login].flatMap((value) => [value, value.trim()]);
  const forms = values
    .filter((value) => value.length >= minHiddenChars)
    .flatMap((value) => [value, encodeURIComponent(value.toWellFormed()), Buffer.from(value).toString("base64")]);
  // A long one first: a shorter one may be a part of it.
  const sorted = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return sorted.reduce((masked, form) => masked.replaceAll(form, hiddenValue), text);
}
