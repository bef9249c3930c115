import { alertsOf } from "../../canary/alerts/alerts.ts";
import type { Canary } from "../../canary/canary.ts";
import type { StepDeps } from "../../canary/canary-deps.ts";
import type { CanaryHttp } from "../../canary/canary-http.ts";
import { eventHooksOf } from "../../canary/hooks/event-hooks.ts";
import { hooksOf } from "../../canary/hooks/webhooks.ts";
import type { MetricServers } from "../../canary/metric-servers.ts";
import { metricChecksOf } from "../../canary/metrics/metric-checks.ts";
import { routerOf } from "../../canary/routes/providers/router-of.ts";
import { servicesOf } from "../../canary/routes/services.ts";
import { scalerOf, workloadOf } from "../../canary/workload/workload-of.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CanaryParts } from "./canary-parts.ts";

/** What the parts need in addition to a step's own. */
interface PartsDeps {
  readonly canaryHttp: CanaryHttp;
  readonly metricServers: MetricServers;
  /** The user for the steps of a Canary; undefined for our own identity. Requests by our own client also act as that user. */
  readonly userOf: (canary: Pick<Canary, "live">) => string | undefined;
  /** Waits before a webhook is tried again, and for a server of metrics. */
  readonly clock: Pick<Clock, "sleep">;
}

/** The parts of a step, on the cluster and on the servers that a Canary names. */
export function canaryParts({ canaryHttp, clock, metricServers, userOf }: PartsDeps): CanaryParts {
  const sleep = (ms: number, signal: AbortSignal) => clock.sleep(ms, signal);
  const withHttp = ({ namespace }: Canary, deps: StepDeps) => ({
    ...deps,
    http: canaryHttp.of([namespace]),
    sleep,
  });
  return {
    workload: workloadOf,
    scaler: scalerOf,
    router: routerOf,
    services: servicesOf,
    metrics: (canary, deps) => {
      const accountUser = userOf(canary);
      const by = (httpOf: CanaryHttp["of"]) =>
        metricChecksOf(canary, {
          ...{ ...deps, ...metricServers, sleep },
          ...(accountUser === undefined ? {} : { accountUser }),
          http: httpOf([canary.namespace]),
          httpOf: (namespace) => httpOf([namespace, canary.namespace]),
        });
      // As in Flagger each metric asks its server whether it answers, in the initialisation only.
      return { check: () => by(canaryHttp.shared).check(), probe: () => by(canaryHttp.of).probe() };
    },
    hooks: (canary, deps) => hooksOf(canary, withHttp(canary, deps)),
    eventHooks: (canary, deps) => eventHooksOf(canary, withHttp(canary, deps)),
    alerts: (canary, deps) =>
      alertsOf(canary, { ...deps, httpOf: (namespace) => canaryHttp.of([namespace, canary.namespace]) }),
  };
}
