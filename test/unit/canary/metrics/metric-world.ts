import { type CanaryMetric, CanarySpec } from "../../../../lib/api/canary.ts";
import type { Canary } from "../../../../lib/canary/canary.ts";
import type { CheckResult } from "../../../../lib/canary/metrics/checks.ts";
import { metricChecksOf } from "../../../../lib/canary/metrics/metric-checks.ts";
import type { MetricParts } from "../../../../lib/canary/metrics/metric-parts.ts";
import { type CanarySettings, defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../../lib/core/object-ref.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { type Http, HttpError, type HttpRequest } from "../../../../lib/core/ports/http.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

export interface ScriptedAnswer {
  readonly status?: number;
  readonly body?: string;
  /** In place of an answer. */
  readonly error?: HttpError;
}

/** HTTP that gives one answer after the other, the last one again and again, and keeps what was asked. */
export function scriptedHttp(answers: readonly ScriptedAnswer[]) {
  const requests: HttpRequest[] = [];
  const http: Http = {
    async send(request) {
      const { status = 200, body = "", error } = answers[Math.min(requests.length, answers.length - 1)] ?? {};
      requests.push(request);
      if (error !== undefined) throw error;
      return { url: request.url, status, headers: {}, body: Buffer.from(body) };
    },
  };
  return { http, requests };
}

/** The answer of Prometheus with a series for each value. */
export function vector(...values: readonly string[]): ScriptedAnswer {
  const result = values.map((value) => ({ metric: {}, value: [1_767_225_600, value] }));
  return { body: JSON.stringify({ status: "success", data: { resultType: "vector", result } }) };
}

/** The query of a request to Prometheus. */
export function queryOf({ url }: HttpRequest): string {
  return new URL(url).searchParams.get("query") ?? "";
}

export interface MetricWorldOptions {
  readonly metrics: readonly CanaryMetric[];
  readonly answers?: readonly ScriptedAnswer[];
  readonly provider?: string;
  /** Fields of `spec` beside. */
  readonly spec?: object;
  readonly settings?: Partial<CanarySettings>;
  /** MetricTemplates and Secrets, as `namespace/name`. */
  readonly templates?: Readonly<Record<string, object>>;
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly get?: (ref: VersionedRef) => Promise<LiveObject | undefined>;
  readonly parts?: Partial<MetricParts>;
}

/** The metrics of Canary `podinfo` in namespace `apps`, and a scripted server. */
export function metricWorld(options: MetricWorldOptions) {
  const { answers = [], metrics, parts = {}, settings = {} } = options;
  const spec = CanarySpec.parse({
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    metricsServer: "http://prom.example.com/prom",
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    service: { port: 80 },
    analysis: { interval: "10s", threshold: 1, stepWeight: 10, metrics },
    ...options.spec,
  });
  const live = { ...metadata("podinfo", "apps"), apiVersion: "flagger.app/v1beta1", kind: "Canary" };
  const canary: Canary = {
    ...{ live, name: "podinfo", namespace: "apps", uid: "u", spec, status: {} },
    analysis: spec.analysis,
  };
  const { http, requests } = scriptedHttp(answers);
  const { signal } = new AbortController();
  const values: (readonly [string, number])[] = [];
  const log = recordedLog();
  const clock = steppedClock();
  const sleep: MetricParts["sleep"] = async (ms) => clock.pass(ms);
  const checks = metricChecksOf(canary, {
    cluster: asHome({ ...noCluster, get: options.get ?? (async (ref) => objectOf(ref, options)) }),
    settings: { ...defaultCanarySettings, ...settings },
    ...{ clock, log, signal, http, sleep, hooksLeftMs: () => 0 },
    measured: (metric, value) => void values.push([metric, value]),
    ...parts,
  });
  return {
    ...{ requests, values, log, checks, clock },
    check: async () => textOf(await checks.check()),
    probe: () =>
      checks.probe().then(
        () => "online",
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
  };
}

function textOf(result: CheckResult): string {
  return result.isPassed ? "passed" : result.text;
}

function metadata(name: string, namespace: string) {
  return { metadata: { name, namespace, uid: "u", resourceVersion: "1" } };
}

function objectOf(
  { kind, namespace, name }: VersionedRef,
  { templates = {}, secrets = {} }: MetricWorldOptions,
): LiveObject | undefined {
  const key = `${namespace}/${name}`;
  const common = metadata(name, namespace);
  if (kind === "MetricTemplate" && templates[key] !== undefined) {
    return { ...common, apiVersion: "flagger.app/v1beta1", kind, spec: templates[key] };
  }
  const secret = kind === "Secret" ? secrets[key] : undefined;
  if (secret === undefined) return undefined;
  const data = Object.fromEntries(
    Object.entries(secret).map(([name_, value]) => [name_, Buffer.from(value).toString("base64")]),
  );
  return { ...common, apiVersion: "v1", kind, data };
}
