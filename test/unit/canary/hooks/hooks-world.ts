import { CanarySpec, type CanaryStatus } from "../../../../lib/api/canary.ts";
import type { AlertParts } from "../../../../lib/canary/alerts/alerts.ts";
import type { Canary } from "../../../../lib/canary/canary.ts";
import { maxHookMs } from "../../../../lib/canary/hooks/hook-timeout.ts";
import type { HookDeps } from "../../../../lib/canary/hooks/webhooks.ts";
import { type CanarySettings, defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { type Answer, recordingParts } from "../../notify/recording-http.ts";

/** As recorded of a Canary without configs, with the checksum `7df467cc96`. */
const recorded: CanaryStatus = { phase: "Progressing", lastAppliedSpec: "7474ccd9cf", trackedConfigs: {} };

/** Canary `podinfo.test`. */
export function canaryOf(
  analysis: Readonly<Record<string, unknown>>,
  spec: Readonly<Record<string, unknown>> = {},
  status: CanaryStatus = recorded,
): Canary {
  const [name, namespace, uid] = ["podinfo", "test", "0c9c2e41-d2f9-4f9b-9c41-bebc1984d67a"];
  const isSteered = "iterations" in analysis || "stepWeights" in analysis;
  const parsed = CanarySpec.parse({
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    service: { port: 9898 },
    analysis: { interval: "10s", threshold: 1, ...(isSteered ? {} : { stepWeight: 25 }), ...analysis },
    ...spec,
  });
  return {
    live: { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata: { name, namespace, uid } },
    ...{ name, namespace, uid, spec: parsed, status },
    analysis: parsed.analysis,
  };
}

/** What the server does with one request; a function may throw. */
export type Turn = Answer | (() => Answer);

interface World {
  readonly answers?: readonly Turn[];
  readonly settings?: Partial<CanarySettings>;
  readonly objects?: readonly LiveObject[];
  readonly signal?: AbortSignal;
  /** Of the step, for webhooks and alerts. */
  readonly leftMs?: number;
}

/** What a step has, with a server that remembers the requests and answers by turns. */
export function hooksWorld({ answers = [{}], settings = {}, objects = [], signal, leftMs = maxHookMs }: World = {}) {
  const parts = recordingParts(...answers);
  const log = recordedLog();
  const cluster = asHome({
    ...noCluster,
    get: async ({ kind, namespace, name }) =>
      objects.find(
        (each) => each.kind === kind && each.metadata.namespace === namespace && each.metadata.name === name,
      ),
  });
  const naming: string[] = [];
  const deps: AlertParts & HookDeps = {
    cluster,
    settings: { ...defaultCanarySettings, ...settings },
    clock: { now: parts.now },
    log,
    hooksLeftMs: () => leftMs,
    signal: signal ?? new AbortController().signal,
    http: parts.http,
    httpOf: (namespace) => {
      naming.push(namespace);
      return parts.http;
    },
    sleep: parts.sleep,
  };
  const bodies = (): string[] => parts.requests.map(({ body }) => Buffer.from(body ?? []).toString());
  return { deps, log, bodies, naming, requests: parts.requests, waits: parts.waits };
}
