import type { CanaryMetric } from "../../api/canary.ts";
import { type Canary, targetText } from "../canary.ts";
import { type BuiltInQueries, builtInQueries } from "./built-in-queries.ts";
import type { CheckResult, MetricChecks } from "./checks.ts";
import { renderByGo } from "./go-template.ts";
import { judge, type Measure } from "./judge.ts";
import { withLatestRevision } from "./knative.ts";
import type { MetricDeps } from "./metric-parts.ts";
import { type MetricTemplate, type NamedTemplate, namedTemplate, readTemplate } from "./metric-template.ts";
import { inFront, MetricFault, type MetricServer, noValues } from "./providers/metric-server.ts";
import { type QueryModel, queryModel } from "./query-model.ts";
import { renderQuery } from "./query-template.ts";
import { probeServer, serverOfCanary, serverOfTemplate, withoutValues } from "./servers-of-canary.ts";

/** The interval of a built-in metric or an inline query that has none. */
const defaultInterval = "1m";
const passed: CheckResult = { isPassed: true };

/** The metrics of a Canary (reference canary 11), for one step. Rejects with an `ApiError` where the cluster does not answer. */
export function metricChecksOf(canary: Canary, deps: MetricDeps): MetricChecks {
  const metrics = canary.analysis.metrics ?? [];
  return {
    async check() {
      const model = await modelMaker(canary, deps);
      if (typeof model === "string") return failed(model);
      const context: Context = { canary, deps, model };
      for (const metric of metrics) {
        const result = await checkOwn(metric, context);
        if (!result.isPassed) return result;
      }
      for (const metric of metrics) {
        const result = await checkTemplate(metric, context);
        if (!result.isPassed) return result;
      }
      return passed;
    },
    async probe() {
      for (const metric of metrics) await probeServer(metric, canary, deps);
    },
  };
}

interface Context {
  readonly canary: Canary;
  readonly deps: MetricDeps;
  readonly model: (metric: CanaryMetric, interval: string) => QueryModel;
}

/** How models are made; a text if the Canary's target cannot be read for them. */
async function modelMaker(canary: Canary, deps: MetricDeps): Promise<Context["model"] | string> {
  if (!isKnative(canary, deps)) return (metric, interval) => queryModel(canary, metric, interval);
  return withLatestRevision(canary, deps);
}

function isKnative({ spec }: Canary, { settings }: MetricDeps): boolean {
  return spec.provider === "knative" || settings.meshProvider === "knative";
}

/** The built-in metric and the inline query of an entry. */
async function checkOwn(metric: CanaryMetric, context: Context): Promise<CheckResult> {
  const measure = builtInMeasure(metric);
  const isInline = (metric.query ?? "") !== "";
  if (measure === undefined && !isInline) return passed;
  const server = serverOfCanary(context);
  if (typeof server === "string") return failed(server);
  const model = context.model(metric, (metric.interval ?? "") || defaultInterval);
  const first = measure === undefined ? passed : await checkBuiltIn(metric, measure, { ...context, server, of: model });
  return first.isPassed && isInline ? checkInline(metric, { ...context, server, of: model }) : first;
}

function builtInMeasure({ name }: CanaryMetric): Exclude<Measure, "custom"> | undefined {
  if (name === "request-success-rate") return "success-rate";
  return name === "request-duration" ? "duration" : undefined;
}

interface Asking extends Context {
  readonly server: MetricServer;
  readonly of: QueryModel;
}

async function checkBuiltIn(
  metric: CanaryMetric,
  measure: Exclude<Measure, "custom">,
  { canary, deps, server, of }: Asking,
): Promise<CheckResult> {
  const provider = trafficProvider(canary, deps);
  const queries = builtInQueries(provider);
  try {
    const value = await builtInValue(queries, measure, { server, of });
    deps.measured?.(metric.name, measure === "duration" ? Math.trunc(value) / 1_000 : value);
    return judge(canary, metric, measure, value);
  } catch (error) {
    if (!(error instanceof MetricFault)) throw error;
    if (!error.isNoValues) return failed(`Prometheus query failed: ${error.message}`);
    const text = `Halt advancement no values found for ${provider} metric ${metric.name} probably ${targetText(canary)} is not receiving traffic`;
    return failed(measure === "duration" ? text : `${text}: ${error.message}`);
  }
}

async function builtInValue(
  { successRate, duration, msPerUnit, successRateFault }: BuiltInQueries,
  measure: Exclude<Measure, "custom">,
  { server, of }: Pick<Asking, "of" | "server">,
): Promise<number> {
  const isDuration = measure === "duration";
  const value = await server.query(isDuration ? duration(of) : successRate(of)).catch((error: unknown) => {
    throw inFront(isDuration ? "running query failed: " : successRateFault, error);
  });
  return isDuration ? value * msPerUnit : value;
}

/** Whose queries the built-in metrics have. */
function trafficProvider({ spec }: Canary, { settings: { meshProvider } }: MetricDeps): string {
  const own = spec.provider ?? "";
  const chosen = own === "" ? (meshProvider.includes("crossover") ? "crossover" : meshProvider) : own;
  const provider = own !== "" && meshProvider.includes("linkerd") ? "linkerd" : chosen;
  const { apiVersion, kind } = spec.targetRef;
  // Knative's own Service aside.
  return kind === "Service" && apiVersion !== "serving.knative.dev/v1" ? `${provider}:service` : provider;
}

async function checkInline(metric: CanaryMetric, { canary, deps, server, of }: Asking): Promise<CheckResult> {
  const { name, query = "" } = metric;
  try {
    const value = await server.query(await rendered(query, of, deps));
    deps.measured?.(name, value);
    return judge(canary, metric, "custom", value);
  } catch (error) {
    if (!(error instanceof MetricFault)) throw error;
    if (error.isNoValues) return failed(`Halt advancement no values found for metric: ${name}`);
    return failed(`Prometheus query failed for ${name}: ${error.message}`);
  }
}

async function checkTemplate(metric: CanaryMetric, context: Context): Promise<CheckResult> {
  const { canary, deps } = context;
  const named = namedTemplate(canary, metric);
  if (named === undefined) {
    if (builtInMeasure(metric) !== undefined || (metric.query ?? "") !== "") return passed;
    return failed("Metric query failed for no usable metrics template and query were configured");
  }
  let asked: AskedTemplate | undefined;
  try {
    asked = await askedTemplate(metric, named, context);
    const value = await asked.server.query(asked.query);
    // Some servers say so; no comparison holds of it, so it would pass.
    if (Number.isNaN(value)) throw noValues();
    deps.measured?.(metric.name, value);
    return judge(canary, metric, "custom", value);
  } catch (error) {
    if (!(error instanceof MetricFault)) throw error;
    if (asked === undefined) return failed(error.message);
    const text = error.isNoValues
      ? `Halt advancement no values found for custom metric: ${metric.name}: ${error.message}`
      : `Metric query failed for ${metric.name}: ${error.message}`;
    return failed(withoutValues(text, asked.template.secret));
  }
}

interface AskedTemplate {
  readonly template: MetricTemplate;
  readonly server: MetricServer;
  readonly query: string;
}

/** Everything up to the query. Throws a {@link MetricFault} with the whole text. */
async function askedTemplate(metric: CanaryMetric, named: NamedTemplate, context: Context): Promise<AskedTemplate> {
  const { deps, model } = context;
  const template = await readTemplate(named, "Metric template", deps);
  const server = serverOfTemplate(metric, template, "Metric template", context);
  const query = await rendered(template.spec.query, model(metric, metric.interval ?? ""), deps).catch(
    (error: unknown) => {
      throw inFront(`Metric template ${named.name}.${named.namespace} query render error: `, error);
    },
  );
  return { template, server, query };
}

function rendered(template: string, model: QueryModel, { templates, signal }: MetricDeps): Promise<string> {
  return renderQuery(template, model, (other) => renderByGo(other, model, templates, signal));
}

function failed(text: string): CheckResult {
  return { isPassed: false, text };
}
